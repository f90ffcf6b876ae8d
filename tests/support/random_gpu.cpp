// Draws of whole GPUs: each section of the model file from a part of the seed of its own.
#include "support/random_gpu.hpp"

#include "support/floor_draws.hpp"

#include "analysis/structure/index/index_function.hpp"
#include "base/units.hpp"
#include "support/random_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

namespace sonde::test {
namespace {

using nlohmann::json;

Plan draw_plan(std::uint64_t seed) {
  Draws draws(seed, "plan");
  Plan plan;
  plan.has_l1 = draws.chance(0.9);
  plan.has_readonly = draws.chance(0.5);
  plan.has_halves = draws.chance(0.2);
  plan.placing = draws.chance(0.3) ? Placing::by_blocks : Placing::known;
  plan.has_carveouts = plan.has_l1 && draws.chance(0.2);
  plan.has_copies = draws.chance(0.6);
  plan.homes = draws.chance(0.7) ? Homes::by_line : Homes::by_page;
  return plan;
}

/// Some TPCs of the chip are switched off on most dies.
Floor draw_chip(Draws& draws, const Plan& plan) {
  for (;;) {
    Floor chip{.gpcs = draws.between(plan.has_halves ? 2 : 1, 6),
               .tpcs = draws.between(1, 5),
               .sms = draws.between(1, 2)};
    chip.least_tpcs = chip.tpcs - draws.between(0, std::min<std::uint64_t>(2, chip.tpcs - 1));
    chip.enabled_tpcs = draws.between(chip.gpcs * chip.least_tpcs, chip.gpcs * chip.tpcs);
    if (chip.enabled_tpcs * chip.sms >= 4 && chip.enabled_tpcs * chip.sms <= 32) return chip;
  }
}

/// One GPU in two tells by clusters which SMs form TPCs and GPCs; of one in two GPCs have ports.
void draw_floor(std::uint64_t seed, const Floor& chip, json& gpu) {
  Draws draws(seed, "floor");
  if (draws.chance(0.5)) draw_clusters(draws, chip, gpu);
  draw_ports(draws, chip, draws.chance(0.5), gpu["throughput"]);
}

json describe_device(Draws& draws, const Plan& plan) {
  json device{{"name", "random GPU"},
              {"compute_major", 7},
              {"compute_minor", 0},
              {"memory_bytes", plan.memory_bytes},
              {"l2_bytes", plan.l2_bytes()},
              {"max_threads_per_block", 1024},
              {"max_threads_per_sm", 2048},
              {"shared_bytes_per_block", 48_KiB},
              {"shared_bytes_per_sm", 96_KiB},
              {"sm_partition_instruction_caches", draws.chance(0.5)},
              {"sm_clock_hz", 1.4e9},
              {"memory_clock_hz", 2e9},
              {"memory_bus_bits", 256},
              {"memory_data_rate", 4}};
  if (!plan.carveouts_bytes.empty()) device["shared_carveouts_bytes"] = plan.carveouts_bytes;
  return device;
}

json draw_clock(Draws& draws) {
  const std::uint64_t empty_cycles = draws.between(2, 8);
  return {{"empty_window_cycles", empty_cycles},
          {"sink_window_cycles", empty_cycles + draws.between(1, 12)},
          {"granularity_cycles", draws.pick_weighted<int>({{1, 7}, {2, 2}, {4, 1}})},
          {"scope", draws.pick({"sm", "sm", "sm", "tpc", "gpc", "device"})},
          {"globaltimer_step_ns", draws.pick({32, 1000})}};
}

/// Outliers in up to one access of 500.
json draw_noise(Draws& draws) {
  const double outliers = std::exp(draws.real(std::log(1e-5), std::log(2e-3)));
  return {{"outlier_probability", draws.chance(0.2) ? 0 : outliers},
          {"outlier_min_cycles", 20},
          {"outlier_max_cycles", draws.log_between(100, 2000)},
          {"clock_jitter_cycles", 0}};
}

std::uint64_t mask_of(const json& text) {
  return std::stoull(text.get<std::string>(), nullptr, 16);
}

/// Parities that choose the set.
Gf2Basis basis_of(const json& index) {
  if (index["kind"] == "slices") return basis_of(index["within"]);
  Gf2Basis basis;
  if (index["kind"] == "bit_field") {
    for (int bit = 0; bit < index["bits"].get<int>(); ++bit) {
      basis.insert(std::uint64_t{1} << (index["low_bit"].get<int>() + bit));
    }
  } else {
    for (const json& mask : index["masks"]) basis.insert(mask_of(mask));
  }
  return basis;
}

/// The home of a line: parities that do not follow from its set, so that no part of a partition
/// stays empty.
json draw_halves(Draws& draws, const Plan& plan) {
  constexpr int highest_bit = 28;
  const std::uint64_t unit_bytes =
      plan.homes == Homes::by_line ? plan.l2_line_bytes : std::max(plan.page_bytes, 4_KiB);
  Gf2Basis basis = basis_of(plan.l2_index);
  std::uint64_t mask = 0;
  while (mask == 0 || !basis.insert(mask)) {
    mask = 0;
    for (int bit = std::countr_zero(unit_bytes); bit <= highest_bit; ++bit) {
      if (draws.chance(0.4)) mask |= std::uint64_t{1} << bit;
    }
  }
  return {{"replicate", plan.has_copies},
          {"copy_cycles", plan.has_copies && draws.chance(0.3) ? draws.between(1, 10) : 0},
          {"home_mask", fmt::format("{:#x}", mask)}};
}

/// What the drawn structure does not touch: as of a GTX 980.
void add_widths(json& gpu) {
  gpu["throughput"] = {{"max_blocks_per_sm", 32},
                       {"issue_cycles", 1},
                       {"l1_bytes_per_cycle", 128},
                       {"launch_ns", 1500}};
  gpu["shared"] = {{"banks", 32},
                   {"bank_bytes", 4},
                   {"latency_cycles", {{{"passes", 1}, {"cycles", 28}}}},
                   {"load_interval_cycles", 1},
                   {"store_interval_cycles", 1.4},
                   {"sync_cycles", 36}};
  gpu["lsu"] = {{"mshrs", 64},
                {"mshr_merges", 8},
                {"miss_queue_entries", 8},
                {"request_cycles", 1},
                {"return_bytes_per_cycle", 32},
                {"bypass_fetch_bytes", 32}};
}

}  // namespace

json assemble(std::uint64_t seed, Draws& rest, const Plan& plan, DrawnParts parts) {
  json gpu{{"source", fmt::format("drawn from seed {}", seed)}};
  gpu["pages"] = std::move(parts.pages);
  gpu["chip"] = to_json(parts.chip);
  gpu["chip"]["numbering"] = rest.pick({"tpc_major", "round_robin"});
  gpu["clock"] = draw_clock(rest);
  gpu["noise"] = draw_noise(rest);
  if (plan.has_halves) gpu["partitions"] = draw_halves(rest, plan);
  if (!plan.slices.is_null()) gpu["slices"] = plan.slices;
  gpu["paths"] = draw_paths(seed, plan, parts.caches);
  gpu["caches"] = std::move(parts.caches);
  gpu["device"] = describe_device(rest, plan);
  gpu["dram"] = {{"jitter_cycles", rest.real(0, 4)},
                 {"channels", 4},
                 {"row_bytes", 2048},
                 {"row_overhead_ns", 4},
                 {"write_batch_bytes", 4096},
                 {"turnaround_ns", 24}};
  add_widths(gpu);
  draw_floor(seed, parts.chip, gpu);
  return gpu;
}

std::string draw_gpu(std::uint64_t seed) {
  Plan plan = draw_plan(seed);
  json caches = draw_data_caches(seed, plan);
  for (json& cache : draw_side_caches(seed, plan)) caches.push_back(std::move(cache));
  json pages = draw_pages(seed, plan);
  Draws rest(seed, "rest");
  const Floor chip = draw_chip(rest, plan);
  return assemble(seed, rest, plan, {std::move(caches), std::move(pages), chip}).dump(1);
}

}  // namespace sonde::test
