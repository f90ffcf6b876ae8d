// Which SMs share a cache with SM 0: what its chase loses beside chases of others. A part of the
// job sharing. Method: docs/methods/sharing.md.
#pragma once

#include "jobs/sharing/co_run.hpp"

namespace sonde {

/// SMs that share a cache.
struct CacheSharing {
  std::vector<int> sms;  // ascending, SM 0 among them; empty: not known
  std::string reason;    // why not
  std::uint64_t probes = 0;
  bool overfills = false;  // two chases on one SM overfill it: pairs with other caches can be asked
};

/// Chases of SM 0 beside those of other SMs, in halves; twice, with other lists at another place.
/// What a list fills of the cache becomes so much that two of them disturb each other.
/// @throws DeviceLostError; what the device refuses is a reason
CacheSharing find_cache_sharing(JobRun& run, CoRunCache& cache);

}  // namespace sonde
