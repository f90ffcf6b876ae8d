// Charts of report.html: the Vega specifications of page/ with the data of a run inside.
#pragma once

#include "analysis/fleet/fleet.hpp"
#include "analysis/report/raw_latency.hpp"

#include <nlohmann/json.hpp>

#include <optional>
#include <vector>

namespace sonde {

using Json = nlohmann::ordered_json;

/// page/<name>.json without its data. Colours: Okabe and Ito 2008, distinct for colour-blind
/// readers; grey is for devices that are well.
Json chart_template(const std::string& name);
/// The entry of that name in a specification's list of data, scales, ... @throws Error if absent
Json& entry_of(Json& list, std::string_view name);

/// Latency against footprint, log2 x: one line per device, flagged ones coloured and named, dashed
/// lines at the capacities that were detected. The axis of cycles ends above the highest stair:
/// loads that took far longer, and devices far above the others, are triangles at its edge, named
/// in `outliers`. Nothing if no device has the staircase.
std::optional<Json> staircase_chart(const RunResult& run, const FleetAnalysis& analysis);

/// Latency of the patterns P1 to P6 through each load path, one specification for each of the first
/// groups: bars are what most devices say with its deviation, dots flagged devices (Mei and Chu
/// 2016, figure 13). Empty if no device has any.
Json spectrum_charts(const RunResult& run, const FleetAnalysis& analysis);

/// Size of the L1 against the carve-out of shared memory, stacked, one specification for each of
/// the first groups; dots are the L1 of flagged devices. Empty if no device has sizes by carve-out.
Json carveout_charts(const RunResult& run, const FleetAnalysis& analysis);

/// Bytes per cycle from the outermost constant cache that was streamed from, against the number of
/// blocks: for each device a line of one thread and one of eight. Nothing if no device has them.
std::optional<Json> constants_chart(const RunResult& run, const FleetAnalysis& analysis);

/// Of a sweep over one axis a curve for each device, over two a heat map: one specification for
/// each of the metrics that change most. Empty for other runs, and for too many values of an axis.
/// @pre run = centre_of_repeats(run)
Json sweep_charts(const RunResult& run, const FleetAnalysis& analysis);

/// Of what drifts over repeats, a curve for each device and setting against time: one
/// specification for each metric, those that drift most first. Empty if nothing drifts.
/// @pre run = centre_of_repeats(run)
Json drift_charts(const RunResult& run, const FleetAnalysis& analysis);

/// One row per metric, one dot per device at its deviation from the group's median: the metrics in
/// which somebody is furthest out. Nothing for fewer than two comparable devices.
std::optional<Json> deviation_chart(const RunResult& run, const FleetAnalysis& analysis);

/// A strip for each metric, one dot a device, node by node. The page draws `spec` once for each
/// metric in which somebody is out, and once for one of the others that is chosen.
struct StripChart {
  Json spec;
  /// {"groups": [{"label", "n", "devices": [["GPU-1a2b3c4d", "node03", rank]]}], "metrics":
  /// [{"name", "unit", "group", "median", "values": of the group's devices, "out": of these}]}
  Json data;
};
/// Metrics with findings first, 24 at most; of a group at most 1,024 devices, flagged ones among
/// them. Nothing if there is no metric of two comparable devices.
std::optional<StripChart> strip_chart(const RunResult& run, const FleetAnalysis& analysis);

/// How many accesses took so many cycles in the chases that looked for the capacities of a device,
/// one specification for each cache and for the TLBs: hits and misses are humps. Empty without raw
/// latencies.
Json histogram_charts(const DeviceResult& device, const std::vector<RawLatency>& raw);

/// Latency against span for each cache and the TLBs, from the chases of a device that looked for
/// capacities, with what was found: wide, and at the edge of a capacity; then its classical curves
/// of Saavedra 1992 and Wong 2010. One specification each.
Json stair_charts(const DeviceResult& device, const std::vector<RawLatency>& raw);

/// Latency and throughput of operations against warps, one line per operation. Nothing if the
/// device has none.
/// @param label names the device in the title; likewise below
std::optional<Json> warps_chart(const DeviceResult& device, const std::string& label);

/// Operations a second against operations for each byte, with every ceiling of memories and units
/// that was measured. Nothing if the device lacks one of both.
std::optional<Json> roofline_chart(const DeviceResult& device, const std::string& label);

/// Heat maps of throughput over the shapes of a grid, one specification for each surface that the
/// device has.
Json surface_charts(const DeviceResult& device, const std::string& label);

/// Bars of when each path of a diverged warp ran, device under device, colours by warp. Nothing if
/// no device has the timelines.
std::optional<Json> timeline_chart(const RunResult& run);
/// The same of the paths of a nest of branches.
std::optional<Json> nest_chart(const RunResult& run);

/// Grids of SMs, rows are GPCs, cells lie by TPC. The page chooses device and map: `spec` draws the
/// table `sms` between the signals `low` and `high`.
struct MapChart {
  Json spec;
  Json devices;  // [{"label", "maps": [{"metric", "unit", "cells": [{"row", "x", "sm", ...}]}]}]
};
/// Of the first 32 of drawn_devices. Nothing if no device has a per-SM map.
std::optional<MapChart> map_chart(const RunResult& run, const FleetAnalysis& analysis);

/// "GPU-1a2b3c4d on node03 rank 2": short, but enough to find the device.
std::string chart_label(const DeviceResult& device);
/// In a sweep with its setting: "GPU-1a2b3c4d on node03 rank 2, memory-percent=50".
std::string chart_label(const RunResult& run, const DeviceResult& device);

/// Of charts that are drawn once for each group, so many.
inline constexpr std::size_t most_drawn_groups = 4;
/// The label of a device that is alone, else "NVIDIA H200, ...: median of 8 GPUs".
std::string group_title(const RunResult& run, const ComparisonGroup& group);

bool is_flagged(const DeviceVerdict& verdict);

/// Which devices have charts of their own, in the order of the choice: those with a named SM,
/// flagged ones, the first of each group, then the others.
std::vector<std::size_t> drawn_devices(const RunResult& run, const FleetAnalysis& analysis,
                                       std::size_t most_devices);

/// Devices in the order in which to draw them: flagged ones last, above all others.
std::vector<std::size_t> well_first(const FleetAnalysis& analysis);

}  // namespace sonde
