// The one chase that shows all access patterns P1 to P6 (Mei and Chu 2016, section 5.2, figure 13):
// its offsets, and which places were built to show which pattern. Pure.
#pragma once

#include "analysis/structure/latency/latency_patterns.hpp"
#include "jobs/chase/access_order.hpp"

namespace sonde {

struct PatternRequest {
  std::uint64_t page_step_bytes = 0;    // each step a new entry in every level of the TLB
  std::uint64_t granularity_bytes = 0;  // second lines of a page stay within this
  std::uint64_t near_entries = 0;       // pages that the first level holds; 0: no TLB known
  std::uint64_t next_entries = 0;       // pages that the second level holds; 0: none known
  std::uint64_t all_entries = 0;        // pages that the last known level holds
  bool knows_last = false;              // it is the last one
  std::uint64_t most_pages = 0;         // that memory has
  std::uint64_t most_lines = 0;         // that the data cache of the path holds
  std::uint64_t line_step_bytes = 0;  // lines of neighbouring pages lie so far apart in their pages
  std::uint64_t window_bytes = 0;     // of active page tables; 0: none known
  std::uint64_t cold_distance = 1;    // P5 and P6: from one of their pages to the next; more than 1
                                      // where an entry may cover several of these pages
};

/// Pages of P5 and P6 where `cold_distance` is more than 1.
inline constexpr std::uint64_t distant_cold_pages = 36;

struct PatternPhase {
  Pattern pattern = Pattern::p1;
  std::size_t first = 0;
  std::size_t count = 0;
};

struct PatternChase {
  Offsets offsets;                   // to be recorded from the first access on, after a flush
  std::vector<PatternPhase> phases;  // settling accesses between them belong to none
  std::uint64_t span_bytes = 0;
};

/// Cold pages in two page-table windows by turns (P6), cold pages in a row (P5), further lines of
/// each of the last of them in a row (P4), rounds over more pages than the TLB holds (P3), over
/// more than its first level holds (P2), and the lines of P4 one by one, each several times (P1).
/// P2 and P3 are left out if their lines do not fit into three quarters of the data cache (they
/// take half of it if that suffices) or no TLB is known, P3 also if its last level is not known or
/// memory has too few pages, P6 without such a window.
PatternChase plan_patterns(const PatternRequest& request);

/// Latencies by pattern. @param position_cycles one latency for each offset of the chase
PatternLatencies sort_by_pattern(const PatternChase& chase,
                                 const std::vector<double>& position_cycles);

}  // namespace sonde
