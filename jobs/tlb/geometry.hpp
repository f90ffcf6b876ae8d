// A level of the TLB: how much memory it translates anew, what one entry covers, what all entries
// reach; and lists of its entries in an order in which neither data caches nor inner levels
// disturb. Each step is one question to the device and one pure inference; jobs/tlb/levels reports.
#pragma once

#include "analysis/structure/capacity/capacity_search.hpp"
#include "analysis/structure/capacity/miss_blocks.hpp"
#include "analysis/structure/sets/conflict_set.hpp"
#include "jobs/tlb/page_chase.hpp"

namespace sonde {

/// So many times the entries of the inner levels push all of those out.
inline constexpr std::uint64_t overfilling_share = 2;

/// The levels that a translation asks before the one under test: what they hold does not reach it.
struct InnerTlbs {
  std::uint64_t step_bytes = 0;         // their largest entry; 0: there are none
  std::uint64_t answered_bytes = 0;     // around an access: less, if entries fill part by part
  std::uint64_t pages = 0;              // so many entries of that size push all others out
  std::uint64_t entries = 0;            // of the largest of them
  std::uint64_t overflowing_bytes = 0;  // a span that overflows each of them
  double threshold_cycles = 0;          // a cost above it misses all of them
  std::uint64_t granularity_bytes = 0;  // of translations of the last one; 0: not known
  std::uint64_t page_bytes = 0;         // the smallest of those seen
};

/// A level of a TLB as page-stride chases see it. What is not known yet is 0.
struct TlbUnderTest : PageChaseSetup {
  std::string name = {};  // prefix of its metrics, in labels of probes
  TlbLevel level = {};
  InnerTlbs inner = {};
  std::uint64_t granularity_bytes = 0;  // translation granularity: filled on its own
  std::uint64_t entry_bytes = 0;        // one or several granularities
  std::uint64_t entries = 0;
  std::vector<int> sms_apart = {};  // of which no two share the level

  /// The smallest distance at which every access asks this level for another entry.
  std::uint64_t step_bytes() const { return std::max(entry_bytes, inner.answered_bytes); }
};

/// A line of the granularity at `entry`, chosen at random, so that entries of one set do not meet
/// in caches.
/// @param shift takes others, one after the other
std::uint64_t line_under(const TlbUnderTest& tlb, std::uint64_t entry, std::uint64_t shift = 0);

/// The inner entry that an entry lies under, by its number.
std::uint64_t inner_entry(const TlbUnderTest& tlb, std::uint64_t entry);

/// Numbers of the entries in rounds: in each, every one lies under an inner entry of its own, so
/// that none answers for the next.
std::vector<std::vector<std::size_t>> rounds_of_accesses(const TlbUnderTest& tlb,
                                                         const Lines& entries);

/// Places that are asked where one says nothing.
inline constexpr std::size_t asked_places = 3;

/// The same level through other memory and on another SM.
TlbUnderTest at_other_place(TlbUnderTest tlb, const std::string& what, std::size_t draw);

/// Smallest part of memory that is translated anew: the distance between misses of fresh
/// translations in small steps, at up to three places. nullopt if it is larger than the chase could
/// show.
std::optional<BlockSize> measure_granularity(const TlbUnderTest& tlb);

/// The capacity bound of the level in steps of `step_bytes`, or coarser where those were too many
/// pages, to the precision asked (0: to one step). Lines stay within the first granularity of each
/// page, so that the pages are those meant.
CapacityBound measure_reach(const TlbUnderTest& tlb, std::uint64_t step_bytes,
                            double relative_precision = 0);

/// How to tell of every single page whether it misses, by the median over several lines of it.
struct PageByPage {
  std::uint64_t lines = 0;
  double threshold_cycles = 0;
};

/// @param usual_lines where costs of single accesses tell a miss; more where they do not. On an
/// H100 the first level costs ten cycles, single accesses scatter by four, and the threshold of
/// many pages, which lies above nearly all hits, left out enough misses of five lines to double the
/// page in 2 of 43 runs.
PageByPage tell_page_by_page(const TlbUnderTest& tlb, std::uint64_t usual_lines);

/// Distance of the pages of a chase over a span: `step_bytes`, or more where those were too many,
/// or less where inner levels would answer for all of them.
std::uint64_t page_step_over(const TlbUnderTest& tlb, std::uint64_t span_bytes,
                             std::uint64_t step_bytes);

/// Share of the steps of a span that miss.
double missing_share_at(const TlbUnderTest& tlb, std::uint64_t span_bytes,
                        std::uint64_t step_bytes);

}  // namespace sonde
