// A level of a TLB for the search for sets: its lines are entries, of each of which one line is
// accessed. Chases lists of entries and counts which of their translations missed the level.
#pragma once

#include "jobs/sets/sets_probe.hpp"
#include "jobs/tlb/geometry.hpp"

#include <functional>

namespace sonde {

/// From one line under an entry to the next that is tried: 12,800 bytes, another slice of the L2.
/// By lines of one slice three entries of an H200 seemed to push each other out, again and again:
/// the way there takes some of the ten cycles that a miss costs. A multiple of two blocks next to
/// each other (see SecondAccess).
inline constexpr std::uint64_t next_line = 100;

/// When a search that begins now has to end, by JobRun::device_s(). One on an H100, whose memory
/// has hardly more entries than the level, made the job take 197 s once, where others took 8
/// (docs/results/h100.md, 2026-11-25).
double end_of_search(const JobRun& run);

/// What counts as a miss of a list of entries: an entry that usually misses; or each access, of
/// many orders and after many passes, where a level replaces at random and others miss in each
/// pass.
enum class MissesOfList { usual, single };

class TlbProbe final : public SetsProbe {
 public:
  /// Measures the noise of a translation's cost. @pre granularity, entry and entries are known
  /// @param end_device_s of JobRun::device_s(): beyond it `ask` throws SearchOverTime
  TlbProbe(const TlbUnderTest& tlb, double end_device_s,
           MissesOfList counted = MissesOfList::usual);

  /// Entries in a row, each under an inner entry of its own.
  std::optional<PassEvictors> find_pass_evictors(std::uint64_t end_bytes) override;
  std::optional<PassEvictors> find_other_pass_evictors(const PassEvictors& first) override;
  /// Entries that keep the room taken which a level of a TLB may have besides its sets.
  std::optional<PassEvictors> find_busy_evictors(const SetFindings& found) override;
  std::vector<MissCounts> ask(std::span<const Lines> lists,
                              const PassEvictors& pass_evictors) override;
  /// As many as the pass evictors, each in an inner entry of its own.
  std::optional<Lines> find_access_evictors(const SetFindings& found, const Lines& lines) override;
  std::size_t longest_record(std::size_t access_evictors, std::size_t prepared) const override;
  bool is_clear() const override { return repeats_ == 1; }
  std::vector<AccessRecord> record(const Lines& lines, const Lines& access_evictors,
                                   std::vector<std::vector<std::uint16_t>> orders,
                                   std::size_t prepared) override;

 private:
  void measure_noise();
  /// What pass evictors do to the inner levels.
  struct InPass {
    bool evicts = false;         // an entry that is asked for
    bool evicts_itself = false;  // and the evictors
  };
  InPass try_in_pass(const PassEvictors& pass_evictors, std::uint64_t end_bytes);
  MissCounts count_usual_misses(const Lines& lines, const PassEvictors& pass_evictors);
  MissCounts count_single_misses(const Lines& lines, const PassEvictors& pass_evictors,
                                 std::uint64_t settling_accesses);
  /// Answers of `count`, list by list, as long as there is time.
  MissOracle in_time(std::function<MissCounts(const Lines&)> count);
  std::vector<double> costs_of(const char* what, Offsets places, const PairPasses& passes);
  std::vector<double> costs_in_order(const std::vector<std::uint16_t>& order, const Offsets& places,
                                     const Lines& access_evictors,
                                     const std::vector<double>& warm_cycles);
  std::vector<double> costs_of_pairs_in_order(const std::vector<std::uint16_t>& order,
                                              const Lines& lines, const Lines& access_evictors);
  std::vector<double> median_costs(const char* what, const Offsets& places, std::uint64_t passes);

  TlbUnderTest tlb_;           // in one buffer that stays in its place
  std::uint64_t repeats_ = 1;  // passes whose median is taken
  double end_device_s_;
  MissesOfList counted_;
  double outlier_share_ = 0;  // hits that look like misses in one pass
};

}  // namespace sonde
