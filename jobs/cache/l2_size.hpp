// How large the L2 is, and what lies behind it: partitions, or a cache on the side of the memory. A
// part of the job cache.l2. Method: docs/methods/cache.md.
#pragma once

#include "jobs/cache/geometry.hpp"
#include "jobs/cache/loaded_elsewhere.hpp"
#include "jobs/cache/memory_side.hpp"

#include <string>
#include <vector>

namespace sonde {

/// Latencies between those of near hits and those of the memory.
struct FarBand {
  double low_cycles = 0;
  double high_cycles = 0;
  double middle_cycles() const { return (low_cycles + high_cycles) / 2; }
  bool holds(double cycles) const { return cycles > low_cycles && cycles < high_cycles; }
};

FarBand between(const std::vector<double>& hits, const std::vector<double>& misses);

/// Who answers what misses in the L2, or in its near partition.
struct BehindL2 {
  LoadedElsewhere parts = {};
  std::optional<Between> between = {};  // later than hits and sooner than the memory

  /// One L2, and something else answers nearly all that misses in it.
  bool is_side_cache() const {
    return between && parts.kind != L2Parts::several && between->serves_nearly_all();
  }
  /// It answers some of it, as another partition would, though the SMs see one L2.
  bool is_open() const {
    return between && parts.kind == L2Parts::one && !between->serves_nearly_all();
  }
  std::string explain_side_cache() const;
  std::string explain_open() const;
};

/// Chases footprints around the bound at which the memory begins to answer.
/// @param parts what lines that another SM loaded tell
/// @param hits with their translation at hand, likewise `memory`
BehindL2 look_behind_l2(const CacheUnderTest& cache, const CacheGeometry& geometry,
                        const LoadedElsewhere& parts, const std::vector<double>& hits,
                        const std::vector<double>& memory);

/// Of an L2 whose geometry is not known whether it has partitions, and the latency of far hits.
void report_parts_alone(const CacheUnderTest& cache, const LoadedElsewhere& parts);

/// Size, segment and latency of far hits; gives back a remark on how the size was seen.
/// @param cache of an L2 before a cache on the side of the memory: with a threshold between the two
std::string characterize_l2_size(CacheUnderTest& cache, const BehindL2& behind,
                                 const std::vector<double>& hits, const std::vector<double>& misses,
                                 CacheGeometry& geometry);

}  // namespace sonde
