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

/// A line of the first granule of an entry, drawn, so that entries of one set do not meet in
/// caches.
/// @param shift takes others, one after the other
std::uint64_t line_under(const TlbShape& shape, std::uint64_t entry, std::uint64_t shift = 0);

/// Nearer entry that an entry lies under, by its number.
std::uint64_t nearer_entry(const TlbShape& shape, std::uint64_t entry);

/// The order of visits in which entries under one nearer entry are as far apart as can be, so that
/// none hides the next.
std::vector<std::size_t> spread_visits(const TlbShape& shape, const Lines& entries);

/// "Lines" are entries: offsets that are multiples of entry_bytes. A nearer level hides a farther
/// one, so where a list would fit into it, entries are visited beside the list that are known to
/// share no set with any of its own: some missed in an earlier walk in which the others never did.
class TlbOracle {
 public:
  /// Measures the noise of a translation's cost. @pre run outlives the oracle
  /// @param span_bytes memory of every walk: a buffer that stays in its place
  TlbOracle(JobRun& run, const PageSetup& setup, const TlbShape& shape, std::uint64_t span_bytes);

  /// Walks each list from one pass to the next until it is steady, then a few passes more.
  std::vector<MissCounts> ask(std::span<const Lines> lists);

  /// Entries that share no set with any of `lines`, at most `wanted`, each under a nearer entry of
  /// its own.
  Lines find_apart(const Lines& lines, std::size_t wanted) const;

  /// One walk over `lines` in each of the orders. Behind each visit `rinse` is visited.
  std::vector<SetRecord> record(const Lines& lines, const Lines& rinse,
                                std::vector<std::vector<std::uint16_t>> orders);

  /// Most visits of one of record's walks.
  std::size_t longest_record(const Lines& rinse) const;

  /// So many entries of nearer levels push all others out; 0 at the nearest level.
  std::size_t hiding_entries() const { return hiding_entries_; }

  /// Whether a single visit tells a miss from a hit.
  bool is_clear() const { return repeats_ == 1; }

 private:
  /// A steady walk that parted its entries: none of one kind shares a set with one of the other.
  struct Parting {
    Lines missed;  // sorted
    Lines held;    // sorted
  };

  MissCounts walk(const Lines& lines, std::size_t listed);
  void measure_noise();
  std::vector<double> costs_of(const std::string& what, const Offsets& places,
                               const PairPasses& passes);
  void learn(const Lines& lines, const MissCounts& counts);
  std::vector<const Lines*> apart_from(std::uint64_t line) const;

  JobRun& run_;
  const PageSetup setup_;
  const TlbShape shape_;
  std::size_t hiding_entries_ = 0;
  std::uint64_t repeats_ = 1;  // passes whose median is taken
  double slow_share_ = 0;      // hits that look like misses in one pass
  std::vector<Parting> partings_;
};

}  // namespace sonde
