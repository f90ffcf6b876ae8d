// Lines of a cache that SMs load one after the other, and what SM 0 finds of them then. Parts of
// the job sharing.
#pragma once

#include "jobs/sharing/co_run.hpp"

namespace sonde {

/// So many lines in a row, other ones for each question. No SM waits for another, and none disturbs
/// the one that is timed.
class LoadedLines {
 public:
  /// @param cache referred to  @param lines at most most_lines
  /// @param number of the try: at other places in memory
  LoadedLines(JobRun& run, const CoRunCache& cache, std::uint64_t lines, std::size_t number);

  /// So many are other ones for each question, and may all stay in the cache.
  static std::uint64_t most_lines(const CoRunCache& cache);

  /// What SM 0 misses of lines that it has just loaded itself, and what caches before this one
  /// hold.
  /// @throws DeviceError, DeviceLostError
  AccessShares own();

  /// Share that SM 0 misses of lines that these SMs have just loaded; none: that nobody has.
  /// @throws DeviceError, DeviceLostError
  double missed_of(const std::vector<int>& sms);

  std::uint64_t probes() const { return probes_; }

 private:
  AccessShares load(const std::vector<int>& sms, std::uint64_t warmup_passes);
  AccessShares load_once(const std::vector<int>& sms, std::uint64_t warmup_passes);
  Offsets next_list();
  void run_other_code();

  JobRun& run_;
  const CoRunCache& cache_;
  std::string label_;
  std::uint64_t lines_;
  std::uint64_t new_lists_ = 0;  // of code that was not executed since other code was
  std::uint64_t probes_ = 0;
};

}  // namespace sonde
