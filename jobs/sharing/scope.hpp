// Finds the SMs that share a cache with SM 0 (docs/methods/sharing.md). Part of the job sharing.
#pragma once

#include "jobs/sharing/co_run.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace sonde {

struct CacheSharing {
  std::vector<int> sms;  // ascending, with SM 0; empty: not known
  std::string reason;    // why they are not known
  std::uint64_t probes = 0;
};

/// SM 0 loads lines that others have just loaded; halves of the others are tried, all twice at
/// different places. Code may be prefetched, so for code SM 0 chases a list that fits the cache,
/// and the chases of other SMs must evict it.
/// @throws DeviceLostError; a refusal of the device becomes the reason
CacheSharing find_cache_sharing(JobRun& run, const CoRunCache& cache);

}  // namespace sonde
