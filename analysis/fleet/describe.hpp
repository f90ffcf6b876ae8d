// The statistics of a series, and where each device stands in it.
#pragma once

#include "analysis/fleet/series.hpp"

#include <vector>

namespace sonde {

/// n, median, MAD, scale, cut, variance components, and the three furthest out.
MetricStatistics describe(const Series& series, const ReduceOptions& options);

/// All devices of the series, in its order. @pre statistics = describe(series, ...)
std::vector<Standing> standings(const Series& series, const MetricStatistics& statistics);

}  // namespace sonde
