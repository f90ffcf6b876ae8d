// What a run will measure, for `--dry-run`.
#pragma once

#include "commands/measure.hpp"

#include <string>

namespace sonde {

/// The points of a sweep, a line each, and "jobs: clock shared"; where points differ in their jobs,
/// each line ends with its own. Of a run that fills a time budget the first repeat.
std::string describe_points(const RunPlan& plan);

}  // namespace sonde
