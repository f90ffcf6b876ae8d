// What a run will take, from what it or an earlier one has measured: for `--dry-run`.
#pragma once

#include "commands/measure.hpp"

#include <cstddef>
#include <string>

namespace sonde {

/// A line on time and size of the file, from the whole shards of the run or its earlier file, as
/// far as they have points of this run; without any, how to come to know. Devices of a run are
/// measured at the same time.
/// @param devices of the run
std::string estimate_run(const RunPlan& plan, std::size_t devices);

}  // namespace sonde
