// Bounds from three places on, widened by what differs; of levels that lose single pages by single
// misses.
#include "jobs/tlb/reach.hpp"

#include "analysis/structure/capacity/miss_blocks.hpp"
#include "base/random.hpp"
#include "base/units.hpp"
#include "jobs/run/replicates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <span>

namespace sonde {
namespace {

// Where the bound is gradual, chases beyond it miss in whole sets, chases below it here and there.
constexpr double gradual_missing_share = 0.02;
constexpr double gradual_confidence = 0.5;
// A bound at which so few pages miss is that of one set, and depends on where the buffer lies if
// the index is hashed (seen on H200: 1990 to 2045 entries of 2048).
constexpr double one_set_share = 0.05;
constexpr double one_set_confidence = 0.8;
// Places at which a reach is measured: in each another set may overflow first.
constexpr std::size_t reach_replicates = 3;

/// The bound from other places on: where the index is hashed, each place fills another set first.
/// @return from the lowest to the highest place where it was met; `seen` if all have the same
CapacityBound widen_by_draws(const TlbUnderTest& tlb, std::uint64_t step_bytes,
                             const CapacityBound& seen, ReachSearch search) {
  constexpr std::size_t draws = reach_replicates - 1;
  constexpr double relative_precision = 1.0 / 64;
  CapacityBound widest = seen;
  TlbUnderTest elsewhere = tlb;
  search.near = seen;
  search.relative_precision = relative_precision;
  for (std::size_t number = 1; number <= draws; ++number) {
    elsewhere.chase = at_draw(tlb.chase, draw_replicate(tlb.run, tlb.name + " reach", number));
    const CapacityBound bound = measure_reach(elsewhere, step_bytes, search);
    if (bound.fitting_bytes == 0 || bound.overflowing_bytes == 0) continue;
    widest.fitting_bytes = std::min(widest.fitting_bytes, bound.fitting_bytes);
    widest.overflowing_bytes = std::max(widest.overflowing_bytes, bound.overflowing_bytes);
  }
  return widest;
}

/// Where a level overflows elsewhere. If the places asked differ, three of them do not show the
/// ends: half as far again to both sides.
Interval to_interval(const CapacityBound& widest) {
  constexpr double alike = 1.02;
  const auto low = static_cast<double>(widest.fitting_bytes);
  const auto high = static_cast<double>(widest.overflowing_bytes);
  if (high <= alike * low) return {low, high};
  return {low - (high - low) / 2, high + (high - low) / 2};
}

/// Of a level that loses single pages of spans that nearly fit: to a sixteenth of its power of two.
Reach measure_gradual_reach(const TlbUnderTest& tlb, const CapacityBound& first_misses) {
  const std::uint64_t step_bytes = tlb.step_bytes();
  const CapacityBound gradual =
      measure_reach(tlb, step_bytes, {.missing_share = gradual_missing_share});
  const std::uint64_t bytes = round_gradual_size(gradual.fitting_bytes);
  if (gradual.overflowing_bytes == 0) return {.bytes = bytes, .confidence = gradual_confidence};
  CapacityBound widest =
      widen_by_draws(tlb, step_bytes, gradual, {.missing_share = gradual_missing_share});
  widest.fitting_bytes = std::min({widest.fitting_bytes, first_misses.fitting_bytes, bytes});
  return {.bytes = bytes,
          .confidence = gradual_confidence,
          .remark = "a gradual capacity transition: below it single entries are lost now and then",
          .interval = to_interval(widest),
          .replicates = reach_replicates};
}

/// The reach that the sets have, from a multiple of all of them on, if all are alike.
std::optional<std::uint64_t> reach_by_sets(const TlbUnderTest& tlb, const SetLayout& sets) {
  if (!sets.resolved() || sets.checked.share() < sure_agreement) return std::nullopt;
  if (sets.index.kind == IndexKind::unresolved) return std::nullopt;
  if (sets.ways_per_set.front() != sets.ways_per_set.back()) return std::nullopt;
  std::map<std::uint64_t, std::uint32_t> used;
  for (std::uint64_t entry = 0;; ++entry) {
    if (++used[set_of(sets.index, entry * tlb.entry_bytes)] > sets.ways_per_set.front())
      return entry * tlb.entry_bytes;
  }
}

}  // namespace

Reach measure_checked_reach(const TlbUnderTest& tlb) {
  const std::uint64_t step_bytes = tlb.step_bytes();
  const CapacityBound bound = measure_reach(tlb, step_bytes);
  if (bound.overflowing_bytes == 0) return {};
  const ReachCheck check = check_reach(tlb, bound, step_bytes);
  if (!check.is_steady) return measure_gradual_reach(tlb, bound);
  Reach reach{.bytes = bound.fitting_bytes, .replicates = reach_replicates};
  const CapacityBound widest = widen_by_draws(tlb, step_bytes, bound, {});
  if (widest != bound) {
    reach.interval = to_interval(widest);
    reach.confidence = one_set_confidence;
    reach.remark = "first misses, elsewhere from each place on: the index is hashed";
  }
  if (check.overflowing_share < one_set_share) {
    reach.interval = to_interval(widest);
    reach.confidence = one_set_confidence;
    reach.remark = fmt::format(
        "first misses: at one entry more {:.1f} % of the pages miss, one set of many; where the "
        "index is hashed, others overflow a little later",
        100 * check.overflowing_share);
  }
  return reach;
}

Reach account_for_sets(const TlbUnderTest& tlb, Reach reach, const SetLayout& sets) {
  const std::uint64_t asked_bytes = page_step_over(tlb, reach.bytes, tlb.step_bytes());
  if (asked_bytes <= tlb.entry_bytes) return reach;
  const auto high = static_cast<double>(reach.bytes);
  const double low = high * static_cast<double>(tlb.entry_bytes) / static_cast<double>(asked_bytes);
  const auto by_sets = reach_by_sets(tlb, sets);
  const std::string remark =
      fmt::format("one entry in each {} was asked for", format_bytes(asked_bytes));
  if (by_sets) return {.bytes = *by_sets, .remark = "by the sets: " + remark};
  reach.interval = Interval{reach.interval ? std::min(low, reach.interval->low) : low,
                            reach.interval ? reach.interval->high : high};
  reach.confidence = std::min(reach.confidence, gradual_confidence);
  reach.remark = remark;
  return reach;
}

namespace {

/// A place in each block of a span: of any unit, so that no index function makes them meet in few
/// sets.
Offsets any_units(std::uint64_t span_bytes, std::uint64_t block_bytes, std::uint64_t unit_bytes,
                  std::uint64_t seed) {
  Offsets places = shuffled_order(span_bytes, block_bytes, seed);
  Random random(derive_seed(seed, "units"));
  for (std::uint64_t& place : places) place += random.below(block_bytes / unit_bytes) * unit_bytes;
  return places;
}

/// Round each of `places` as many of its block as inner levels do not answer for, each under an
/// inner entry of its own: those of the smallest aligned part, which may be all that an entry
/// covers.
Offsets neighbours_of(const TlbUnderTest& tlb, const Offsets& places, std::uint64_t block_bytes) {
  const std::uint64_t wanted = overfilling_share * tlb.inner.entries;
  const std::uint64_t distance_bytes = std::max<std::uint64_t>(1, tlb.inner.step_bytes);
  const std::uint64_t in_a_row =
      std::clamp<std::uint64_t>((wanted + places.size() / 2) / places.size(), 1,
                                std::max<std::uint64_t>(1, block_bytes / distance_bytes));
  const std::uint64_t part_bytes = std::min(block_bytes, std::bit_ceil(in_a_row) * distance_bytes);
  Offsets all;
  for (std::uint64_t place : places) {
    const std::uint64_t part = place / part_bytes * part_bytes;
    for (std::uint64_t i = 0; i < in_a_row; ++i)
      all.push_back(part + (place - part + i * distance_bytes) % part_bytes);
  }
  return all;
}

/// A line at each of these places. They are numbered in a row: lines by the numbers of their units
/// would meet in few sets of a cache wherever those are multiples of a power of two.
Offsets lines_at(const TlbUnderTest& tlb, const Offsets& places, std::uint64_t shift) {
  std::uint64_t spread_bytes = tlb.granularity_bytes;
  if (tlb.inner.step_bytes > 0) spread_bytes = std::min(spread_bytes, tlb.inner.step_bytes);
  const PageSpread spread = spread_pages(spread_bytes, widest_spread_bytes);
  std::vector<std::size_t> ascending(places.size());
  std::iota(ascending.begin(), ascending.end(), std::size_t{0});
  std::ranges::sort(ascending, {}, [&](std::size_t i) { return places[i]; });
  Offsets lines(places.size());
  for (std::size_t rank = 0; rank < ascending.size(); ++rank) {
    const std::uint64_t within = page_line(spread, rank, shift) - rank * spread.page_step_bytes;
    lines[ascending[rank]] = places[ascending[rank]] + within;
  }
  return lines;
}

/// What a miss of the level costs at most beyond a translation at hand.
double most_miss_cycles(const TlbUnderTest& tlb) {
  constexpr double most_ratio = 2;  // to the usual miss: caches of page tables spare up to half
  return most_ratio * tlb.level.penalty_cycles + tlb.least_step_cycles;
}

/// Share that misses the level of the blocks of a span, of which each is met somewhere.
double sparse_share(const TlbUnderTest& tlb, std::uint64_t span_bytes, std::uint64_t block_bytes,
                    std::uint64_t unit_bytes) {
  constexpr std::uint64_t few_blocks = 512;  // so many are chosen from more than once
  constexpr std::uint64_t most_draws = 8;
  const std::uint64_t draws =
      std::clamp<std::uint64_t>(few_blocks * block_bytes / span_bytes, 1, most_draws);
  const std::string label = fmt::format("{} block {}", tlb.name, block_bytes);
  std::size_t blocks = 0;
  std::size_t missing = 0;
  const double most_cycles = most_miss_cycles(tlb);
  for (std::uint64_t draw = 0; draw < draws; ++draw) {
    const std::uint64_t seed = derive_seed(tlb.run.seed(), tlb.name + std::to_string(draw));
    const Offsets places = any_units(span_bytes, block_bytes, unit_bytes, seed);
    const Offsets pages = neighbours_of(tlb, places, block_bytes);
    const auto costs = measure_steady_costs(
        tlb, label, [&](std::uint64_t shift) { return twice_each(lines_at(tlb, pages, shift)); },
        {.is_clear = clear_of(tlb.level.threshold_cycles)});
    const std::size_t in_a_row = pages.size() / places.size();
    for (std::size_t first = 0; first < costs.size(); first += in_a_row) {
      const auto block = std::span(costs).subspan(first, in_a_row);
      missing += std::ranges::any_of(block, [&](double cost) {
        return cost > tlb.level.threshold_cycles && cost <= most_cycles;
      });
    }
    blocks += places.size();
  }
  return static_cast<double>(missing) / static_cast<double>(blocks);
}

}  // namespace

std::optional<std::uint64_t> measure_entry(const TlbUnderTest& tlb) {
  constexpr std::uint64_t fewest_blocks = 4;
  // Of a span two fifths too large a third misses at random, and a sixth under BRRIP.
  constexpr double least_share = 0.125;
  const std::uint64_t unit_bytes = std::max(tlb.granularity_bytes, tlb.inner.answered_bytes);
  const CapacityBound bound = measure_reach(tlb, unit_bytes, {.relative_precision = 1.0 / 32});
  // Only chases in coarse steps met the level.
  if (bound.overflowing_bytes == 0) return tlb.granularity_bytes;
  // Two fifths more than the level holds.
  std::uint64_t span_bytes = std::min(bound.overflowing_bytes / 5 * 7, tlb.limit_bytes);
  std::uint64_t block_bytes =
      std::max(unit_bytes, page_step_over(tlb, bound.overflowing_bytes, unit_bytes));
  const auto share_of = [&](std::uint64_t span, std::uint64_t block) {
    return sparse_share(tlb, span, block, unit_bytes);
  };
  std::vector<double> shares{share_of(span_bytes, block_bytes)};
  const double least_front = block_bytes > unit_bytes ? least_share : 0;
  // Nothing misses of a span beyond the bound that was found: that was none.
  if (shares.front() <= least_front) return std::nullopt;
  // Where the bound was asked for with one unit of several, the level may hold as many smaller
  // blocks, which reach less far.
  while (block_bytes > unit_bytes) {
    const double share = share_of(span_bytes / 2, block_bytes / 2);
    if (share == 0 || !misses_as_often(share, shares.front())) break;
    shares.front() = share;
    span_bytes /= 2;
    block_bytes /= 2;
  }
  for (std::uint64_t block = 2 * block_bytes;
       shares.back() > 0 && span_bytes / block >= fewest_blocks; block *= 2) {
    shares.push_back(share_of(span_bytes, block));
  }
  const auto doublings = doublings_to_entry(shares);
  if (!doublings) return std::nullopt;
  const std::uint64_t entry_bytes = block_bytes << *doublings;
  return entry_bytes == unit_bytes ? tlb.granularity_bytes : entry_bytes;
}

}  // namespace sonde
