// Lists of which two overfill a cache and one stays in it: what comparisons of two caches need. A
// part of the job sharing. Method: docs/methods/sharing.md.
#pragma once

#include "jobs/sharing/co_run.hpp"

namespace sonde {

/// Two chases on SM 0 are made to disturb each other: what a list fills of the cache becomes so
/// much.
/// @return why no lists do; empty if they do. What the device refuses is a reason
/// @throws DeviceLostError
std::string fit_lists(JobRun& run, CoRunCache& cache);

/// Where the second of two lists begins: at a power of two, so that an index of XORs spreads it
/// over as many sets as the first one, if there is room.
std::uint64_t second_list_bytes(const CoRunCache& cache);

}  // namespace sonde
