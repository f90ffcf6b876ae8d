// Charges on the ground of peers: devices that are out of their group in one number.
#pragma once

#include "analysis/fleet/series.hpp"

namespace sonde {

/// Describes and judges one series (docs/fleet-analysis.md). Who is worse than the majority is
/// charged. Where no majority agrees, or somebody is clearly better than it, all devices of the
/// group are warned, and the parts into which it falls are named: nobody can tell which of them is
/// right. A note says that a metric scatters too much to be judged.
/// @returns its statistics, which `all` got
const MetricStatistics& compare_peers(const RunResult& run, const Series& series, Compared& all);

}  // namespace sonde
