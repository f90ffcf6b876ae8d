// Whether caches of two load paths are one array, by the lines that simultaneous chases on one SM
// lose. Part of the job sharing. Method: docs/methods/sharing.md.
#pragma once

#include "jobs/sharing/co_run.hpp"

namespace sonde {

/// A cache as earlier jobs found it, and what this job adds.
struct SharedCache {
  CoRunCache cache;
  bool holds_bank = false;    // the whole constant bank; its size is at least that of the bank
  std::vector<int> sms = {};  // SMs that share it; empty: not known
  /// Why no two lists overfill it, as comparisons with other caches need; empty if two lists do;
  /// unset if not tried.
  std::optional<std::string> lists = {};
};

/// Whether two caches are one array, if that is known.
struct ArrayVerdict {
  std::optional<bool> one_array = {};
  std::string reason = {};  // for the verdict, or why there is none
  std::uint64_t probes = 0;
  double confidence = 0;
};

/// Compares sharing SMs and sizes, which are equal for one array. If these do not decide, chases
/// through both caches on SM 0: for one array both lose lines, for two arrays none does. Lists that
/// overfill a cache are searched for once, when needed.
/// @throws DeviceLostError; a refusal of the device becomes the reason
ArrayVerdict compare_arrays(JobRun& run, SharedCache& one, SharedCache& other);

}  // namespace sonde
