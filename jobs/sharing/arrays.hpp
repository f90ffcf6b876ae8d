// Whether caches of two load paths are one array: what chases on one SM lose beside each other. A
// part of the job sharing. Method: docs/methods/sharing.md.
#pragma once

#include "jobs/sharing/co_run.hpp"

namespace sonde {

/// Whether two caches are one array, or why that is not known.
struct ArrayVerdict {
  std::optional<bool> one_array = {};
  std::string reason = {};  // of the verdict, or why there is none
  std::uint64_t probes = 0;
  double confidence = 0;
};

/// Two chases on SM 0, one through each of them: both lose lines, or none does.
/// @pre two chases through one of them overfill it, for either
/// @throws DeviceLostError; what the device refuses is a reason
ArrayVerdict compare_arrays(JobRun& run, const CoRunCache& one, const CoRunCache& other);

/// The same for a cache that holds the whole constant bank, so that its size is not known, and a
/// cache of code: whether that one loses lines while chases go through the bank.
/// @param bank its size is that of the bank
/// @pre two chases through the cache of code overfill it
ArrayVerdict compare_with_bank(JobRun& run, const CoRunCache& bank, const CoRunCache& code);

}  // namespace sonde
