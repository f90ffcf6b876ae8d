// How large a deviation must be to matter.
#pragma once

#include "analysis/fleet/fleet.hpp"

namespace sonde {

/// Standard deviations of a difference, or of a value to its tolerance, that chance explains.
inline constexpr double within_factor = 3;
/// Of the median: no scatter is believed to be smaller.
inline constexpr double scale_floor_fraction = 0.005;

/// The tolerance for a metric: the longest prefix among the options, else that of the registry.
Tolerance tolerance_for(const Metric& metric, const ReduceOptions& options);

/// Whether a difference of that sign is one for the worse; never where no direction is better.
bool is_worse(Better better, double difference);

/// By which fraction a value lies above or below what was expected. 0 if that is less than the
/// tolerance, 1.5 cycles (clocks count whole ones), or what chance explains.
double unexplained_fraction(const Metric& metric, double value, const Interval& expected,
                            double tolerance, double by_chance);

/// Whether two capacities agree: exact ones if they are equal, others if their intervals overlap or
/// are no further apart than the tolerance, a fraction of the capacity (half of that if one is
/// exact).
bool capacities_agree(const Interval& a, const Interval& b, double tolerance);

}  // namespace sonde
