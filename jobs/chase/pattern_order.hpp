// The chase that shows all access patterns P1 to P6 (Mei and Chu 2016, section 5.2, figure 13): its
// offsets, and which positions show which pattern. Pure.
#pragma once

#include "analysis/structure/latency/latency_patterns.hpp"
#include "jobs/chase/access_order.hpp"

namespace sonde {

struct PatternRequest {
  std::uint64_t page_step_bytes = 0;    // each step needs a new entry in every TLB level
  std::uint64_t granularity_bytes = 0;  // further lines of a page stay within this
  std::uint64_t near_entries = 0;       // pages that the first TLB level holds; 0: no TLB known
  std::uint64_t next_entries = 0;       // pages that the second level holds; 0: none known
  std::uint64_t all_entries = 0;        // pages that the last known level holds
  bool knows_last = false;              // the last known level is the last of the GPU
  std::uint64_t most_pages = 0;         // pages of the memory
  std::uint64_t most_lines = 0;         // lines of the data cache of the path
  std::uint64_t line_step_bytes = 0;    // the line moves this far within the page from page to page
  std::uint64_t window_bytes = 0;       // of active page tables; 0: none known
  // step of P5 and P6 in pages; above 1 if an entry may cover several
  std::uint64_t cold_distance = 1;
};

/// Number of pages of P5 and P6 together if `cold_distance` is more than 1.
inline constexpr std::uint64_t distant_cold_pages = 36;

struct PatternPhase {
  Pattern pattern = Pattern::p1;
  std::size_t first = 0;
  std::size_t count = 0;
};

struct PatternChase {
  Offsets offsets;                   // recorded from the first access on, after a flush
  std::vector<PatternPhase> phases;  // settling accesses belong to no phase
  std::uint64_t span_bytes = 0;
};

/// In order: cold pages of two page-table windows alternately (P6); cold pages in a row (P5);
/// further lines of the last of these pages (P4); rounds over more pages than the TLB holds (P3);
/// rounds over more pages than its first level holds (P2); each line of P4 several times in a row
/// (P1). P2 and P3 are left out if no TLB is known, or if their lines do not fit into three
/// quarters of the data cache (they use half of it if that suffices). P3 is also left out if the
/// last level is not known or the memory has too few pages, P6 if there is no page-table window.
PatternChase plan_patterns(const PatternRequest& request);

/// Sorts latencies by pattern. @param position_cycles one latency for each offset of the chase
PatternLatencies sort_by_pattern(const PatternChase& chase,
                                 const std::vector<double>& position_cycles);

}  // namespace sonde
