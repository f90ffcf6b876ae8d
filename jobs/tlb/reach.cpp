// The reach: from the sets, or from spans at ten other places. The entry: from spans with one page
// in each block.
#include "jobs/tlb/parts.hpp"

#include "analysis/structure/capacity/miss_blocks.hpp"
#include "analysis/structure/predict/predictions.hpp"
#include "base/random.hpp"
#include "base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <span>

namespace sonde {
namespace {

/// Predicts that spans up to the bound fit at other places and that spans beyond it do not.
Predictions try_reach(const TlbUnderTest& tlb, const CapacityBound& bound) {
  constexpr std::size_t places = 10;
  Predictions tried;
  for (std::size_t place = 1; place <= places; ++place) {
    const TlbUnderTest other = at_other_place(tlb, "reach", place);
    tried.asked += 2;
    tried.right += missing_share_at(other, bound.fitting_bytes, tlb.step_bytes()) == 0;
    tried.right += missing_share_at(other, bound.overflowing_bytes, tlb.step_bytes()) > 0;
  }
  return tried;
}

}  // namespace

Reach settle_reach(const TlbUnderTest& tlb, const CapacityBound& bound, const SetLayout& sets) {
  // If fewer sets than this share behave as predicted in other chases, the bound counts.
  constexpr double sure_agreement = 0.99;
  if (sets.resolved() && sets.checked.share() >= sure_agreement)
    return {.bytes = sets.lines() * tlb.entry_bytes, .confidence = sets.confidence()};
  const std::uint64_t asked_bytes = page_step_over(tlb, bound.fitting_bytes, tlb.step_bytes());
  if (asked_bytes > tlb.entry_bytes) {
    return {.reason = fmt::format("{} or less: only one entry in each {} was accessed",
                                  format_bytes(bound.fitting_bytes), format_bytes(asked_bytes))};
  }
  const Predictions tried = try_reach(tlb, bound);
  if (tried.bear_out()) return {.bytes = bound.fitting_bytes, .confidence = tried.confidence()};
  return {.reason = fmt::format("first misses at {} at one place; at other places {} of {} chases "
                                "contradict it: the index is hashed, or entries are lost by chance",
                                format_bytes(bound.overflowing_bytes), tried.asked - tried.right,
                                tried.asked)};
}

namespace {

/// A place in each block of a span, in a random unit of it, so that the places use all sets of any
/// index function.
Offsets any_units(std::uint64_t span_bytes, std::uint64_t block_bytes, std::uint64_t unit_bytes,
                  std::uint64_t seed) {
  Offsets places = shuffled_order(span_bytes, block_bytes, seed);
  Random random(derive_seed(seed, "units"));
  for (std::uint64_t& place : places) place += random.below(block_bytes / unit_bytes) * unit_bytes;
  return places;
}

/// Adds neighbours from its block to each of `places`, so many that inner levels cannot serve all,
/// each in its own inner entry. They lie in the smallest aligned part of the block that has room
/// for them, as an entry may cover no more.
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

/// A line at each of these places. The places are numbered consecutively for that: the numbers of
/// their units may be multiples of a power of two, and then the lines would use few cache sets.
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

/// Upper bound of the cost of a miss of the level.
double most_miss_cycles(const TlbUnderTest& tlb) {
  constexpr double most_ratio = 2;  // to the usual miss; cached page tables save up to half of it
  return most_ratio * tlb.level.penalty_cycles + tlb.least_step_cycles;
}

/// Share of the blocks of a span that miss the level, with one or more pages of each accessed.
double sparse_share(const TlbUnderTest& tlb, std::uint64_t span_bytes, std::uint64_t block_bytes,
                    std::uint64_t unit_bytes) {
  constexpr std::uint64_t few_blocks = 512;  // so few blocks are drawn several times
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
  // In a span two fifths too large, a third misses under random replacement, a sixth under BRRIP.
  constexpr double least_share = 0.125;
  const std::uint64_t unit_bytes = std::max(tlb.granularity_bytes, tlb.inner.answered_bytes);
  const CapacityBound bound = measure_reach(tlb, unit_bytes, 1.0 / 32);
  // The level was only seen by chases with wider steps.
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
  // If nothing misses beyond the bound, the bound was wrong.
  if (shares.front() <= least_front) return std::nullopt;
  // If the bound was measured with one of several units, the level may hold equally many smaller
  // blocks, with a shorter reach.
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
