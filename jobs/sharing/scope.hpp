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

/// One try at one place. Those of other numbers are at others.
class ScopeSearch {
 public:
  ScopeSearch() = default;
  ScopeSearch(const ScopeSearch&) = delete;
  ScopeSearch& operator=(const ScopeSearch&) = delete;
  virtual ~ScopeSearch() = default;

  /// Why its answers would tell nothing; empty if they do.
  /// @throws DeviceError, DeviceLostError
  virtual std::string prepare() = 0;

  /// What shows of these SMs together: all share the cache, or none does. @pre prepare
  virtual Found found_of(const std::vector<int>& sms) = 0;

  /// That were played so far.
  std::uint64_t probes() const { return probes_; }

 protected:
  std::uint64_t probes_ = 0;
};

/// SM 0 loads what others have just loaded: so many lines in a row, other ones for each question.
/// No SM waits for another, and none disturbs the one that is timed.
class LoadedLines final : public ScopeSearch {
 public:
  /// @param cache referred to  @param lines at most most_lines
  /// @param number of the try: at other places in memory
  LoadedLines(JobRun& run, const CoRunCache& cache, std::uint64_t lines, std::size_t number);

  /// So many are other ones for each question, and may all stay in the cache.
  static std::uint64_t most_lines(const CoRunCache& cache);

  /// What SM 0 misses of lines that it has just loaded itself, and what caches before this one
  /// hold.
  /// @throws DeviceError, DeviceLostError
  AccessShares try_own();

  std::string prepare() override;
  Found found_of(const std::vector<int>& sms) override;

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
  MissedShares missed_;
};

/// SM 0 chases one of two lists, others the other one: for code, of which GPUs that fetch ahead
/// find new lines, too.
class DisturbedChase final : public ScopeSearch {
 public:
  /// @param cache with lists of which two overfill it and one does not (fit_lists); outlives this
  /// @param number 0 and 1 take the two lists the other way round
  DisturbedChase(JobRun& run, const CoRunCache& cache, std::size_t number);

  std::string prepare() override;
  Found found_of(const std::vector<int>& sms) override;

 private:
  ListChase own_chase() const { return {&cache_, 0, own_base_bytes_}; }
  ListChase other_chase(int sm) const { return {&cache_, sm, other_base_bytes_}; }

  JobRun& run_;
  const CoRunCache& cache_;
  std::string label_;
  Draw draw_;
  std::uint64_t own_base_bytes_;
  std::uint64_t other_base_bytes_;
  double own_alone_ = 0;  // shares that each list misses when SM 0 alone chases it
  double other_alone_ = 0;
};

}  // namespace sonde
