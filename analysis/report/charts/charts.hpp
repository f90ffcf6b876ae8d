// Charts of report.html: the data of each as JSON. The page's scripts draw it by its "kind"
// (chart_specs.js). A chart without data is empty.
#pragma once

#include "analysis/fleet/fleet.hpp"
#include "analysis/report/export/json_text.hpp"
#include "analysis/report/raw_latency.hpp"

#include <string>
#include <vector>

namespace sonde {

/// Latency against footprint: a line for each device (grey if it is healthy), and marks at the
/// capacities that most devices found. The axis of cycles ends above the highest stair; single slow
/// loads, and devices far above the others, lie outside.
Json staircase_chart(const RunResult& run, const FleetAnalysis& analysis);

/// For each of the metrics that a sweep changes most (sweep_answer.hpp): a curve with a band over
/// the only axis, or over a long axis, with a line for each GPU model and each value of the other
/// axes; else heat maps over the last two axes. Empty without a sweep, or if there would be too
/// many lines.
/// @pre run = centre_of_repeats(run)
Json sweep_charts(const RunResult& run, const FleetAnalysis& analysis);

/// The metrics in which devices of a group differ, as strips with one dot per device: {"groups":
/// [{"label", "n", "devices": [{"gpu", "node", "rank"}]}], "metrics": [{"name", "unit", "group",
/// "median", "values": of the group's devices, "out": indices of charged ones}]}. At most 24
/// metrics, charged ones first; at most 1,024 devices of a group, flagged ones included.
Json strip_chart(const RunResult& run, const FleetAnalysis& analysis);

/// Latency against span, for each cache and the TLBs, from the chases that searched capacities,
/// with marks for the results: a wide chart, and one near the capacity.
Json stair_charts(const DeviceResult& device, const std::vector<RawLatency>& raw);

/// Operations per second against operations per byte, with the measured ceilings of memories and
/// units; needs at least one of each.
/// @param label names the device in the title
Json roofline_chart(const DeviceResult& device, const std::string& label);

/// Grids of SMs, rows are GPCs, cells lie by TPC, of the first 32 of drawn_devices: [{"label",
/// "layouts": {"132": [{"row", "x", "sm", "tpc"}]}, "maps": [{"metric", "unit", "values",
/// "out"}]}].
Json map_chart(const RunResult& run, const FleetAnalysis& analysis);

/// Six digits; null if the value is not finite.
Json shown_number(double value);

/// Short, but enough to find the device: "GPU-1a2b3c4d on node03 rank 2"; in a sweep also the
/// setting, ", memory-percent=50".
std::string chart_label(const RunResult& run, const DeviceResult& device);

bool is_flagged(const DeviceVerdict& verdict);

/// The devices with charts of their own, in this order: devices with a named SM, flagged devices,
/// the first of each group, the others.
std::vector<std::size_t> drawn_devices(const RunResult& run, const FleetAnalysis& analysis,
                                       std::size_t most_devices);

}  // namespace sonde
