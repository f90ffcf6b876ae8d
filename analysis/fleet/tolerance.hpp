// How large a deviation must be to matter.
#pragma once

#include "analysis/fleet/series.hpp"

#include <cstddef>

namespace sonde {

/// The tolerance for a metric: the longest prefix among the options, else that of the registry.
Tolerance tolerance_for(const Metric& metric, const ReduceOptions& options);

/// The same for a series. The spread of a map differs more between healthy dies than its median
/// does: distances of profiles get twice the tolerance.
Tolerance series_tolerance(const Series& series, const ReduceOptions& options);

/// The least difference between two devices that their replicates and the clock cannot explain.
/// @param repeat standard deviation of the value of either
double least_difference(const Series& series, double one_repeat, double other_repeat,
                        const ReduceOptions& options);

/// Robust standard deviations beyond which a device is out, among n that agree.
double score_limit(std::size_t n, const ReduceOptions& options);

/// Whether a difference of that sign is one for the worse; never where no direction is better.
bool is_worse(Better better, double difference);

}  // namespace sonde
