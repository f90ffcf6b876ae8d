// What a run was to measure, and has no results of.
#pragma once

#include "store/candidates.hpp"
#include "store/roster_file.hpp"

#include <cstddef>
#include <string>

namespace sonde {

/// Adds the devices of the roster that left no results at one of its points: as lost.
void add_lost(Choice& choice, const Roster& roster);

/// The same, but for those that left results at another point: as incomplete, for this reason.
void add_missing(Choice& choice, const Roster& roster, const std::string& reason);

/// Takes the points out of the roster that no GPU came to, of several: the run was stopped, or is
/// under way. @returns how many
std::size_t leave_points_of_nobody(const Choice& choice, Roster& roster);

}  // namespace sonde
