// How large a cache is, by footprints that are chased again and again: whether they stay, where the
// first one overflows, and where half of all lines are lost. jobs/cache/geometry combines the
// steps.
#pragma once

#include "analysis/structure/capacity/capacity_search.hpp"
#include "jobs/chase/cache_under_test.hpp"

namespace sonde {

/// Fewer accesses than this do not tell a share of misses of 1/500 from outliers.
inline constexpr std::uint64_t coarse_samples = 2048;

/// A span times a factor, rounded down to whole steps, but at least one.
std::uint64_t scale_span(std::uint64_t span_bytes, double factor, std::uint64_t step_bytes);

/// Share of misses among the positions that one launch can record, 0..1.
double measure_miss_fraction(const CacheUnderTest& cache, const std::string& label, ChasePlan plan);

/// The bound to 1/32 of its place. The whole of every line is touched where lines are small, and
/// where that would take too long one word of 128 bytes, if a check shows that it comes to the
/// same.
CapacityBound measure_coarse_bound(const CacheUnderTest& cache, std::uint64_t fetch_bytes);

/// The same, looked for in a narrower bracket, around a bound that was met elsewhere.
/// @param step_bytes between accesses  @param most_growth beyond that bound at most, as a factor
CapacityBound measure_coarse_bound_near(const CacheUnderTest& cache, const CapacityBound& seen,
                                        std::uint64_t step_bytes, double most_growth = 1.25);

/// Too many lines to ask for footprints line by line: the steps to the exact bound differ.
bool is_large(std::uint64_t size_bytes, std::uint64_t line_bytes);

/// The bound to one line, from a coarse one, by asking for footprints line by line.
CapacityBound measure_exact_bound(const CacheUnderTest& cache, const CapacityBound& coarse,
                                  std::uint64_t line_bytes);

/// Whether chases in other orders stay and overflow where the first one did. Under replacement that
/// is not LRU, or a hash that fills sets unevenly, they do not: the transition is gradual.
bool holds_in_all_orders(const CacheUnderTest& cache, const CapacityBound& bound,
                         std::uint64_t line_bytes);

/// The footprint at which half of all lines are lost: the size of a cache with a gradual capacity
/// transition, because its index is hashed or its replacement is random.
/// @param near where it ought to lie
CapacityBound measure_half_lost(const CacheUnderTest& cache, const CapacityBound& near,
                                std::uint64_t line_bytes);

/// Lines that are found again on the return pass after fills that grow until no more are found.
struct Residents {
  std::uint64_t bytes = 0;
  /// A longer fill leaves as many, as where the oldest line leaves and all sets are full. Else they
  /// are not all that the cache holds.
  bool stay = true;
  bool are_all_at_once = true;  // the shortest fill left as many as any other
};

/// The size of the cache also where its sets are of different size or fill unevenly, if it evicts
/// in order.
Residents measure_residents(const CacheUnderTest& cache, std::uint64_t size_bytes,
                            std::uint64_t line_bytes);

/// Whether hardly a line of twice as many as the cache holds is found again in cyclic accesses: LRU
/// and FIFO leave none. True, too, where no such span can be asked for.
bool evicts_in_order(const CacheUnderTest& cache, std::uint64_t size_bytes,
                     std::uint64_t line_bytes);

/// What part of the positions before a bound are hits, and how far before it they are recorded.
struct ReturnPass {
  double hit_density = 1;
  double seen_before = 1.0 / 16;  // of the bound's place
};

/// The place where hits end on the return pass after a fill, near a coarse bound: the exact bound
/// of a cache too large to be asked for footprints, if it replaces in LRU or FIFO order. In lines.
HitBoundary measure_return_boundary(const CacheUnderTest& cache, const CapacityBound& coarse,
                                    std::uint64_t line_bytes, const ReturnPass& pass);

}  // namespace sonde
