// A level of a TLB for the search for sets: a "line" is an entry, of which one cache line is
// accessed. Chases lists of entries and counts the translations that missed the level.
#pragma once

#include "jobs/sets/sets_probe.hpp"
#include "jobs/tlb/geometry.hpp"

#include <cstddef>
#include <cstdint>

namespace sonde {

/// From one tried line of an entry to the next, in lines: 12,800 bytes, which changes the slice of
/// the L2. On an H200 with lines of one slice, three entries repeatedly seemed to evict each other,
/// because the distance to the slice can add some of the ten cycles that a miss costs. A multiple
/// of two neighbouring blocks (see SecondAccess).
inline constexpr std::uint64_t next_line = 100;

/// The value of JobRun::device_s() at which a search that starts now must end. Without a limit, a
/// search on an H100 whose memory has hardly more entries than the level made the job take 197 s,
/// instead of 8 (2026-11-25).
double end_of_search(const JobRun& run);

class TlbProbe final : public SetsProbe {
 public:
  /// Measures the noise of the costs. @pre granularity, entry and entries are known
  /// @param end_device_s when JobRun::device_s() exceeds this, `ask` throws SearchOverTime
  TlbProbe(const TlbUnderTest& tlb, double end_device_s);

  /// Consecutive entries, each in its own inner entry.
  std::optional<PassEvictors> find_pass_evictors(std::uint64_t end_bytes) override;
  std::optional<PassEvictors> find_other_pass_evictors(const PassEvictors& first) override;
  std::vector<MissCounts> ask(std::span<const Lines> lists,
                              const PassEvictors& pass_evictors) override;
  /// As many entries as pass evictors, each in its own inner entry.
  std::optional<Lines> find_access_evictors(const SetFindings& found, const Lines& lines) override;
  std::size_t longest_record(std::size_t access_evictors) const override;
  bool is_clear() const override { return repeats_ == 1; }
  std::vector<AccessRecord> record(const Lines& lines, const Lines& access_evictors,
                                   std::vector<std::vector<std::uint16_t>> orders) override;

 private:
  /// The accesses of one pass over a list, and the position of each line of the list in them.
  struct PassOrder {
    Lines accessed;
    std::vector<std::size_t> place_of;
  };
  PassOrder order_of_pass(const Lines& lines, const PassEvictors& pass_evictors) const;
  void measure_noise();
  /// What pass evictors evict from the inner levels.
  struct InPass {
    bool evicts = false;         // a chased entry
    bool evicts_itself = false;  // the evictors as well
  };
  InPass try_in_pass(const PassEvictors& pass_evictors, std::uint64_t end_bytes);
  std::vector<MissCounts> count_misses(const std::vector<PassOrder>& orders);
  std::vector<double> costs_of(const char* what, Offsets places, const PairPasses& passes);
  std::vector<double> costs_in_order(const std::vector<std::uint16_t>& order, const Offsets& places,
                                     const Lines& access_evictors,
                                     const std::vector<double>& warm_cycles);
  std::vector<double> costs_of_pairs_in_order(const std::vector<std::uint16_t>& order,
                                              const Lines& lines, const Lines& access_evictors);

  TlbUnderTest tlb_;           // with one buffer that stays in its place
  std::vector<int> sms_;       // SMs that answer; no two share the level
  std::uint64_t repeats_ = 1;  // passes per median
  double end_device_s_;
  double outlier_share_ = 0;  // share of hits that look like misses in one pass
};

}  // namespace sonde
