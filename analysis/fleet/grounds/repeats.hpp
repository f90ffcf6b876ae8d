// Repeats of the same measurement on the same device (other seeds, other times) become one: what is
// compared between devices, shown and exported. The run file keeps each of them.
#pragma once

#include "analysis/fleet/fleet.hpp"

#include <cstddef>
#include <vector>

namespace sonde {

using Repeats = std::vector<std::vector<std::size_t>>;

/// Rows of the run that are repeats of each other, in the order of the run: one list for each
/// device and setting, in the order of their first repeats.
Repeats repeats_of(const RunResult& run);

/// One row for each device and setting of the sweep, in the order of their first repeats: a number
/// or vector is the median of the repeats (of each element); a text, or a number that counts a
/// structure (a line, ways), is the one that most repeats gave, with a confidence lowered by the
/// share of those that differ. `reproducibility` is the standard deviation of the repeats' values,
/// `repeatability` the median of theirs; samples and replicates add up. The status is the one that
/// most repeats have. A device is as complete as its worst repeat. A run without repeats comes back
/// as it is.
RunResult centre_of_repeats(RunResult run);

/// The conditions of each of these rows, as if the probes of all its repeats were those of one run.
/// @param conditions of each row of the run
std::vector<DeviceConditions> centre_of_conditions(const RunResult& run,
                                                   const std::vector<DeviceConditions>& conditions);

}  // namespace sonde
