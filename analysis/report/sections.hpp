// Parts of report.html; html.cpp puts them in their order.
#pragma once

#include "analysis/fleet/fleet.hpp"
#include "analysis/report/raw_latency.hpp"

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

namespace sonde {

/// A drawing of each comparison group, of what most of its devices say, thrice: as wide as a
/// screen, a printed page and a phone are, of which style.css shows one; with the devices that
/// differ. "" if there is nothing to draw.
std::string drawings_section(const RunResult& run, const FleetAnalysis& analysis);

/// The data of the charts and the scripts that draw them into #all_charts; charts of one device
/// have a choice of most_chosen_devices. "" if there are none, or Vega was not found when sonde was
/// built.
/// @param raw of drawn_devices (charts.hpp)
std::string charts_section(const RunResult& run, const FleetAnalysis& analysis,
                           const RawLatencies& raw);

/// Rows of each job's table of probes, by name of the job.
using ProbeRows = std::map<std::string, std::size_t>;
/// Adds those of a device: in the file they lie behind those of the devices before it.
void count_probes(const DeviceResult& device, ProbeRows& rows);

/// Of a large fleet only jobs are shown in which something is wrong.
enum class ShownJobs { all, with_problems };

/// Findings of a device, job by job, each with the probes behind it and their rows in the file,
/// of which the first are given. @pre run.devices has `device`
std::string findings_section(const RunResult& run, const FleetAnalysis& analysis,
                             std::size_t device, const ProbeRows& first_rows, ShownJobs shown);

/// Where findings_section has that metric of that device: an id.
std::string finding_anchor(std::size_t device, std::string_view metric);

}  // namespace sonde
