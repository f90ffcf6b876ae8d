// Which SMs share a cache with SM 0, and whether two caches are one array: what a chase loses while
// others run. Parts of the job sharing. Method: docs/methods/sharing.md.
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
/// @throws DeviceLostError; what the device refuses is a reason
CacheSharing find_cache_sharing(JobRun& run, const CoRunCache& cache);

/// Whether two caches are one array, or why that is not known.
struct ArrayVerdict {
  std::optional<bool> one_array = {};
  std::string reason = {};  // of the verdict, or why there is none
  std::uint64_t probes = 0;
  double confidence = 0;
};

/// Two chases on SM 0, one through each of them.
/// @pre two chases through one of them overfill it, for either
/// @throws DeviceLostError; what the device refuses is a reason
ArrayVerdict compare_arrays(JobRun& run, const CoRunCache& one, const CoRunCache& other);

}  // namespace sonde
