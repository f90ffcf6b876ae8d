// Size, line and fetch of one cache: the steps of fetch, capacity and line in the order that every
// cache job goes through, and what they give. jobs/cache/report makes findings of it.
#pragma once

#include "analysis/results.hpp"
#include "analysis/structure/capacity/capacity_search.hpp"
#include "analysis/structure/capacity/miss_blocks.hpp"
#include "analysis/structure/sets/set_layout.hpp"
#include "jobs/cache/code_line.hpp"
#include "jobs/chase/cache_under_test.hpp"

#include <algorithm>

namespace sonde {

/// What is known about a cache after all steps.
struct CacheGeometry {
  CapacityBound bound;                // first misses; to one line, or coarse if `gradual`
  bool gradual = false;               // no order of accesses finds the bound of another to one line
  std::uint64_t half_lost_bytes = 0;  // if gradual and large: half of all lines are lost there
  Interval part_range = {};  // if gradual: where part_bytes() lay in all draws, or its bracket
  Interval first_miss_range = {};     // likewise the bound
  std::uint64_t replicates = 1;       // draws
  std::uint64_t residents_bytes = 0;  // found again on the return pass after a fill
  bool fills_late = false;            // the longer the fill, the more of them: sets fill unevenly
  std::uint64_t line_bytes = 0;
  BlockSize fetch;
  double outlier_share = usual_outlier_share;  // as CacheUnderTest
  double size_confidence = 1;                  // if not gradual
  double line_contrast = 0;  // 0..1: how clearly blocks up to the line and beyond it differ
  /// Code is executed block by block: line_bytes is no less than that, and lines within a block are
  /// asked for apart. 0 bytes: not known.
  std::optional<LineWithinBlock> within_block = {};
  std::uint64_t partitions = 1;  // as large as the one that `bound` is of
  /// Lines of every set (jobs/sets), if they were seen to stay together or are what footprints
  /// leave open; 0: not known. Of one partition, too.
  std::uint64_t filled_bytes = 0;
  bool line_proven = false;  // by sets of such lines, which together are of its size (jobs/sets)
  bool line_contradicted = false;  // by such sets, which would be twice its size
  bool line_is_refuted = false;    // by such sets, which lose lines when asked for whole blocks

  std::string no_size = {};  // why the size is not resolvable, though the rest is; empty: it is

  /// In the line, as far as sets of such lines depend on it: blocks differ clearly, or not.
  double line_confidence() const {
    constexpr double clear_contrast = 0.8;
    return line_contrast >= clear_contrast ? 1 : line_contrast;
  }
  /// Whether lines are what is accessed: else sets of one are not those of the other.
  bool accesses_are_lines() const { return !within_block || within_block->bytes == line_bytes; }
  /// A line with less contrast is a guess, unless sets prove it: of 210 lines of random simulated
  /// GPUs one was, and wrong; in the second code cache of an H200 it is 0.16 to 0.34. In a cache of
  /// few lines it may be as little though the line is right, but there sets are found.
  bool line_is_known() const {
    constexpr double least_contrast = 0.4;
    if (within_block) return within_block->contrast >= least_contrast;
    if (line_contradicted && line_confidence() < 1) return false;
    return line_proven || line_contrast >= least_contrast;
  }
  /// Of the partition that `bound` is of.
  std::uint64_t part_bytes() const {
    if (filled_bytes > 0) return filled_bytes;
    const std::uint64_t bytes = std::max({bound.fitting_bytes, half_lost_bytes, residents_bytes});
    return gradual ? round_gradual_size(bytes) : bytes;
  }
  /// Whether all draws lost their first lines within a few lines of each other and half of them
  /// soon after, as where sets are filled a little unevenly, and not by chance.
  bool is_nearly_a_step() const {
    constexpr double few_lines = 4;
    constexpr double soon = 1.5;
    if (part_range.high > soon * first_miss_range.low) return false;
    const double width = first_miss_range.high - first_miss_range.low;
    const double narrow =
        std::max(first_miss_range.low / 64, few_lines * static_cast<double>(line_bytes));
    return width <= std::min(narrow, first_miss_range.low / 16);
  }
  /// Whether all that is known of the size is that the first lines are lost below it (random
  /// replacement loses some long before the cache is full), and half of them beyond it.
  bool is_bracketed() const {
    return gradual && filled_bytes == 0 && half_lost_bytes == 0 &&
           residents_bytes <= bound.fitting_bytes && !is_nearly_a_step();
  }
  /// What loses half of a cyclic footprint may hold all of its half, if it keeps old lines; random
  /// replacement holds 0.7 of it, sets of LRU that chance fills about all. Lines are lost from a
  /// larger footprint than it holds, or from sets that others leave room in.
  double least_that_loses_half() const {
    return std::max(first_miss_range.low, part_range.low / 2);
  }
  /// Where the part lies if it is gradual: all that the draws saw, rounding included.
  std::optional<Interval> part_interval() const {
    const auto part = static_cast<double>(part_bytes());
    if (filled_bytes > 0) return std::nullopt;
    if (!gradual && fills_late && residents_bytes > bound.fitting_bytes) {
      // Sets that no fill has filled, outliers, or first lines of pages, which wait for a
      // translation (1 in 95, once).
      constexpr double last_sets = 1.0 / 64;
      return Interval{part * (1 - last_sets), part * (1 + last_sets)};
    }
    if (!gradual) return std::nullopt;
    const Interval& seen = half_lost_bytes > 0 || is_bracketed() ? part_range : first_miss_range;
    const double low = half_lost_bytes > 0 ? least_that_loses_half() : seen.low;
    return Interval{std::min(part, low), std::max(part, seen.high)};
  }
  /// The same of the size.
  std::optional<Interval> size_interval() const {
    const auto part = part_interval();
    if (!part) return std::nullopt;
    const double scale = static_cast<double>(size_bytes()) / static_cast<double>(part_bytes());
    return Interval{part->low * scale, part->high * scale};
  }
  /// Whether footprints allow such a size of the part, to a tenth: sets may hold a block less.
  bool may_hold(std::uint64_t bytes) const {
    constexpr double tolerance = 0.1;
    const auto size = static_cast<double>(part_bytes());
    const Interval seen = part_interval().value_or(Interval{size, size});
    const auto held = static_cast<double>(bytes);
    return held >= (1 - tolerance) * seen.low && held <= (1 + tolerance) * seen.high;
  }
  std::uint64_t size_bytes() const { return partitions * part_bytes(); }
};

/// Fetch, coarse bound and line. nullopt with the reason in `reason` if the traces do not resolve
/// them.
std::optional<CacheGeometry> measure_geometry(const CacheUnderTest& cache, std::string& reason);

/// Takes the lines of all sets for the size if footprints show none to a line (policies lose lines
/// before a cache is full, and code is executed by the block) but allow that one, and all sets have
/// as many ways.
/// @param way_bytes of a way of these sets, and of as many others as are like them
void take_size_of_sets(const SetLayout& sets, std::uint64_t way_bytes, CacheGeometry& geometry);

/// Completes a geometry by the exact bound, or by the footprint that loses half of its lines if the
/// capacity transition is gradual.
void measure_size(const CacheUnderTest& cache, CacheGeometry& geometry);

/// Why sets of so many lines are not looked for: beyond the L2 each miss takes an order of
/// magnitude longer than one of an L1, and the search minutes. Empty: they are.
std::string why_too_many_lines(const CacheGeometry& geometry);

}  // namespace sonde
