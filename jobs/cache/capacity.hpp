// How large a cache is, by footprints that are chased again and again: whether they stay, and where
// the first one overflows. jobs/cache/geometry combines the steps.
#pragma once

#include "analysis/structure/capacity/capacity_search.hpp"
#include "analysis/structure/predict/predictions.hpp"
#include "jobs/chase/cache_under_test.hpp"

namespace sonde {

/// Fewer accesses than this do not tell a share of misses of 1/500 from outliers.
inline constexpr std::uint64_t coarse_samples = 2048;

/// A span times a factor, rounded down to whole steps, but at least one.
std::uint64_t scale_span(std::uint64_t span_bytes, double factor, std::uint64_t step_bytes);

/// A footprint is touched once in every line of the cache, unless inner caches could then hold too
/// much of it: more of their lines than it would touch. In bytes between two accesses.
std::uint64_t touch_step(const CacheUnderTest& cache, std::uint64_t span_bytes,
                         std::uint64_t line_bytes);

/// Share of misses among the positions that one launch can record, 0..1.
double measure_miss_fraction(const CacheUnderTest& cache, const std::string& label, ChasePlan plan);

/// Share of hits that pass for misses, 0..1, of a chase over two lines. Inner caches may answer:
/// what disturbs a load disturbs theirs. Only what lies between threshold and ceiling counts.
/// @param line_bytes between the two
double measure_outlier_share(const CacheUnderTest& cache, std::uint64_t line_bytes);

/// The same, as high as that chase leaves likely (two deviations), and no less than is usual.
double most_outlier_share(const CacheUnderTest& cache, std::uint64_t line_bytes);

/// The bound to 1/32 of its place. The whole of every line is touched where lines are small, and
/// where that would take too long one word of 128 bytes, if a check shows that it comes to the
/// same.
CapacityBound measure_coarse_bound(const CacheUnderTest& cache, std::uint64_t fetch_bytes);

/// The same, looked for in a narrower bracket, around a bound that was met elsewhere.
/// @param step_bytes between accesses
CapacityBound measure_coarse_bound_near(const CacheUnderTest& cache, const CapacityBound& seen,
                                        std::uint64_t step_bytes);

/// A bound to one line, or a few if one more stays in some orders, with what chases in other orders
/// made of it.
struct TriedBound {
  CapacityBound bound;
  Predictions tried;
};

/// The largest footprint that stays in all of twenty orders (three, if it is too long to be
/// recorded), but for what takes a line now and then; and how far it is borne out, as try_bound
/// does.
/// @param coarse as measure_coarse_bound gives it
TriedBound find_tried_bound(const CacheUnderTest& cache, const CapacityBound& coarse,
                            std::uint64_t line_bytes);

/// Whether a footprint up to the bound stays in most of three orders, and one of two lines more
/// does not: ten times each, and thirty where one does otherwise.
Predictions try_bound(const CacheUnderTest& cache, const CapacityBound& bound,
                      std::uint64_t line_bytes);

}  // namespace sonde
