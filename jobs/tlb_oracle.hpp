// Answers the questions of analysis/structure/conflict_search for a level of a TLB: walks lists of
// entries, one line of each, and counts which of their translations missed the level.
#pragma once

#include "analysis/structure/conflict_search.hpp"
#include "analysis/structure/set_record.hpp"
#include "jobs/page_walk.hpp"

namespace sonde {

/// A level of a TLB whose outline is known.
struct TlbShape {
  TlbSubject tlb;
  std::uint64_t entry_bytes = 0;
  std::uint64_t granule_bytes = 0;  // part of an entry that is filled on its own
  std::uint64_t entries = 0;
};

/// A line of the granule at `entry`, drawn, so that entries of one set do not meet in caches.
/// @param shift takes others, one after the other
std::uint64_t line_under(const TlbShape& shape, std::uint64_t entry, std::uint64_t shift = 0);

/// Nearer entry that an entry lies under, by its number.
std::uint64_t nearer_entry(const TlbShape& shape, std::uint64_t entry);

/// The order of visits in which entries under one nearer entry are as far apart as can be, so that
/// none hides the next.
std::vector<std::size_t> spread_visits(const TlbShape& shape, const Lines& entries);

/// Numbers of the entries in rounds: in each, every one lies under a nearer entry of its own.
std::vector<std::vector<std::size_t>> rounds_of_visits(const TlbShape& shape, const Lines& entries);

/// Entries visited behind every list of a far level: they push the list's out of the nearer levels
/// before it is walked again, or those would hide them. Each lies under a nearer entry of its own.
struct TlbScrub {
  Lines visited;  // offsets, multiples of nearer entries
  Lines beside;   // entries of the far level that they take; multiples of its entry_bytes
  Lines hidden;   // other entries under the same nearer ones, which answer for them
};

/// "Lines" are entries: offsets that are multiples of entry_bytes.
class TlbOracle {
 public:
  /// Measures the noise of a translation's cost. @pre run outlives the oracle
  /// @param span_bytes memory of every walk: a buffer that stays in its place
  TlbOracle(JobRun& run, const PageSetup& setup, const TlbShape& shape, std::uint64_t span_bytes);

  /// As few nearer entries as possible that end at `end_bytes`, lie in a row, fit the level, and
  /// push entries out of nearer levels. Found by trying; empty at the nearest level; nullopt if
  /// those that do would take more than half of the level.
  std::optional<TlbScrub> find_scrub(std::uint64_t end_bytes);

  /// Walks each list, and the scrub behind it, from one pass to the next until it is steady, then a
  /// few passes more.
  std::vector<MissCounts> ask(std::span<const Lines> lists, const TlbScrub& scrub);

  /// One walk over `lines` in each of the orders. Behind each visit `rinse` is visited.
  std::vector<SetRecord> record(const Lines& lines, const Lines& rinse,
                                std::vector<std::vector<std::uint16_t>> orders);

  /// Most visits of one of record's walks.
  std::size_t longest_record(const Lines& rinse) const;

  /// Whether a single visit tells a miss from a hit.
  bool is_clear() const { return repeats_ == 1; }

 private:
  MissCounts walk(const Lines& lines, const TlbScrub& scrub);
  bool is_scrub(const TlbScrub& scrub, std::uint64_t end_bytes);
  void measure_noise();
  std::vector<double> costs_of(const std::string& what, const Offsets& places,
                               const PairPasses& passes);

  JobRun& run_;
  const PageSetup setup_;
  const TlbShape shape_;
  std::uint64_t repeats_ = 1;  // passes whose median is taken
  double slow_share_ = 0;      // hits that look like misses in one pass
};

}  // namespace sonde
