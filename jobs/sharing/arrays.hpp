// Whether caches of two load paths are one array: what chases on one SM lose beside each other. A
// part of the job sharing. Method: docs/methods/sharing.md.
#pragma once

#include "jobs/sharing/co_run.hpp"

namespace sonde {

/// A cache with what earlier jobs found of it. Chases beside those through other caches add the
/// rest.
struct SharedCache {
  CoRunCache cache;
  bool holds_bank = false;    // of constants: its size is that of the bank, or more
  std::vector<int> sms = {};  // that share it; empty: not known
  /// Why no two lists overfill it, as chases beside those through another cache must; empty: they
  /// do. Unset: not tried.
  std::optional<std::string> lists = {};
};

/// Whether two caches are one array, or why that is not known.
struct ArrayVerdict {
  std::optional<bool> one_array = {};
  std::string reason = {};  // of the verdict, or why there is none
  std::uint64_t probes = 0;
  double confidence = 0;
};

/// One array is shared by the same SMs, and has one size: where neither tells them apart, two
/// chases on SM 0, one through each of them, both lose lines, or none does. Lists that overfill a
/// cache are looked for once, when they are needed.
/// @throws DeviceLostError; what the device refuses is a reason
ArrayVerdict compare_arrays(JobRun& run, SharedCache& one, SharedCache& other);

}  // namespace sonde
