// Parts of report.html; html.cpp puts them in their order.
#pragma once

#include "analysis/fleet/fleet.hpp"
#include "analysis/report/drawing/drawing.hpp"
#include "analysis/report/raw_latency.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace sonde {

/// The frames from the outside in: what a frame shares stands before what lies inside it. "" if
/// there is nothing to draw.
std::string drawing_html(const DeviceDrawing& drawing);
/// A drawing of each comparison group, of what most of its devices say. "" if there is nothing to
/// draw.
std::string drawings_section(const RunResult& run, const FleetAnalysis& analysis);

/// The data of the charts and the scripts that draw them into #all_charts; charts of one device
/// have a choice of most_chosen_devices. "" if there are none, or Vega was not found when sonde was
/// built.
/// @param raw of drawn_devices (charts.hpp)
std::string charts_section(const RunResult& run, const FleetAnalysis& analysis,
                           const RawLatencies& raw);

/// Findings of the devices, job by job, each with the probes behind it and their rows in the file.
/// Of a large fleet only flagged devices are shown, and of these jobs in which something is wrong.
std::string findings_section(const RunResult& run, const FleetAnalysis& analysis);
/// Whether findings_section shows the device.
bool has_findings(const RunResult& run, const FleetAnalysis& analysis, std::size_t device);
/// Where findings_section has that metric of that device: an id.
std::string finding_anchor(std::size_t device, std::string_view metric);

}  // namespace sonde
