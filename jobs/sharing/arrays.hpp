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

/// What is known of a cache but for chases beside others.
struct CacheShape {
  const CoRunCache& cache;
  const std::vector<int>& sms;  // that share it; empty: not known
  bool holds_bank = false;      // of constants: its size is that of the bank, or more
};

/// What tells two caches apart without a chase: one array is shared by the same SMs, and has one
/// size. nullopt if neither does.
std::optional<ArrayVerdict> compare_shapes(const CacheShape& one, const CacheShape& other);

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
