// The size of a cache, from repeated chases over footprints: which footprints stay in it, and which
// is the first to overflow. jobs/cache/geometry combines the steps.
#pragma once

#include "analysis/structure/capacity/capacity_search.hpp"
#include "analysis/structure/predict/predictions.hpp"
#include "jobs/chase/cache_under_test.hpp"

namespace sonde {

/// Fewer accesses cannot distinguish a share of misses of 1/500 from outliers.
inline constexpr std::uint64_t coarse_samples = 2048;

/// A span times a factor, rounded down to whole steps, at least one step.
std::uint64_t scale_span(std::uint64_t span_bytes, double factor, std::uint64_t step_bytes);

/// Bytes between two accesses of a footprint: a line of the cache; or a line of the inner caches,
/// if these could otherwise hold too much of the footprint.
std::uint64_t touch_step(const CacheUnderTest& cache, std::uint64_t span_bytes,
                         std::uint64_t line_bytes);

/// Share of misses, 0..1, among the positions that one launch can record.
double measure_miss_fraction(const CacheUnderTest& cache, const std::string& label, ChasePlan plan);

/// Share of hits that look like misses, 0..1, in a chase over two lines. Inner caches may serve the
/// chase, as outliers affect them equally. Latencies above the ceiling do not count.
/// @param line_bytes distance of the two lines
double measure_outlier_share(const CacheUnderTest& cache, std::uint64_t line_bytes);

/// An upper estimate of the share (two deviations above it), at least the usual share.
double most_outlier_share(const CacheUnderTest& cache, std::uint64_t line_bytes);

/// The bound with a precision of 1/32. Every fetched unit is accessed if units have 128 bytes or
/// more; else one in 128 bytes, if a check shows that this gives the same bound.
CapacityBound measure_coarse_bound(const CacheUnderTest& cache, std::uint64_t fetch_bytes);

/// The same with a precision of 1/16, starting at a bound that was measured elsewhere and going at
/// most a quarter beyond it.
/// @param step_bytes between accesses
CapacityBound measure_coarse_bound_near(const CacheUnderTest& cache, const CapacityBound& seen,
                                        std::uint64_t step_bytes);

/// A bound exact to one line, or to a few if one more line stays in some orders; and how chases in
/// other orders confirmed it.
struct TriedBound {
  CapacityBound bound;
  Predictions tried;
};

/// The largest footprint that stays in at least 18 of twenty orders (if it is too long to be
/// recorded: in three of three), with the predictions of try_bound; without them if none stays.
/// @param coarse from measure_coarse_bound
TriedBound find_tried_bound(const CacheUnderTest& cache, const CapacityBound& coarse,
                            std::uint64_t line_bytes);

/// Predicts that the bound stays in most of three orders and that two more lines do not, ten times
/// each; thirty times if a prediction fails.
Predictions try_bound(const CacheUnderTest& cache, const CapacityBound& bound,
                      std::uint64_t line_bytes);

}  // namespace sonde
