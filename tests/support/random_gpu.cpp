// Draws of whole GPUs: each section of the model file from a part of the seed of its own.
#include "support/random_gpu.hpp"

#include "base/units.hpp"
#include "support/random_geometry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace sonde::test {
namespace {

using nlohmann::json;

/// What several sections have to agree on.
struct Plan {
  std::uint64_t page_bytes = 0;
  std::uint64_t l2_part_bytes = 0;      // all of it, or each half
  std::uint64_t l2_set_span_bytes = 0;  // one line of each set
  std::uint64_t memory_bytes = 0;
  std::uint64_t window_bytes = 0;  // 0: none
  std::vector<std::string> outcomes;
  std::vector<std::uint64_t> carveouts_bytes;
  Placing placing = Placing::known;
  bool has_l1 = true;
  bool has_readonly = true;  // a cache of its own
  bool has_halves = false;

  std::uint64_t l2_bytes() const { return has_halves ? 2 * l2_part_bytes : l2_part_bytes; }
};

json draw_chip(Draws& draws, const Plan& plan) {
  for (;;) {
    const std::uint64_t gpcs = draws.between(plan.has_halves ? 2 : 1, 6);
    const std::uint64_t tpcs = draws.between(1, 4);
    const std::uint64_t sms = draws.between(1, 2);
    const std::uint64_t all = gpcs * tpcs * sms;
    if (all < 4 || all > 32) continue;
    return {{"gpcs", gpcs},
            {"tpcs_per_gpc", tpcs},
            {"sms_per_tpc", sms},
            {"numbering", draws.pick({"tpc_major", "round_robin"})}};
  }
}

json describe_device(const Plan& plan) {
  json device{{"name", "random GPU"},
              {"compute_major", 7},
              {"compute_minor", 0},
              {"memory_bytes", plan.memory_bytes},
              {"l2_bytes", plan.l2_bytes()},
              {"max_threads_per_block", 1024},
              {"max_threads_per_sm", 2048},
              {"shared_bytes_per_block", 48_KiB},
              {"shared_bytes_per_sm", 96_KiB},
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
          {"granularity_cycles", draws.chance(0.9) ? 1 : 2},
          {"scope", "sm"},
          {"globaltimer_step_ns", 1000}};
}

json draw_noise(Draws& draws) {
  return {{"outlier_probability", draws.chance(0.2) ? 0 : draws.real(0, 2e-4)},
          {"outlier_min_cycles", 20},
          {"outlier_max_cycles", 400},
          {"clock_jitter_cycles", 0}};
}

/// A level of the TLB: entries of `pages` pages, each with a sub-entry or none.
json describe_tlb(Draws& draws, const char* name, const char* scope, std::uint64_t entry_bytes,
                  std::uint64_t pages, const DrawnSets& sets) {
  json tlb = sets.to_json();
  tlb["name"] = name;
  tlb["scope"] = scope;
  tlb["entry_bytes"] = entry_bytes;
  tlb["sub_entries"] = draws.chance(0.75) ? pages : 1;
  tlb["replacement"] = draws.chance(0.8) ? "lru" : "fifo";
  return tlb;
}

/// Two levels, of which the inner reaches beyond the L2, as those of every GPU known, and the
/// outer at least three times as far; pages, memory and window of the plan.
json draw_pages(Draws& draws, Plan& plan) {
  constexpr std::uint64_t most_memory_bytes = 64_GiB;
  constexpr std::uint64_t most_sub_entries = 16;
  for (;;) {
    plan.page_bytes = draws.pick({4_KiB, 64_KiB, 64_KiB, 128_KiB, 512_KiB, 2_MiB, 2_MiB, 2_MiB});
    const std::uint64_t near_pages = draws.pick({1, 1, 1, 2, 4, 8, 16});
    const std::uint64_t far_pages = near_pages * draws.pick({1, 1, 2, 4, 8, 16, 16});
    const auto near_entries = static_cast<std::uint32_t>(draws.between(8, 64));
    const std::uint64_t most_entries = std::min<std::uint64_t>(1024, plan.l2_part_bytes / 1024);
    const DrawnSets far =
        draw_tlb_sets(draws, draws.log_between(64, most_entries), far_pages * plan.page_bytes);
    const std::uint64_t near_reach_bytes = near_entries * near_pages * plan.page_bytes;
    const std::uint64_t far_reach_bytes = far.lines() * far_pages * plan.page_bytes;
    const std::uint64_t needed_bytes = std::max(1_GiB, 3 * far_reach_bytes);
    const std::uint64_t least_reach_bytes = 2 * plan.l2_bytes();
    if (far_pages > most_sub_entries || far_reach_bytes < 3 * near_reach_bytes ||
        near_reach_bytes < least_reach_bytes || far.lines() > most_entries ||
        needed_bytes > most_memory_bytes) {
      continue;
    }
    plan.window_bytes = draws.chance(0.3) ? draws.pick({128_MiB, 256_MiB, 512_MiB}) : 0;
    plan.memory_bytes = std::bit_ceil(std::max(needed_bytes, plan.window_bytes * 8));
    plan.outcomes = {"tlb_l1_hit", "tlb_l2_hit", "walk_cached", "walk_cold"};
    if (plan.window_bytes > 0) plan.outcomes.push_back("window_switch");
    json pages{{"page_bytes", plan.page_bytes}};
    if (plan.window_bytes > 0) pages["window_bytes"] = plan.window_bytes;
    pages["mapping"] = plan.placing == Placing::known ? "contiguous" : "random";
    if (plan.placing == Placing::by_blocks) pages["block_bytes"] = 2_MiB;
    pages["tlbs"] = {
        describe_tlb(draws, "l1", draws.pick({"sm", "tpc", "device"}), near_pages * plan.page_bytes,
                     near_pages, full_associativity(near_entries)),
        describe_tlb(draws, "l2", draws.pick({"gpc", "device"}), far_pages * plan.page_bytes,
                     far_pages, far)};
    return pages;
  }
}

/// Line, sectors and fetch: 1 to 4 sectors of at least 32 bytes; a miss brings one, two or all.
json draw_line(Draws& draws, std::uint64_t line_bytes) {
  const std::uint64_t most_sectors = std::min<std::uint64_t>(4, line_bytes / 32);
  const std::uint64_t sector_bytes =
      line_bytes / (draws.chance(0.5) ? 1 : std::bit_floor(draws.between(1, most_sectors)));
  const std::uint64_t fetch_bytes = draws.chance(0.8) ? sector_bytes : line_bytes;
  return {{"line_bytes", line_bytes},
          {"sector_bytes", sector_bytes},
          {"fetch_bytes", fetch_bytes},
          {"write_policy", {{"hit", "update"}, {"miss", "no_allocate"}}},
          {"jitter_cycles", draws.real(0, 2)}};
}

/// Beside each shared part the same sets and what is left of the array as ways.
json draw_carveouts(Draws& draws, Plan& plan, std::uint64_t line_bytes) {
  const std::uint64_t array_bytes = draws.pick({64_KiB, 128_KiB, 256_KiB});
  const auto bits = static_cast<int>(draws.between(0, 7));
  plan.carveouts_bytes = {16_KiB, 48_KiB};
  if (draws.chance(0.5)) plan.carveouts_bytes = {8_KiB, 16_KiB, 32_KiB};
  json parts = json::array();
  json replacement;
  for (std::uint64_t shared_bytes : plan.carveouts_bytes) {
    const std::uint64_t lines = (array_bytes - shared_bytes) / line_bytes;
    const DrawnSets sets{
        std::vector<std::uint32_t>(std::size_t{1} << bits,
                                   static_cast<std::uint32_t>(lines >> bits)),
        {{"kind", "bit_field"}, {"low_bit", std::countr_zero(line_bytes)}, {"bits", bits}}};
    if (replacement.is_null()) replacement = draw_replacement(draws, sets);
    json part = sets.to_json();
    part.update(replacement);
    part["shared_kib"] = shared_bytes / 1_KiB;
    if (replacement.contains("way_weights")) {
      part.erase("way_weights");
      part["replacement"] = "random";
    }
    parts.push_back(part);
  }
  return parts;
}

json draw_first_level(Draws& draws, Plan& plan, const char* name, bool carveouts) {
  const std::uint64_t line_bytes = draws.pick({32, 64, 128, 128, 256});
  json cache = draw_line(draws, line_bytes);
  cache["name"] = name;
  cache["scope"] = draws.chance(0.85) ? "sm" : "tpc";
  const bool is_virtual = draws.chance(0.7);
  cache["addressing"] = is_virtual ? "virtual" : "physical";
  if (carveouts) {
    cache["by_carveout"] = draw_carveouts(draws, plan, line_bytes);
    return cache;
  }
  const DrawnSets sets =
      draw_first_level_sets(draws, line_bytes, is_virtual ? Placing::known : plan.placing);
  cache.update(sets.to_json());
  cache.update(draw_replacement(draws, sets));
  return cache;
}

json draw_second_level(Draws& draws, Plan& plan) {
  const std::uint64_t line_bytes = draws.pick({32, 64, 128, 128});
  json cache = draw_line(draws, line_bytes);
  // Remainders and parities do not go together: a half would get more of some sets than of others.
  const Placing placing = plan.has_halves ? Placing::by_blocks : plan.placing;
  const DrawnSets sets = draw_second_level_sets(draws, line_bytes, placing);
  plan.l2_part_bytes = sets.lines() * line_bytes;
  plan.l2_set_span_bytes = sets.ways_per_set.size() * line_bytes;
  cache.update(sets.to_json());
  cache["name"] = "l2";
  cache["scope"] = plan.has_halves ? "partition" : "device";
  cache["addressing"] = "physical";
  cache["replacement"] = draws.chance(0.7) ? "lru" : "random";
  cache["sm_spread_cycles"] = draws.between(0, 8);
  if (!plan.has_halves && draws.chance(0.2)) {
    cache["prefetch"] = {{"bytes", draws.log_between(64_KiB, plan.l2_part_bytes / 2) / 128 * 128},
                         {"stride_limit_bytes", 16_KiB}};
  }
  return cache;
}

/// The home of a line: the parity of the lowest bit beyond those of the set and of some higher
/// ones, so that every even number of lines of a set in a row is shared out evenly.
json draw_halves(Draws& draws, const Plan& plan) {
  std::uint64_t mask = plan.l2_set_span_bytes;
  for (int bit = std::countr_zero(mask) + 1; bit <= 28; ++bit) {
    if (draws.chance(0.4)) mask |= std::uint64_t{1} << bit;
  }
  return {{"home_mask", fmt::format("{:#x}", mask)}, {"replicate", true}};
}

/// What the translation adds, by outcome.
std::vector<std::uint64_t> draw_translation_costs(Draws& draws, const Plan& plan) {
  const std::uint64_t near = draws.between(8, 40);
  const std::uint64_t cached = near + draws.between(30, 150);
  const std::uint64_t cold = cached + draws.between(60, 1500);
  std::vector<std::uint64_t> costs{0, near, cached, cold};
  if (plan.window_bytes > 0) costs.push_back(cold + draws.between(100, 500));
  return costs;
}

struct Latencies {
  std::uint64_t l1 = 0;
  std::uint64_t readonly = 0;
  std::uint64_t l2 = 0;
  std::uint64_t far = 0;
  std::uint64_t dram = 0;
  std::vector<std::uint64_t> translation;
};

Latencies draw_latencies(Draws& draws, const Plan& plan) {
  Latencies latencies;
  latencies.l1 = draws.between(20, 120);
  latencies.readonly = draws.between(20, 120);
  latencies.l2 = draws.between(
      std::max<std::uint64_t>(150, 40 + std::max(latencies.l1, latencies.readonly)), 350);
  latencies.far = latencies.l2 + draws.between(60, 200);
  latencies.dram = (plan.has_halves ? latencies.far : latencies.l2) + draws.between(100, 400);
  latencies.translation = draw_translation_costs(draws, plan);
  return latencies;
}

json latency_row(const Plan& plan, const Latencies& latencies, std::uint64_t cycles) {
  json row;
  for (std::size_t i = 0; i < plan.outcomes.size(); ++i) {
    row[plan.outcomes[i]] = cycles + latencies.translation[i];
  }
  return row;
}

/// @param first the cache before the L2; empty: none
json describe_path(const Plan& plan, const Latencies& latencies, const std::string& first,
                   bool is_virtual, std::uint64_t first_cycles) {
  json by_server;
  json names = json::array();
  if (!first.empty()) {
    names.push_back(first);
    by_server[first] = is_virtual ? json(first_cycles) : latency_row(plan, latencies, first_cycles);
  }
  names.push_back("l2");
  by_server["l2"] = latency_row(plan, latencies, latencies.l2);
  by_server["dram"] = latency_row(plan, latencies, latencies.dram);
  if (plan.has_halves) {
    by_server["far"] = latency_row(plan, latencies, latencies.far);
    by_server["dram_far"] =
        latency_row(plan, latencies, latencies.dram + latencies.far - latencies.l2);
  }
  return {{"caches", names}, {"latency_cycles", by_server}};
}

json draw_paths(Draws& draws, const Plan& plan, const json& caches) {
  const Latencies latencies = draw_latencies(draws, plan);
  const auto path_through = [&](const std::string& name, std::uint64_t cycles) {
    const auto cache = std::find_if(caches.begin(), caches.end(),
                                    [&](const json& one) { return one["name"] == name; });
    const bool there = cache != caches.end();
    return describe_path(plan, latencies, there ? name : "",
                         there && (*cache)["addressing"] == "virtual", cycles);
  };
  const std::string readonly = plan.has_readonly ? "readonly" : "l1";
  const std::uint64_t readonly_cycles = plan.has_readonly ? latencies.readonly : latencies.l1;
  json paths{{"ca", path_through("l1", latencies.l1)},
             {"cg", path_through("", 0)},
             {"cv", path_through("", 0)},
             {"nc", path_through(readonly, readonly_cycles)}};
  if (draws.chance(0.4)) paths["texture_1d"] = path_through(readonly, readonly_cycles + 10);
  return paths;
}

/// What no job under test looks at: as of a GTX 980.
void add_widths(json& gpu) {
  gpu["throughput"] = {{"max_blocks_per_sm", 32},
                       {"issue_cycles", 1},
                       {"l1_bytes_per_cycle", 128},
                       {"sm_port_bytes_per_cycle", 64},
                       {"tpc_port_bytes_per_cycle", 64},
                       {"l2_bytes_per_cycle", 512},
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

std::string draw_gpu(std::uint64_t seed) {
  Plan plan;
  Draws draws(seed, "plan");
  plan.has_l1 = draws.chance(0.9);
  plan.has_readonly = draws.chance(0.5);
  plan.has_halves = draws.chance(0.15);
  plan.placing = draws.chance(0.3) ? Placing::by_blocks : Placing::known;
  const bool carveouts = plan.has_l1 && draws.chance(0.2);

  json gpu{{"source", fmt::format("drawn from seed {}", seed)}};
  Draws first_level(seed, "first level");
  json caches = json::array();
  if (plan.has_l1) caches.push_back(draw_first_level(first_level, plan, "l1", carveouts));
  if (plan.has_readonly) caches.push_back(draw_first_level(first_level, plan, "readonly", false));
  Draws second_level(seed, "second level");
  caches.push_back(draw_second_level(second_level, plan));
  Draws pages(seed, "pages");
  gpu["pages"] = draw_pages(pages, plan);
  Draws rest(seed, "rest");
  gpu["chip"] = draw_chip(rest, plan);
  gpu["clock"] = draw_clock(rest);
  gpu["noise"] = draw_noise(rest);
  if (plan.has_halves) gpu["partitions"] = draw_halves(rest, plan);
  gpu["paths"] = draw_paths(rest, plan, caches);
  gpu["caches"] = std::move(caches);
  gpu["device"] = describe_device(plan);
  gpu["dram"] = {{"jitter_cycles", rest.real(0, 4)},
                 {"channels", 4},
                 {"row_bytes", 2048},
                 {"row_overhead_ns", 4},
                 {"write_batch_bytes", 4096},
                 {"turnaround_ns", 24}};
  add_widths(gpu);
  return gpu.dump(1);
}

}  // namespace sonde::test
