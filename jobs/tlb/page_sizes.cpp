// Neighbours in random places: the second one misses where a page ends between the two.
#include "jobs/tlb/page_sizes.hpp"

#include "analysis/statistics.hpp"
#include "base/gpu_facts.hpp"
#include "base/random.hpp"
#include "jobs/run/attempt.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <set>

namespace sonde {
namespace {

constexpr std::uint64_t most_places = 128;

/// Span of the pages that push all others out of the level.
std::uint64_t evicting_bytes(const TlbUnderTest& tlb) { return 2 * tlb.level.overflowing_bytes; }

/// Some of the multiples of `alignment_bytes` behind the pages that evict, each once: fewer where
/// there are fewer than twice as many, or the L2 keeps few lines.
Offsets draw_places(const TlbUnderTest& tlb, std::uint64_t alignment_bytes) {
  Random random(derive_seed(tlb.run.seed(), "page sizes"));
  std::set<std::uint64_t> drawn;
  const std::uint64_t first = evicting_bytes(tlb) / alignment_bytes + 1;
  const std::uint64_t all = std::max(first, tlb.limit_bytes / alignment_bytes) - first;
  while (drawn.size() < std::min({most_places, all / 2, tlb.kept_pages / 2}))
    drawn.insert((first + random.below(all)) * alignment_bytes);
  Offsets places(drawn.begin(), drawn.end());
  shuffle(places, random);
  return places;
}

/// Of so many places the share of those of which a neighbour needs a translation of its own, and of
/// those that are seen to need one themselves: all do, but noise hides some of a small penalty.
struct SecondPages {
  double share = 0;
  double own_share = 0;
  std::size_t places = 0;

  /// Some neighbours do and some do not, a tenth at least of each.
  bool differ() const {
    constexpr double least_share = 0.1;
    return share >= least_share && share <= (1 - least_share) * own_share;
  }
};

/// Share of such places of which the line `distance_bytes` further on needs a translation of its
/// own; no share if there are few such places.
SecondPages find_second_pages(const TlbUnderTest& tlb, std::uint64_t alignment_bytes,
                              std::uint64_t distance_bytes) {
  constexpr std::size_t fewest_places = 16;
  const Offsets places = draw_places(tlb, alignment_bytes);
  if (places.size() < fewest_places) return {};
  const PageSpread evictors = spread_pages(
      std::max(smallest_page_bytes, std::bit_ceil(evicting_bytes(tlb) / tlb.kept_pages)),
      widest_spread_bytes);
  const std::uint64_t evictor_count = evicting_bytes(tlb) / evictors.page_step_bytes;
  const PageSpread lines = spread_pages(distance_bytes, widest_spread_bytes);
  std::vector<std::size_t> timed;  // of all places themselves, then of their neighbours
  for (std::size_t i = 0; i < places.size(); ++i) timed.push_back(evictor_count + 4 * i);
  for (std::size_t i = 0; i < places.size(); ++i) timed.push_back(evictor_count + 4 * i + 2);
  const PageByPage pages = tell_page_by_page(tlb, LinesTried{}.most);
  const auto costs = measure_costs(
      tlb, fmt::format("{} neighbours {}", tlb.name, distance_bytes), {.most = pages.lines}, timed,
      [&](std::uint64_t shift) {
        ChasePlan plan{.passes = 3, .evidence = Evidence::of_a_search};
        for (std::uint64_t page = 0; page < evictor_count; ++page)
          plan.offsets.push_back(page_line(evictors, page, shift));
        for (std::size_t i = 0; i < places.size(); ++i) {
          const std::uint64_t line = page_line(lines, i, shift) - i * lines.page_step_bytes;
          plan.offsets.insert(plan.offsets.end(), 2, places[i] + line);
          plan.offsets.insert(plan.offsets.end(), 2, places[i] + distance_bytes + line);
        }
        plan.skipped = evictor_count;
        return plan;
      });
  const auto share_of = [&](auto first) {
    const std::vector<double> some(first, first + static_cast<std::ptrdiff_t>(places.size()));
    return fraction_above({some.size(), some}, pages.threshold_cycles);
  };
  return {.share = share_of(costs.begin() + static_cast<std::ptrdiff_t>(places.size())),
          .own_share = share_of(costs.begin()),
          .places = places.size()};
}

}  // namespace

std::optional<MixedPages> find_mixed_pages(const TlbUnderTest& first_level) {
  const std::uint64_t seen_bytes = first_level.granularity_bytes;
  // Where the size seen is the smaller one, neighbours of that distance share a larger page.
  const SecondPages next = find_second_pages(first_level, 2 * seen_bytes, seen_bytes);
  if (next.differ()) return MixedPages{seen_bytes, next.share, next.places};
  std::optional<MixedPages> mixed;
  for (std::uint64_t bytes = seen_bytes / 2; bytes >= smallest_page_bytes; bytes /= 2) {
    const SecondPages within = find_second_pages(first_level, seen_bytes, bytes);
    if (!within.differ()) break;
    mixed = MixedPages{bytes, within.share, within.places};
  }
  return mixed;
}

}  // namespace sonde
