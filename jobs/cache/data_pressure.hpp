// Whether lines of constants lie in the L2 or in a cache of their own that is as slow: only the L2
// loses them to data. A part of the surveys of jobs/cache/path_survey.
#pragma once

#include "analysis/structure/latency/latency_classes.hpp"
#include "jobs/chase/pointer_chase.hpp"

#include <string>

namespace sonde {

/// What becomes of lines that are chased while all SMs read several times what the L2 holds between
/// two accesses to a line.
enum class UnderData {
  leaves,     // most are no longer served by their class: it is the L2's
  survives,   // most are, and lines of data that are chased in the same way are not: no L2's
  not_told,   // both are: some policies keep what is asked for again and again
  not_asked,  // the GPU has too few SMs for that, or runs no two paths at once
};

/// @param found the class of a space of constants or code whose lines are chased
/// @param span_bytes a footprint that it serves: the longer, the more is read between two accesses
/// @param path_name names the chases
/// @throws DeviceLostError
UnderData chase_under_data(JobRun& run, const ChaseSetup& setup, const std::string& path_name,
                           const LatencyClass& found, std::uint64_t span_bytes);

}  // namespace sonde
