// A level of a TLB for the search for sets: its lines are entries, of each of which one line is
// accessed. Chases lists of entries and counts which of their translations missed the level.
#pragma once

#include "jobs/sets/sets_probe.hpp"
#include "jobs/tlb/geometry.hpp"

#include <cstddef>
#include <cstdint>
#include <set>

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

class TlbProbe final : public SetsProbe {
 public:
  /// Measures the noise of a translation's cost. @pre granularity, entry and entries are known
  /// @param end_device_s of JobRun::device_s(): beyond it `ask` throws SearchOverTime
  TlbProbe(const TlbUnderTest& tlb, double end_device_s);

  /// Entries in a row, each under an inner entry of its own.
  std::optional<PassEvictors> find_pass_evictors(std::uint64_t end_bytes) override;
  std::optional<PassEvictors> find_other_pass_evictors(const PassEvictors& first) override;
  std::vector<MissCounts> ask(std::span<const Lines> lists,
                              const PassEvictors& pass_evictors) override;
  /// As many as the pass evictors, each in an inner entry of its own.
  std::optional<Lines> find_access_evictors(const SetFindings& found, const Lines& lines) override;
  std::size_t longest_record(std::size_t access_evictors) const override;
  bool is_clear() const override { return repeats_ == 1; }
  std::vector<AccessRecord> record(const Lines& lines, const Lines& access_evictors,
                                   std::vector<std::vector<std::uint16_t>> orders) override;

 private:
  /// Accesses of one pass over a list, and where in it each line of the list is met.
  struct PassOrder {
    Lines accessed;
    std::vector<std::size_t> place_of;
  };
  PassOrder order_of_pass(const Lines& lines, const PassEvictors& pass_evictors) const;
  void measure_noise();
  /// What pass evictors do to the inner levels.
  struct InPass {
    bool evicts = false;         // an entry that is asked for
    bool evicts_itself = false;  // and the evictors
  };
  InPass try_in_pass(const PassEvictors& pass_evictors, std::uint64_t end_bytes);
  std::vector<MissCounts> count_misses(const std::vector<PassOrder>& orders);
  std::vector<double> costs_of(const char* what, Offsets places, const PairPasses& passes);
  std::vector<double> costs_in_order(const std::vector<std::uint16_t>& order, const Offsets& places,
                                     const Lines& access_evictors,
                                     const std::vector<double>& warm_cycles);
  std::vector<double> costs_of_pairs_in_order(const std::vector<std::uint16_t>& order,
                                              const Lines& lines, const Lines& access_evictors);

  TlbUnderTest tlb_;           // in one buffer that stays in its place
  std::vector<int> sms_;       // that answer, of which no two share the level
  std::uint64_t repeats_ = 1;  // passes whose median is taken
  double end_device_s_;
  double outlier_share_ = 0;  // hits that look like misses in one pass
};

/// Where one of the translations begins that an entry, or an inner one if that is smaller, has: in
/// bytes from its begin. Equal numbers give the same one.
std::uint64_t any_translation(const TlbUnderTest& tlb, std::uint64_t number);

/// One entry under each of `count` inner entries in a row from `first_bytes` on, each at another of
/// its translations: levels of smaller entries may choose their sets by those.
PassEvictors entries_in_a_row(const TlbUnderTest& tlb, std::uint64_t first_bytes,
                              std::uint64_t count);

/// Entries at random, each under an inner entry of its own and of none of those in `taken`: as many
/// as so many draws find.
Lines draw_entries(const TlbUnderTest& tlb, const LinePool& pool, std::set<std::uint64_t> taken,
                   std::size_t draws);

}  // namespace sonde
