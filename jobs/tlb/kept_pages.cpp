// A page has two lines: the access to the one brings the translation, so that the pair of accesses
// to the other, next in the list, shows only whether that line was lost.
#include "jobs/tlb/kept_pages.hpp"

#include "analysis/structure/latency/latency_gaps.hpp"
#include "base/gpu_facts.hpp"
#include "jobs/run/attempt.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace sonde {
namespace {

/// Share of `lines` that the L2 loses in a steady chase, two of each page.
double lost_share(const PageChaseSetup& setup, std::uint64_t lines, std::uint64_t step_bytes) {
  const std::uint64_t pages = lines / 2;
  const PageSpread spread = spread_pages(step_bytes, widest_spread_bytes);
  std::vector<std::size_t> firsts(pages);
  for (std::size_t page = 0; page < pages; ++page) firsts[page] = 3 * page + 1;
  const auto costs = measure_costs(
      setup, fmt::format("tlb {} lines kept step {}", lines, step_bytes),
      {.most = LinesTried::fewest}, firsts, [&](std::uint64_t shift) {
        ChasePlan plan{.warmup_passes = 2, .passes = 3, .evidence = Evidence::of_a_search};
        for (std::uint64_t page = 0; page < pages; ++page) {
          // Halves of the smallest page, from the upper to the lower one: no prefetcher runs ahead.
          const std::uint64_t lower = page_line(spread, page, shift) & ~(smallest_page_bytes / 2);
          plan.offsets.push_back(lower + smallest_page_bytes / 2);
          plan.offsets.insert(plan.offsets.end(), 2, lower);
        }
        return plan;
      });
  return fraction_above({costs.size(), costs}, least_memory_gap_cycles);
}

}  // namespace

std::uint64_t pages_kept_by_l2(const PageChaseSetup& setup) {
  constexpr double most_lost_share = 0.004;  // fewer make no level
  for (std::uint64_t lines = 2 * setup.kept_pages; lines > fewest_pages; lines /= 2) {
    bool keeps_all = true;
    const auto ask = [&](std::uint64_t span_bytes) {
      const std::uint64_t step_bytes = std::bit_floor(2 * span_bytes / lines);
      if (!keeps_all || step_bytes < widest_spread_bytes) return;
      keeps_all = lost_share(setup, lines, step_bytes) <= most_lost_share;
    };
    ask(lines * widest_spread_bytes);
    // A device that cannot give so much memory says nothing.
    refusal_of([&] { ask(setup.limit_bytes); });
    if (keeps_all) return std::max(fewest_pages, lines / 2);
  }
  return fewest_pages;
}

}  // namespace sonde
