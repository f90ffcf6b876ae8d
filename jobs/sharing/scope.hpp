// Which SMs share a cache with SM 0: of whose lines it finds them there. A part of the job sharing.
// Method: docs/methods/sharing.md.
#pragma once

#include "jobs/sharing/co_run.hpp"

namespace sonde {

/// SMs that share a cache.
struct CacheSharing {
  std::vector<int> sms;  // ascending, SM 0 among them; empty: not known
  std::string reason;    // why not
  std::uint64_t probes = 0;
};

/// SM 0 loads what others have just loaded, in halves; twice, at other places. Where that tells
/// nothing of a cache of code, chases on other SMs are to disturb one on SM 0.
/// @throws DeviceLostError; what the device refuses is a reason
CacheSharing find_cache_sharing(JobRun& run, const CoRunCache& cache);

}  // namespace sonde
