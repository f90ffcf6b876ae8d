// A cache for the search for sets: chases lists of lines, on many SMs at once where each has a
// cache of its own, and counts which of their loads missed.
#pragma once

#include "jobs/chase/cache_under_test.hpp"
#include "jobs/sets/sets_probe.hpp"

namespace sonde {

class CacheProbe final : public SetsProbe {
 public:
  /// Asks on the SM of the cache's setup alone.
  CacheProbe(const CacheUnderTest& cache, std::uint64_t size_bytes, std::uint64_t line_bytes);

  std::optional<PassEvictors> find_pass_evictors(std::uint64_t end_bytes) override;

  /// On SMs that do not share the cache: as many as there are, all or every n-th. Finds out by
  /// filling most of it from all of them at once. The pass evictors lie above all other lines.
  void spread_over_sms(const PassEvictors& pass_evictors) override;

  /// @throws SearchOverTime while a search is to end in time
  std::vector<MissCounts> ask(std::span<const Lines> lists,
                              const PassEvictors& pass_evictors) override;
  std::optional<LinePool> widen_pool(const SetFindings& found) const override;
  std::optional<Lines> find_access_evictors(const SetFindings& found, const Lines& lines) override;
  std::size_t longest_record(std::size_t access_evictors) const override;
  std::vector<AccessRecord> record(const Lines& lines, const Lines& access_evictors,
                                   std::vector<std::vector<std::uint16_t>> orders) override {
    return record_on(sms_, lines, access_evictors, std::move(orders));
  }

  /// One list on every SM, few passes of it.
  std::vector<MissCounts> ask_every_sm(const Lines& list);
  /// The same order of accesses to the lines of a set on every SM, from an empty set.
  std::vector<AccessRecord> record_on_every_sm(const Lines& lines,
                                               const std::vector<std::uint16_t>& order);

  /// The same cache through other memory.
  CacheProbe at_place(Place place) const;

  /// From now on a search that takes the device too long, or asks for too many accesses, is ended:
  /// whatever is asked of the probe throws SearchOverTime then; or no longer does.
  /// @param share of what a search may take, one in so many
  void limit_search(std::uint64_t share = 1) {
    end_ = SearchEnd{run().device_s() + most_search_s / static_cast<double>(share),
                     accesses_ + most_search_accesses / share};
  }
  void unlimit_search() { end_.reset(); }

  /// How many SMs with numbers in a row may share the cache; 0: more than could be asked apart.
  int sharing_sms() const { return sharing_sms_; }

 private:
  // All of the job cache.l1 takes 1 to 3 s on an H100 and on an H200
  // (docs/results/h100.md, 2026-11-25). Behind an L2 each chase goes through most of that.
  static constexpr double most_search_s = 14;
  // Many SMs make so many at once that the time of the device does not tell what they cost here,
  // where each one's latency is looked at. The L1 of an H200 takes 17 million.
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
  std::uint64_t accesses_ = 0;  // asked for, on all SMs
  std::optional<double> outlier_share_;
  int sharing_sms_ = 1;
  std::vector<int> sms_;  // each list is chased on one of them
};

}  // namespace sonde
