// What the return pass after a fill finds again: the size of a cache that evicts in order,
// where footprints are too many lines to be asked for one by one, or fill its sets unevenly.
#pragma once

#include "analysis/structure/capacity/capacity_search.hpp"
#include "jobs/chase/cache_under_test.hpp"

namespace sonde {

/// Lines that are found again on the return pass after fills that grow until no more are found.
struct Residents {
  std::uint64_t bytes = 0;
  /// A longer fill leaves as many, as where the oldest line leaves and all sets are full. Else they
  /// are not all that the cache holds.
  bool stay = true;
  bool are_all_at_once = true;  // the shortest fill left as many as any other
  bool are_the_same = false;    // a longer fill leaves not a line less, as by chance hardly ever
};

/// The size of the cache also where its sets are of different size or fill unevenly, if it evicts
/// in order.
Residents measure_residents(const CacheUnderTest& cache, std::uint64_t size_bytes,
                            std::uint64_t line_bytes);

/// Whether hardly a line of twice as many as the cache holds is found again in cyclic accesses: LRU
/// and FIFO leave none. True, too, where no such span can be asked for.
bool evicts_in_order(const CacheUnderTest& cache, std::uint64_t size_bytes,
                     std::uint64_t line_bytes);

/// The place where hits end on the return pass after a fill, near a coarse bound: the exact bound
/// of a cache too large to be asked for footprints, if it replaces in LRU or FIFO order. In lines.
HitBoundary measure_return_boundary(const CacheUnderTest& cache, const CapacityBound& coarse,
                                    std::uint64_t line_bytes);

}  // namespace sonde
