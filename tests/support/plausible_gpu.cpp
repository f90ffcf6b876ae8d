// Draws of GPUs that could be bought: each from the ranges of one generation.
#include "support/plausible_ranges.hpp"
#include "support/random_gpu.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace sonde::test {
namespace {

using nlohmann::json;

template <class T>
const T& pick(Draws& draws, const std::vector<T>& choices) {
  return choices[draws.between(0, choices.size() - 1)];
}

std::uint64_t draw(Draws& draws, Span span) { return draws.between(span.least, span.most); }

/// Real sizes are round: an eighth of a power of two.
std::uint64_t draw_round(Draws& draws, Span span) {
  const std::uint64_t size = draws.log_between(span.least, span.most);
  const std::uint64_t step = std::max<std::uint64_t>(1, std::bit_floor(size) / 8);
  return std::clamp(size / step * step, span.least, span.most);
}

json cache_of(std::string name, const char* scope, std::uint64_t line_bytes,
              std::uint64_t sector_bytes) {
  return {{"name", std::move(name)},
          {"scope", scope},
          {"addressing", "virtual"},
          {"line_bytes", line_bytes},
          {"sector_bytes", sector_bytes},
          {"fetch_bytes", sector_bytes},
          {"write_policy", {{"hit", "update"}, {"miss", "no_allocate"}}},
          {"jitter_cycles", 0.5}};
}

/// Sets by the bits above the line or by parities of higher ones, too.
DrawnSets draw_sets(Draws& draws, std::uint64_t line_bytes, std::uint64_t sets, std::uint64_t ways,
                    double chance_of_hash) {
  const auto number = static_cast<std::uint32_t>(ways);
  return draws.chance(chance_of_hash) ? draw_hashed_sets(draws, line_bytes, sets, number)
                                      : plain_sets(line_bytes, sets, number);
}

/// Sets that no carve-out changes; the ways are what shared memory leaves.
void add_carveouts(Draws& draws, const Generation& from, Plan& plan, json& l1) {
  const std::uint64_t array_kib = pick(draws, from.l1_kib);
  const std::uint64_t sets = draws.pick({4, 4, 8, 16, 32, 64});
  const json index = draw_sets(draws, from.line_bytes, sets, 1, 0.5).index;
  const std::string policy = draws.pick({"lru", "lru", "guarded_lru", "tree_plru"});
  for (const std::uint64_t shared_kib : from.carveouts_kib) {
    plan.carveouts_bytes.push_back(shared_kib * 1_KiB);
    l1["by_carveout"].push_back(
        {{"shared_kib", shared_kib},
         {"sets", sets},
         {"ways", (array_kib - shared_kib) * 1_KiB / from.line_bytes / sets},
         {"index", index},
         {"replacement", policy}});
  }
}

json draw_small_cache(Draws& draws, json cache, std::uint64_t size_bytes, double chance_of_hash) {
  const auto line_bytes = cache["line_bytes"].get<std::uint64_t>();
  const std::uint64_t lines = size_bytes / line_bytes;
  // A power of two of sets, of 4 ways or more.
  const std::uint64_t most_sets = std::bit_floor(lines / 4);
  const std::uint64_t sets = std::max<std::uint64_t>(1, most_sets >> draws.between(0, 3));
  cache.update(draw_sets(draws, line_bytes, sets, lines / sets, chance_of_hash).to_json());
  cache["replacement"] = "lru";
  return cache;
}

json draw_first_caches(Draws& draws, const Generation& from, Plan& plan) {
  json caches = json::array();
  plan.has_l1 = !from.l1_kib.empty();
  plan.texture = {"l1"};
  if (plan.has_l1) {
    json l1 = cache_of("l1", "sm", from.line_bytes, from.sector_bytes);
    if (from.carveouts_kib.empty()) {
      l1 = draw_small_cache(draws, std::move(l1), pick(draws, from.l1_kib) * 1_KiB, 0.5);
    } else {
      add_carveouts(draws, from, plan, l1);
    }
    caches.push_back(std::move(l1));
  }
  plan.has_readonly = from.has_readonly && !from.texture_kib.empty();
  if (from.texture_kib.empty()) return caches;
  // Loads of constant data pass it by the name that the paths give it.
  const char* name = plan.has_readonly ? "readonly" : "texture_1";
  const char* scope = from.sms_per_tpc == 3 ? "tpc" : "sm";
  caches.push_back(draw_small_cache(draws, cache_of(name, scope, 32, 32),
                                    pick(draws, from.texture_kib) * 1_KiB, 0.5));
  plan.texture = {name};
  return caches;
}

json draw_l2(Draws& draws, const Generation& from, Plan& plan) {
  plan.has_halves = draws.chance(from.chance_of_halves);
  plan.has_copies = plan.has_halves;
  const std::uint64_t parts = plan.has_halves ? 2 : 1;
  const std::uint64_t ways = draws.pick({12, 16, 16, 16, 20, 24});
  const std::uint64_t slices = pick(draws, from.slices);
  const std::uint64_t lines = draw_round(draws, from.l2_kib) * 1_KiB / parts / from.l2_line_bytes;
  const std::uint64_t sets = std::bit_floor(lines / ways / slices);
  const auto number = static_cast<std::uint32_t>(ways);
  const DrawnSets drawn = slices > 1 ? draw_slices(draws, from.l2_line_bytes, slices, sets, number)
                                     : draw_hashed_sets(draws, from.l2_line_bytes, sets, number);
  plan.l2_part_bytes = drawn.lines() * from.l2_line_bytes;
  plan.l2_line_bytes = from.l2_line_bytes;
  plan.l2_index = drawn.index;
  plan.slices = drawn.slices;
  const std::uint64_t sector_bytes = std::min<std::uint64_t>(32, from.l2_line_bytes);
  json cache =
      cache_of("l2", plan.has_halves ? "partition" : "device", from.l2_line_bytes, sector_bytes);
  cache.update(drawn.to_json());
  cache["addressing"] = "physical";
  cache["replacement"] = pick(draws, from.l2_policies);
  cache["write_policy"]["miss"] = "allocate";
  cache["sm_spread_cycles"] = draws.between(0, 8);
  if (from.l2_line_bytes == 128 && draws.chance(0.3)) cache["fetch_bytes"] = 64;
  return cache;
}

/// Levels of constants or of code.
std::vector<std::string> draw_bank(Draws& draws, const char* kind, const std::vector<Span>& sizes,
                                   std::uint64_t first_line_bytes, json& caches) {
  std::vector<std::string> names;
  for (std::size_t level = 0; level < sizes.size(); ++level) {
    names.push_back(fmt::format("{}_{}", kind, level + 1));
    const std::uint64_t line_bytes = level == 0 ? first_line_bytes : 256;
    const char* scope = level == 0 ? "sm" : draws.pick({"sm", "sm", "tpc"});
    caches.push_back(draw_small_cache(draws, cache_of(names.back(), scope, line_bytes, line_bytes),
                                      draw_round(draws, sizes[level]), 0.2));
  }
  return names;
}

json tlb_of(const char* name, const char* scope, std::uint64_t entry_bytes,
            std::uint64_t sub_entries, const DrawnSets& sets) {
  json tlb = sets.to_json();
  tlb.update({{"name", name},
              {"scope", scope},
              {"entry_bytes", entry_bytes},
              {"sub_entries", sub_entries},
              {"replacement", "lru"}});
  return tlb;
}

/// On Fermi to Maxwell seven sets, one of 17 entries and six of 8 (Mei and Chu 2016).
DrawnSets unequal_sets(std::uint64_t entry_bytes) {
  return {{17, 8, 8, 8, 8, 8, 8}, {{"kind", "modulo"}, {"granularity_bytes", entry_bytes}}};
}

json draw_tlbs(Draws& draws, const Generation& from, Plan& plan) {
  plan.page_bytes = 2_MiB;
  plan.placing = Placing::by_blocks;
  const std::uint64_t pages = pick(draws, from.pages_per_entry);
  const std::uint64_t entry_bytes = pages * plan.page_bytes;
  const std::uint64_t second_bytes = from.second_tlb_entries.least == 65 ? 2_MiB
                                     : pages > 1                         ? 32_MiB
                                                                         : entry_bytes;
  json pages_of_gpu{{"page_bytes", plan.page_bytes},
                    {"mapping", "random"},
                    {"block_bytes", 2_MiB},
                    {"tlbs", json::array()}};
  plan.tlbs = {"l1", "l2"};
  const std::uint64_t first_bytes = std::min(entry_bytes, second_bytes);
  const auto first_entries = static_cast<std::uint32_t>(draws.pick({12, 16, 16, 16, 20, 32}));
  pages_of_gpu["tlbs"].push_back(tlb_of("l1", draws.pick({"sm", "sm", "tpc"}), first_bytes,
                                        first_bytes / plan.page_bytes,
                                        full_associativity(first_entries)));
  // It reaches four times as far as the first or more: Kepler and Maxwell 130 MB and 32 MB (Mei and
  // Chu 2016, table 6), later ones more.
  const std::uint64_t least_entries = std::bit_ceil(4 * first_entries * first_bytes / second_bytes);
  const std::uint64_t entries =
      std::max(std::bit_floor(draw_round(draws, from.second_tlb_entries)), least_entries);
  const DrawnSets second = from.second_tlb_entries.least == 65
                               ? unequal_sets(second_bytes)
                               : draw_sets(draws, second_bytes, entries / 8, 8, 0.6);
  pages_of_gpu["tlbs"].push_back(tlb_of("l2", draws.pick({"gpc", "device"}), second_bytes,
                                        second_bytes / plan.page_bytes, second));
  plan.window_bytes = from.has_window ? 512_MiB : 0;
  if (from.has_window) pages_of_gpu["window_bytes"] = plan.window_bytes;
  plan.memory_bytes = std::bit_ceil(std::max(4_GiB, 4 * second.lines() * second_bytes));
  return pages_of_gpu;
}

Floor draw_chip(Draws& draws, const Generation& from) {
  Floor chip{
      .gpcs = draw(draws, from.gpcs), .tpcs = draw(draws, from.tpcs), .sms = from.sms_per_tpc};
  chip.least_tpcs = chip.tpcs - draws.between(0, chip.gpcs > 1 ? 1 : 0);
  chip.enabled_tpcs = draws.between(chip.gpcs * chip.least_tpcs, chip.gpcs * chip.tpcs);
  return chip;
}

/// What the parts of an odd GPU have otherwise.
void make_plausible(Draws& draws, const Generation& from, const Plan& plan, json& gpu) {
  gpu["source"] = fmt::format("{}: {}", from.name, gpu["source"].get<std::string>());
  json& device = gpu["device"];
  device["compute_major"] = from.compute.major;
  device["compute_minor"] = from.compute.minor;
  device["sm_partition_instruction_caches"] = from.compute.major >= 7;
  device.erase("max_cluster_blocks");
  gpu["chip"].erase("cluster_order");
  gpu["chip"].erase("lone_tpcs");
  if (!plan.carveouts_bytes.empty()) {
    device["shared_bytes_per_sm"] = plan.carveouts_bytes.back();
  }
  if (from.most_cluster_blocks > 0) device["max_cluster_blocks"] = from.most_cluster_blocks;
  if (!plan.has_l2) device.erase("l2_bytes");
  gpu["clock"]["granularity_cycles"] = from.compute.major < 2 ? 2 : 1;
  gpu["clock"]["scope"] = from.compute.major < 2 ? "tpc" : draws.pick({"sm", "sm", "gpc"});
  gpu["noise"] = {{"outlier_probability", draws.pick({2e-5, 1e-4, 3e-4})},
                  {"outlier_min_cycles", 20},
                  {"outlier_max_cycles", draws.pick({400, 1500})},
                  {"clock_jitter_cycles", draws.pick({0.0, 0.2})}};
  if (!plan.has_halves) return;
  // Of 4 KiB, by parities of higher bits, too (cuda-side-boost).
  constexpr int lowest_bit = 12, highest_bit = 35;
  std::uint64_t mask = std::uint64_t{1} << lowest_bit | std::uint64_t{1} << highest_bit;
  for (int bit = lowest_bit + 1; bit < highest_bit; ++bit) {
    if (draws.chance(0.4)) mask |= std::uint64_t{1} << bit;
  }
  gpu["partitions"]["home_mask"] = fmt::format("{:#x}", mask);
}

}  // namespace

std::string draw_plausible_gpu(std::uint64_t seed) {
  Draws draws(seed, "plausible");
  const Generation& from = generations()[draws.between(0, generations().size() - 1)];
  Plan plan;
  plan.cycles = from.cycles;
  plan.texture_cycles = from.texture_cycles;
  plan.has_l2 = from.l2_kib.most > 0;
  json caches = draw_first_caches(draws, from, plan);
  json l2 = plan.has_l2 ? draw_l2(draws, from, plan) : json();
  json pages = draw_tlbs(draws, from, plan);
  plan.constant = draw_bank(draws, "constant", from.constant_bytes, 64, caches);
  plan.code = draw_bank(draws, "code", from.code_bytes, 128, caches);
  if (plan.has_l2) caches.push_back(std::move(l2));
  const Floor chip = draw_chip(draws, from);
  json gpu = assemble(seed, draws, plan, {std::move(caches), std::move(pages), chip});
  make_plausible(draws, from, plan, gpu);
  return gpu.dump(1);
}

}  // namespace sonde::test
