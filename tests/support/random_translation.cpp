// Draws of pages and TLBs of a random GPU.
#include "base/units.hpp"
#include "support/random_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace sonde::test {
namespace {

using nlohmann::json;

constexpr std::uint64_t most_memory_bytes = 64_GiB;
constexpr std::uint64_t most_sub_entries = 16;
/// Entries of one, two and three levels, first to last.
constexpr std::array<Span, 3> entry_ranges{{{8, 96}, {48, 1024}, {512, 2048}}};

struct DrawnLevel {
  json tlb;
  std::uint64_t pages = 1;  // under an entry
  std::uint64_t reach_bytes = 0;
};

/// A level of the TLB: entries of `pages` pages, each with a sub-entry or none.
json describe_tlb(Draws& draws, const std::string& name, const std::string& scope,
                  std::uint64_t entry_bytes, std::uint64_t pages, const DrawnSets& sets) {
  json tlb = sets.to_json();
  tlb.update(draw_replacement(draws, sets));
  tlb["name"] = name;
  tlb["scope"] = scope;
  tlb["entry_bytes"] = entry_bytes;
  tlb["sub_entries"] = draws.chance(0.75) ? pages : 1;
  return tlb;
}

DrawnLevel draw_level(Draws& draws, std::size_t level, std::uint64_t page_bytes,
                      std::uint64_t pages) {
  const Span range = entry_ranges[level];
  const std::uint64_t entries = draws.log_between(range.least, range.most);
  const std::uint64_t entry_bytes = pages * page_bytes;
  const bool is_one_set = entries <= 128 && draws.chance(0.6);
  const DrawnSets sets = is_one_set ? full_associativity(static_cast<std::uint32_t>(entries))
                                    : draw_tlb_sets(draws, entries, entry_bytes);
  static constexpr std::array<std::array<const char*, 3>, 3> scopes{
      {{"sm", "tpc", "device"}, {"tpc", "gpc", "device"}, {"gpc", "device", "device"}}};
  const char* scope = scopes[level][draws.between(0, 2)];
  return {
      .tlb = describe_tlb(draws, fmt::format("l{}", level + 1), scope, entry_bytes, pages, sets),
      .pages = pages,
      .reach_bytes = sets.lines() * entry_bytes};
}

/// Pages under an entry of the next level: as many, more, rarely fewer.
std::uint64_t draw_next_pages(Draws& draws, std::uint64_t pages) {
  if (draws.chance(0.07)) return std::max<std::uint64_t>(1, pages / 2);
  return pages * draws.pick({1, 1, 2, 4, 8, 16, 32});
}

/// Each reaches three times as far as the one before; none: it did not come out so.
std::vector<DrawnLevel> try_levels(Draws& draws, const Plan& plan) {
  const auto count = draws.pick_weighted<std::size_t>({{1, 1.5}, {2, 6}, {3, 2.5}});
  // The first TLB of most GPUs reaches beyond the L2, and not of all.
  const std::uint64_t least_reach_bytes = draws.chance(0.8) ? 2 * plan.l2_bytes() : 256_KiB;
  std::vector<DrawnLevel> levels;
  std::uint64_t pages = draws.pick({1, 1, 1, 2, 4, 8, 16});
  for (std::size_t level = 0; level < count; ++level) {
    levels.push_back(draw_level(draws, level, plan.page_bytes, pages));
    const std::uint64_t least_bytes =
        level == 0 ? least_reach_bytes : 3 * levels[level - 1].reach_bytes;
    if (levels.back().pages > most_sub_entries || levels.back().reach_bytes < least_bytes)
      return {};
    pages = draw_next_pages(draws, pages);
  }
  if (3 * levels.back().reach_bytes > most_memory_bytes) return {};
  return levels;
}

/// One or two small ones, for textures alone.
json draw_texture_tlbs(Draws& draws, Plan& plan) {
  json tlbs = json::array();
  const std::uint64_t count = draws.between(1, 2);
  std::uint64_t entries = draws.between(8, 32);
  for (std::uint64_t level = 0; level < count; ++level) {
    plan.texture_tlbs.push_back(fmt::format("texture_l{}", level + 1));
    tlbs.push_back(describe_tlb(draws, plan.texture_tlbs.back(), level == 0 ? "tpc" : "device",
                                plan.page_bytes, 1,
                                full_associativity(static_cast<std::uint32_t>(entries))));
    entries *= 4;
  }
  return tlbs;
}

}  // namespace

json draw_pages(std::uint64_t seed, Plan& plan) {
  Draws draws(seed, "pages");
  std::vector<DrawnLevel> levels;
  while (levels.empty()) {
    plan.page_bytes = draws.pick(
        {4_KiB, 16_KiB, 64_KiB, 64_KiB, 128_KiB, 512_KiB, 2_MiB, 2_MiB, 2_MiB, 4_MiB, 16_MiB});
    levels = try_levels(draws, plan);
  }
  const std::uint64_t needed_bytes = std::max(1_GiB, 3 * levels.back().reach_bytes);
  plan.window_bytes = draws.chance(0.25) ? draws.pick({128_MiB, 256_MiB, 512_MiB}) : 0;
  plan.memory_bytes = std::bit_ceil(std::max(needed_bytes, plan.window_bytes * 8));
  json pages{{"page_bytes", plan.page_bytes}, {"tlbs", json::array()}};
  if (plan.window_bytes > 0) pages["window_bytes"] = plan.window_bytes;
  pages["mapping"] = plan.placing == Placing::known ? "contiguous" : "random";
  if (plan.placing == Placing::by_blocks) pages["block_bytes"] = std::max(2_MiB, plan.page_bytes);
  for (DrawnLevel& level : levels) {
    plan.tlbs.push_back(level.tlb["name"]);
    pages["tlbs"].push_back(std::move(level.tlb));
  }
  const bool has_own_caches = !plan.texture.empty() && plan.texture.front() == "texture_1";
  if (has_own_caches && draws.chance(0.3)) pages["path_tlbs"] = draw_texture_tlbs(draws, plan);
  return pages;
}

}  // namespace sonde::test
