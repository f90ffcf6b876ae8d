// Size, line and fetch of one cache by chases through it: the steps that the jobs of all caches
// share. Each step is one question to the device and one pure inference.
#pragma once

#include "analysis/structure/capacity/capacity_search.hpp"
#include "analysis/structure/capacity/miss_blocks.hpp"
#include "analysis/structure/latency/hit_classes.hpp"
#include "jobs/chase/pointer_chase.hpp"

#include <algorithm>
#include <limits>

namespace sonde {

/// Caches of a path that come before another one: what lies in them does not reach it.
struct InnerCaches {
  std::uint64_t size_bytes = 0;  // of the largest
  std::uint64_t line_bytes = 0;  // the shortest of their lines
  double threshold_cycles = 0;   // loads above it missed them all
};

/// A cache as a chase sees it: loads above the threshold miss it.
struct CacheUnderTest {
  std::string name;  // for the labels of probes
  ChaseSetup setup;
  double threshold_cycles = 0;
  // No miss takes longer, as far as is known: what lies beyond are outliers.
  double ceiling_cycles = std::numeric_limits<double>::infinity();
  std::uint64_t limit_bytes = 0;  // no footprint beyond this is asked for
  std::uint64_t seed = 0;
  std::uint64_t space_bytes = 0;  // of constants or code: no offset lies beyond; 0: global memory
  std::optional<InnerCaches> inner = {};
};

/// Windows of every position of a tiny footprint that stays in the nearest cache of the path.
std::vector<double> measure_resident_latencies(JobRun& run, const ChaseSetup& setup,
                                               const std::string& label);

/// Latencies of lines that no cache holds and whose translation is at hand: cold lines of a few
/// regions, from the top down so that no prefetcher helps; the first of each region is left out.
std::vector<double> measure_memory_latencies(JobRun& run, const ChaseSetup& setup,
                                             const std::string& label);

/// Whether a footprint, touched every `step_bytes`, stays in the cache once it was accessed: no
/// position misses again and again. A single pass without any miss proves it.
/// @pre the footprint can be recorded at once
Fit ask_fit(JobRun& run, const CacheUnderTest& cache, std::uint64_t span_bytes,
            std::uint64_t step_bytes);

/// The same for footprints too large to be recorded at once: misses are counted on the device, and
/// are compared with the outliers that a footprint shows which fits for sure.
class CountedFit {
 public:
  CountedFit(JobRun& run, const CacheUnderTest& cache, std::uint64_t fitting_bytes,
             std::uint64_t step_bytes);
  Fit ask(std::uint64_t span_bytes) const;

 private:
  static constexpr std::uint64_t most_passes = 16;
  std::uint64_t count(std::uint64_t span_bytes, std::uint64_t passes) const;

  JobRun& run_;
  const CacheUnderTest& cache_;
  std::uint64_t step_bytes_;
  double outliers_per_byte_ = 0;
};

/// Bytes that one miss brings: a first access in steps of 8 bytes, from the top down. In a space of
/// their own lines are accessed anew once all others there have pushed them out, so that caches
/// which nothing empties can be asked, too.
std::optional<BlockSize> measure_fetch(JobRun& run, const CacheUnderTest& cache);

/// The bound to 1/32 of its place. The whole of every line is touched where lines are small, and
/// where that would take too long one word of 128 bytes, if a check shows that it comes to the
/// same.
CapacityBound measure_coarse_bound(JobRun& run, const CacheUnderTest& cache,
                                   std::uint64_t fetch_bytes);

/// The largest block of which one fetched unit takes the room of the whole: spans of 1.4 times the
/// size are touched with one unit in each block; they stay if a block is more than one line.
struct LineSize {
  std::uint64_t bytes = 0;
  std::vector<double> miss_fractions;  // by block size, from 2 fetch_bytes on, doubling
};
LineSize measure_line(JobRun& run, const CacheUnderTest& cache, std::uint64_t coarse_size_bytes,
                      std::uint64_t fetch_bytes);

/// The bound to one line, from a coarse one, by asking for footprints line by line.
CapacityBound measure_exact_bound(JobRun& run, const CacheUnderTest& cache,
                                  const CapacityBound& coarse, std::uint64_t line_bytes);

/// The place where hits end on the way back after a fill, near a coarse bound: the exact bound of a
/// cache too large to be asked for footprints, if it replaces in LRU or FIFO order.
/// @param density share of hits before their end
/// @param seen_before how far before the bound the way back is recorded, as a part of the whole
HitBoundary measure_return_boundary(JobRun& run, const CacheUnderTest& cache,
                                    const CapacityBound& coarse, std::uint64_t line_bytes,
                                    double density, double seen_before = 1.0 / 16);

/// The footprint at which half of all lines are lost: the size of a cache that loses them little by
/// little, because its index is hashed or its replacement draws.
CapacityBound measure_half_lost(JobRun& run, const CacheUnderTest& cache,
                                const CapacityBound& coarse, std::uint64_t line_bytes);

/// Lines that are found again on the way back after a long fill, times line_bytes: the size of the
/// cache also where its sets are of different size, if it replaces in LRU or FIFO order.
std::uint64_t measure_residents(JobRun& run, const CacheUnderTest& cache, std::uint64_t size_bytes,
                                std::uint64_t line_bytes);

/// What is known about a cache after all steps.
struct CacheGeometry {
  CapacityBound bound;                // first misses; to one line, or coarse if `soft`
  bool soft = false;                  // no order of accesses finds the bound of another to one line
  std::uint64_t half_lost_bytes = 0;  // if soft and large: half of all lines are lost there
  std::uint64_t residents_bytes = 0;
  std::uint64_t line_bytes = 0;
  BlockSize fetch;
  double line_contrast = 0;       // 0..1: how clearly blocks up to the line and beyond it differ
  std::uint64_t whole_bytes = 0;  // if `bound` is that of one part only
  /// Lines of every set that stay together (jobs/sets); 0: not known. Of one part, too.
  std::uint64_t filled_bytes = 0;
  bool sets_confirmed = false;  // in lines of line_bytes (jobs/sets)

  std::string no_size = {};  // why the size is not resolvable, though the rest is; empty: it is

  /// Of the part that `bound` is of.
  std::uint64_t part_bytes() const {
    if (filled_bytes > 0) return filled_bytes;
    const std::uint64_t bytes = std::max({bound.fitting_bytes, half_lost_bytes, residents_bytes});
    return soft ? round_gradual_size(bytes) : bytes;
  }
  std::uint64_t size_bytes() const {
    if (whole_bytes == 0) return part_bytes();
    return soft ? round_gradual_size(whole_bytes) : whole_bytes;
  }
};

/// Too many lines to ask for footprints line by line: the steps to the exact bound differ.
bool is_large(const CapacityBound& coarse, std::uint64_t line_bytes);

/// Fetch, coarse bound and line. nullopt with the reason in `reason` if the traces do not resolve
/// them.
std::optional<CacheGeometry> measure_geometry(JobRun& run, const CacheUnderTest& cache,
                                              std::string& reason);

/// Completes an outline by the exact bound, or the knee if there is none.
void measure_size(JobRun& run, const CacheUnderTest& cache, CacheGeometry& shape);

}  // namespace sonde
