// Whether lines of constants lie in the L2 or in a cache of their own that is as slow: only the L2
// loses them to data. A part of the surveys of jobs/cache/path_levels.
#pragma once

#include "analysis/structure/latency/latency_classes.hpp"
#include "jobs/chase/pointer_chase.hpp"

#include <optional>
#include <string>

namespace sonde {

/// A chase through lines that this class serves, while all SMs read several times what the L2 holds
/// between two accesses to a line: whether the class serves most of them all the same. nullopt if
/// the GPU has too few SMs for that, runs no two paths at once, or its L2 keeps lines of data that
/// are chased in the same way, too.
/// @param path_name names the chases
/// @throws DeviceLostError
std::optional<bool> survives_data(JobRun& run, const ChaseSetup& setup,
                                  const std::string& path_name, const LatencyClass& found);

}  // namespace sonde
