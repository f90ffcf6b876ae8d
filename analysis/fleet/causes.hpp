// What stands behind a charge that rests on a measurement, and the order in which charges are told.
#pragma once

#include "analysis/fleet/fleet.hpp"

namespace sonde {

/// What most likely stands behind a deviation: a throttled or slow clock that is large enough to
/// explain it, else what the metric measures.
/// @param clock_deviation_fraction of the device's SM clock from that of its peers, or its past
Trouble likely_trouble(const Charge& charge, const DeviceConditions& conditions,
                       double clock_deviation_fraction);

/// The headline of a charge: "SM 17 is 87 % slower than the others of this GPU", "memory bandwidth
/// 7 % low"; "" if metric and reason say as much.
std::string headline_of(const Charge& charge, const DeviceConditions& conditions,
                        double clock_deviation_fraction);

/// Whether the first charge is told before the second: contention, then the worse severity, then
/// the order of causes (Trouble), then one that names a part, then the larger deviation.
bool is_told_before(const Charge& one, const Charge& other);

}  // namespace sonde
