// Parts of report.html that charts have no part in; html.cpp puts them in their order.
#pragma once

#include "analysis/fleet/fleet.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace sonde {

/// A drawing of each comparison group, of what most of its devices say, thrice: as wide as a
/// screen, a printed page and a phone are, of which style.css shows one; with the devices that
/// differ. "" if there is nothing to draw.
std::string drawings_section(const RunResult& run, const FleetAnalysis& analysis);

/// All findings of a device, job by job, each with the probes behind it: their rows in the file.
/// @pre run.devices has `device`
std::string findings_section(const RunResult& run, const FleetAnalysis& analysis,
                             std::size_t device);

/// Where findings_section has that metric of that device: an id.
std::string finding_anchor(std::size_t device, std::string_view metric);

}  // namespace sonde
