// A level of the TLB: its translation granularity, the memory that an entry covers, its reach, and
// lists of its entries in an order that neither data caches nor inner levels disturb. Each step is
// one measurement and one pure inference; jobs/tlb/levels reports.
#pragma once

#include "analysis/structure/capacity/capacity_search.hpp"
#include "analysis/structure/capacity/miss_blocks.hpp"
#include "analysis/structure/sets/conflict_set.hpp"
#include "jobs/tlb/page_chase.hpp"

namespace sonde {

/// This many times the entries of the inner levels evict all entries from them.
inline constexpr std::uint64_t overfilling_share = 2;

/// The levels before the one under test. Translations that they hold do not reach it.
struct InnerTlbs {
  std::uint64_t step_bytes = 0;         // their largest entry; 0: there are none
  std::uint64_t answered_bytes = 0;     // that one access fills: an entry, or a part of it
  std::uint64_t pages = 0;              // this many entries of that size evict all others
  std::uint64_t entries = 0;            // of the largest inner level
  std::uint64_t overflowing_bytes = 0;  // a span that overflows every inner level
  double threshold_cycles = 0;          // accesses above it missed all of them
  std::uint64_t granularity_bytes = 0;  // translation granularity of the last of them; 0: not known
  std::uint64_t page_bytes = 0;         // smallest granularity seen
};

/// A level of a TLB as page-stride chases see it. Unknown values are 0.
struct TlbUnderTest : PageChaseSetup {
  std::string name = {};  // prefix of its metrics, and of labels of probes
  TlbLevel level = {};
  InnerTlbs inner = {};
  std::uint64_t granularity_bytes = 0;  // translation granularity, which is filled at once
  std::uint64_t entry_bytes = 0;        // one or several granularities
  std::uint64_t entries = 0;
  std::vector<int> sms_apart = {};  // no two of these SMs share the level

  /// The smallest distance at which every access needs another entry of this level.
  std::uint64_t step_bytes() const { return std::max(entry_bytes, inner.answered_bytes); }
};

/// A pseudo-random line of the granularity at `entry`, so that entries of one set use different
/// cache sets.
/// @param shift chooses other lines in turn
std::uint64_t line_under(const TlbUnderTest& tlb, std::uint64_t entry, std::uint64_t shift = 0);

/// Number of the inner entry that covers an entry.
std::uint64_t inner_entry(const TlbUnderTest& tlb, std::uint64_t entry);

/// Groups the entries into rounds (by their indices). All entries of a round lie in different inner
/// entries, so that no inner entry serves two accesses in a row.
std::vector<std::vector<std::size_t>> rounds_of_accesses(const TlbUnderTest& tlb,
                                                         const Lines& entries);

/// Number of places that are tried if one gives no result.
inline constexpr std::size_t asked_places = 3;

/// The same level through other memory and on another SM.
TlbUnderTest at_other_place(TlbUnderTest tlb, const std::string& what, std::size_t draw);

/// Translation granularity: the distance between misses of fresh translations in small steps, at up
/// to three places. nullopt if it is too large for the chase.
std::optional<BlockSize> measure_granularity(const TlbUnderTest& tlb);

/// The capacity bound of the level in steps of `step_bytes`, or wider steps if these were too many
/// pages. Lines lie in the first granularity of each page, so that each page needs one translation.
/// @param relative_precision 0: to one step
CapacityBound measure_reach(const TlbUnderTest& tlb, std::uint64_t step_bytes,
                            double relative_precision = 0);

/// Distance of the pages of a chase over a span: `step_bytes`; more if these were too many pages;
/// less if inner levels would hold all of them.
std::uint64_t page_step_over(const TlbUnderTest& tlb, std::uint64_t span_bytes,
                             std::uint64_t step_bytes);

/// Share of the steps of a span that miss the level.
double missing_share_at(const TlbUnderTest& tlb, std::uint64_t span_bytes,
                        std::uint64_t step_bytes);

}  // namespace sonde
