// Answers the questions of analysis/structure/conflict_search for a level of a TLB: chases lists of
// entries, one line of each, and counts which of their translations missed the level.
#pragma once

#include "analysis/structure/replacement/access_record.hpp"
#include "analysis/structure/sets/conflict_set.hpp"
#include "jobs/tlb/page_chase.hpp"

namespace sonde {

/// A level of a TLB whose outline is known.
struct TlbGeometry {
  TlbUnderTest tlb;
  std::uint64_t entry_bytes = 0;
  std::uint64_t granularity_bytes = 0;  // part of an entry that is filled on its own
  std::uint64_t entries = 0;
};

/// A line of the granularity at `entry`, drawn, so that entries of one set do not meet in caches.
/// @param shift takes others, one after the other
std::uint64_t line_under(const TlbGeometry& shape, std::uint64_t entry, std::uint64_t shift = 0);

/// Nearer entry that an entry lies under, by its number.
std::uint64_t inner_entry(const TlbGeometry& shape, std::uint64_t entry);

/// The order of accesses in which entries under one inner entry are as far apart as can be, so that
/// none hides the next.
std::vector<std::size_t> spread_accesses(const TlbGeometry& shape, const Lines& entries);

/// Numbers of the entries in rounds: in each, every one lies under a inner entry of its own.
std::vector<std::vector<std::size_t>> rounds_of_accesses(const TlbGeometry& shape,
                                                         const Lines& entries);

/// Entries accessed behind every list of a far level: they push the list's out of the inner levels
/// before it is walked again, or those would hide them. Each lies under a inner entry of its own.
struct InnerEvictors {
  Lines accessed;     // offsets, multiples of inner entries
  Lines co_resident;  // entries of the far level that they take; multiples of its entry_bytes
  Lines excluded;     // other entries under the same inner ones, which answer for them
};

/// "Lines" are entries: offsets that are multiples of entry_bytes.
class TlbOracle {
 public:
  /// Measures the noise of a translation's cost. @pre run outlives the oracle
  /// @param span_bytes memory of every chase: a buffer that stays in its place
  TlbOracle(JobRun& run, const PageChaseSetup& setup, const TlbGeometry& shape,
            std::uint64_t span_bytes);

  /// As few inner entries as possible that end at `end_bytes`, lie in a row, fit the level, and
  /// push entries out of inner levels. Found by trying; empty at the nearest level; nullopt if
  /// those that do would take more than half of the level.
  std::optional<InnerEvictors> find_pass_evictors(std::uint64_t end_bytes);

  /// Walks each list, and the pass_evictors behind it, from one pass to the next until it is
  /// steady, then a few passes more.
  std::vector<MissCounts> ask(std::span<const Lines> lists, const InnerEvictors& pass_evictors);

  /// One chase over `lines` in each of the orders. Behind each access `access_evictors` is
  /// accessed.
  std::vector<AccessRecord> record(const Lines& lines, const Lines& access_evictors,
                                   std::vector<std::vector<std::uint16_t>> orders);

  /// Most accesses of one of record's chases.
  std::size_t longest_record(const Lines& access_evictors) const;

  /// Whether a single access tells a miss from a hit.
  bool is_clear() const { return repeats_ == 1; }

 private:
  MissCounts chase(const Lines& lines, const InnerEvictors& pass_evictors);
  bool evicts_in_pass(const InnerEvictors& pass_evictors, std::uint64_t end_bytes);
  void measure_noise();
  std::vector<double> costs_of(const std::string& what, const Offsets& places,
                               const PairPasses& passes);

  JobRun& run_;
  const PageChaseSetup setup_;
  const TlbGeometry shape_;
  std::uint64_t repeats_ = 1;  // passes whose median is taken
  double slow_share_ = 0;      // hits that look like misses in one pass
};

}  // namespace sonde
