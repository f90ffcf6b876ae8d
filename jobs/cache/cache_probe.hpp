// A cache for the search for sets: chases lists of lines, on many SMs at once if each has its own
// cache, and counts the misses.
#pragma once

#include "jobs/chase/cache_under_test.hpp"
#include "jobs/sets/sets_probe.hpp"

namespace sonde {

class CacheProbe final : public SetsProbe {
 public:
  /// Uses only the SM of the cache's setup, until spread_over_sms.
  CacheProbe(const CacheUnderTest& cache, std::uint64_t size_bytes, std::uint64_t line_bytes);

  std::optional<PassEvictors> find_pass_evictors(std::uint64_t end_bytes) override;

  /// Uses all SMs, or every n-th, if they do not share the cache: no SM may overflow when most of
  /// its cache is filled from all of them at once. The pass evictors lie above all other lines.
  void spread_over_sms(const PassEvictors& pass_evictors) override;

  /// @throws SearchOverTime if the search exceeds its limit
  std::vector<MissCounts> ask(std::span<const Lines> lists,
                              const PassEvictors& pass_evictors) override;
  std::optional<LinePool> widen_pool(const SetFindings& found) const override;
  std::optional<Lines> find_access_evictors(const SetFindings& found, const Lines& lines) override;
  std::size_t longest_record(std::size_t access_evictors) const override;
  std::vector<AccessRecord> record(const Lines& lines, const Lines& access_evictors,
                                   std::vector<std::vector<std::uint16_t>> orders) override {
    return record_on(sms_, lines, access_evictors, std::move(orders));
  }

  /// Counts misses of a list on every SM, in few passes.
  std::vector<MissCounts> ask_every_sm(const Lines& list);
  /// Records the same order of accesses to the lines of a set on every SM, from an empty set.
  std::vector<AccessRecord> record_on_every_sm(const Lines& lines,
                                               const std::vector<std::uint16_t>& order);

  /// A probe of the same cache with other memory.
  CacheProbe at_place(Place place) const;

  /// A probe of another cache, or of this one with another carve-out, on the same SMs.
  CacheProbe of(const CacheUnderTest& cache, std::uint64_t size_bytes) const;

  /// Limits a search in device time and in accesses: beyond the limit every question to the probe
  /// throws SearchOverTime.
  /// @param share divides the limit
  void limit_search(std::uint64_t share = 1) {
    end_ = SearchEnd{run().device_s() + most_search_s / static_cast<double>(share),
                     accesses_ + most_search_accesses / share};
  }
  void unlimit_search() { end_.reset(); }

  /// Number of consecutive SMs that may share the cache; 0: no distance without sharing was found.
  int sharing_sms() const { return sharing_sms_; }

 private:
  // The whole job cache.l1 takes 1 to 3 s on an H100 and an H200 (2026-11-25). Each chase of a
  // cache behind an L2 passes through most of that L2.
  static constexpr double most_search_s = 14;
  // With many SMs the cost lies on the host, which handles each latency, not in device time. The L1
  // of an H200 takes 17 million accesses.
  static constexpr std::uint64_t most_search_accesses = 150'000'000;

  struct SearchEnd {
    double device_s = 0;  // of JobRun::device_s()
    std::uint64_t accesses = 0;
  };

  std::vector<AccessRecord> record_on(const std::vector<int>& sms, const Lines& lines,
                                      const Lines& access_evictors,
                                      std::vector<std::vector<std::uint16_t>> orders);
  std::vector<MissCounts> count_misses(std::vector<ChaseLane> lanes, std::size_t listed,
                                       std::uint64_t warmup_passes, std::uint64_t passes);
  std::vector<std::vector<int>> groups_apart() const;
  double outlier_share();
  void check_end() const {
    if (end_ && (run().device_s() > end_->device_s || accesses_ > end_->accesses))
      throw SearchOverTime();
  }
  bool disturb_each_other(std::uint64_t lines, const PassEvictors& pass_evictors);

  const CacheUnderTest cache_;
  const std::uint64_t size_bytes_;
  std::optional<SearchEnd> end_;
  std::uint64_t accesses_ = 0;  // on all SMs
  std::optional<double> outlier_share_;
  int sharing_sms_ = 1;
  std::vector<int> sms_;  // each list is chased on one of them
};

}  // namespace sonde
