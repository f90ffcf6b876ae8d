// Charts of report.html: the data of each as JSON, from which the page's scripts draw it by its
// "kind" (chart_specs.js). A chart that a run has no data for is empty.
#pragma once

#include "analysis/fleet/fleet.hpp"
#include "analysis/report/raw_latency.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace sonde {

using Json = nlohmann::ordered_json;

/// Latency against footprint: a line for each device, grey if it is well, and marks at the
/// capacities that most devices found. The axis of cycles ends above the highest stair: loads that
/// took far longer, and devices far above the others, lie beyond it.
Json staircase_chart(const RunResult& run, const FleetAnalysis& analysis);

/// Of each of the metrics that a sweep changes most (sweep_answer.hpp): a curve with a band over
/// one axis, or over a long one of several, a line for each model of GPU and each value of the
/// other axes; else heat maps over the last two axes. None for other runs, and where there are too
/// many.
/// @pre run = centre_of_repeats(run)
Json sweep_charts(const RunResult& run, const FleetAnalysis& analysis);

/// The metrics in which devices of a group differ, for a strip with one dot a device: {"groups":
/// [{"label", "n", "devices": [{"gpu", "node", "rank"}]}], "metrics": [{"name", "unit", "group",
/// "median", "values": of the group's devices, "out": of these}]}. Metrics with findings first, 24
/// at most; of a group at most 1,024 devices, flagged ones among them.
Json strip_chart(const RunResult& run, const FleetAnalysis& analysis);

/// Latency against span for each cache and the TLBs, from the chases of a device that looked for
/// capacities, with what was found: wide, and at the edge of a capacity. A chart each.
Json stair_charts(const DeviceResult& device, const std::vector<RawLatency>& raw);

/// Operations a second against operations for each byte, with every ceiling of memories and units
/// that was measured; needs one of both.
/// @param label names the device in the title
Json roofline_chart(const DeviceResult& device, const std::string& label);

/// Grids of SMs, rows are GPCs, cells lie by TPC, of the first 32 of drawn_devices: [{"label",
/// "layouts": {"132": [{"row", "x", "sm", "tpc"}]}, "maps": [{"metric", "unit", "values",
/// "out"}]}].
Json map_chart(const RunResult& run, const FleetAnalysis& analysis);

/// A chart of the kind "heat": its cells are {"panel", "row", "column", "value"}.
Json heat_chart(const std::string& title, std::string_view unit, Json rows, Json columns,
                Json cells);

/// To six digits, more than anybody sees; null if it is not finite.
Json shown_number(double value);

/// Short, but enough to find the device: "GPU-1a2b3c4d on node03 rank 2", in a sweep with the
/// setting
/// ", memory-percent=50".
std::string chart_label(const RunResult& run, const DeviceResult& device);

bool is_flagged(const DeviceVerdict& verdict);

/// Which devices have charts of their own, in the order of the choice: those with a named SM,
/// flagged ones, the first of each group, then the others.
std::vector<std::size_t> drawn_devices(const RunResult& run, const FleetAnalysis& analysis,
                                       std::size_t most_devices);

}  // namespace sonde
