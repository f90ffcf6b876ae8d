// Which SMs share a cache with SM 0. A part of the job sharing. Method: docs/methods/sharing.md.
#pragma once

#include "jobs/sharing/co_run.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace sonde {

/// SMs that share a cache.
struct CacheSharing {
  std::vector<int> sms;  // ascending, SM 0 among them; empty: not known
  std::string reason;    // why not
  std::uint64_t probes = 0;
};

/// SM 0 loads what others have just loaded, in halves; twice, at other places. Code may be fetched
/// ahead, so that lines of others tell nothing of it: there SM 0 chases code that fits its cache,
/// and chases of others are to evict it.
/// @throws DeviceLostError; what the device refuses is a reason
CacheSharing find_cache_sharing(JobRun& run, const CoRunCache& cache);

}  // namespace sonde
