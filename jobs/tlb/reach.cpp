// Bounds from three places on, widened by what differs; of levels that lose single pages by single
// misses.
#include "jobs/tlb/reach.hpp"

#include "base/units.hpp"
#include "jobs/run/replicates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

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
  if (!sets.resolved() || sets.agreement < sure_agreement) return std::nullopt;
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

}  // namespace sonde
