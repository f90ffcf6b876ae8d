// Phases of the chase that shows all access patterns; jobs/latency/patterns runs it and sorts its
// latencies by phase.
#include "jobs/chase/pattern_order.hpp"

#include <algorithm>
#include <array>
#include <set>

namespace sonde {
namespace {

constexpr std::uint64_t alternating_pages = 12;  // each of them switches page tables but the first
constexpr std::uint64_t fewest_pages = 24;
constexpr std::uint64_t reread_pages = 16;   // enough lines to meet two partitions alike
constexpr std::uint64_t reread_lines = 5;    // of each
constexpr std::uint64_t repeated_loads = 3;  // of a line
// Of a long phase the end counts: on an H200 page tables of the first cold pages may be at hand.
constexpr std::size_t most_counted = 1024;
constexpr std::uint64_t p2_rounds = 3;
// More pages than a level holds by so much: policies that protect old entries (BRRIP) let half of
// twice as many hit.
constexpr std::uint64_t overfill_of_first = 4;
constexpr std::uint64_t overfill_of_last = 3;
// Of the lines that a cache holds so many quarters may be asked for: its sets fill unevenly. More
// than half only where that is too few: most lines stay all the same, and hits take the commonest
// group of latencies.
constexpr std::array<std::uint64_t, 2> kept_quarters{2, 3};

// A translation granularity in eighths: first lines of pages in the first of them, further ones
// behind. No sector is accessed more than four times, so that a chain of addresses can hold the
// whole chase.
constexpr std::uint64_t distant_part = 1;  // first lines of pages that are met only once
constexpr std::uint64_t reread_part = 2;   // and the next four
constexpr std::uint64_t near_part = 7;
constexpr std::uint64_t fewest_in_turn = 32;  // those that are read again lie in the first turn

struct Builder {
  const PatternRequest& request;
  PatternChase chase = {};
  std::set<std::uint64_t> alternated = {};  // pages of P6

  /// A line in one eighth of a page: neighbours differ in their place, so they do not meet in a
  /// set. Of many pages those further on take other eighths, each as far from the first.
  std::uint64_t line_of(std::uint64_t page, std::uint64_t part = 0, std::uint64_t shift = 0) const {
    const std::uint64_t eighth_bytes = request.granularity_bytes / 8;
    const std::uint64_t lines = std::max<std::uint64_t>(1, eighth_bytes / request.line_step_bytes);
    const std::uint64_t turn = page / std::max(lines, fewest_in_turn);
    return page * request.page_step_bytes + (part + turn) % 8 * eighth_bytes +
           (page + shift) % lines * request.line_step_bytes;
  }
  /// A line of a page that was not accessed before.
  std::uint64_t cold_line_of(std::uint64_t page) const {
    if (request.cold_distance == 1) return line_of(page);
    return line_of(page * request.cold_distance, distant_part);
  }
  void access(std::uint64_t offset) { chase.offsets.push_back(offset); }

  /// Pages of two page-table windows by turns, those of two more where these have no further ones.
  void alternate() {
    const std::uint64_t distance_bytes = request.cold_distance * request.page_step_bytes;
    const std::uint64_t of_window =
        std::max<std::uint64_t>(1, request.window_bytes / distance_bytes);
    for (std::uint64_t turn = 0; turn < alternating_pages; ++turn) {
      const std::uint64_t number = turn / 2;
      const std::uint64_t page = number / of_window * 2 * of_window + number % of_window;
      access(cold_line_of(page) + turn % 2 * request.window_bytes);
      alternated.insert(chase.offsets.back() / request.page_step_bytes);
    }
  }

  template <class Accesses>
  void phase(Pattern pattern, std::size_t settling, Accesses&& accesses) {
    const std::size_t start = chase.offsets.size();
    accesses();
    const std::size_t count = chase.offsets.size() - start;
    settling = std::max(settling, count - std::min(count, most_counted));
    if (count > settling) chase.phases.push_back({pattern, start + settling, count - settling});
  }

  void rounds(Pattern pattern, std::uint64_t first_page, std::uint64_t pages, std::uint64_t part,
              std::uint64_t settling, std::uint64_t count) {
    phase(pattern, settling * pages, [&] {
      for (std::uint64_t round = 0; round < settling + count; ++round) {
        for (std::uint64_t page = first_page + pages; page-- > first_page;) {
          access(line_of(page, part));
        }
      }
    });
  }

  /// Further lines of each of the last accessed pages in a row: the translation is at hand for all
  /// but the first, whatever the levels of the TLB replace.
  void reread(std::uint64_t first_page) {
    for (std::uint64_t page = first_page + reread_pages; page-- > first_page;) {
      phase(Pattern::p4, 1, [&] {
        for (std::uint64_t i = reread_lines; i-- > 0;) {
          access(line_of(page, reread_part + i, (i + 1) * reread_pages));
        }
      });
    }
  }

  /// Each of these lines several times in a row: it is in every cache, whatever that replaces.
  void repeat(std::uint64_t first_page) {
    for (std::uint64_t page = first_page + reread_pages; page-- > first_page;) {
      for (std::uint64_t i = reread_lines; i-- > 0;) {
        phase(Pattern::p1, 1, [&] {
          for (std::uint64_t load = 0; load < repeated_loads; ++load) {
            access(line_of(page, reread_part + i, (i + 1) * reread_pages));
          }
        });
      }
    }
  }
};

/// As many pages as are wanted, or as the data cache keeps lines; 0 if those are too few.
std::uint64_t pages_that_stay(const PatternRequest& request, std::uint64_t wanted,
                              std::uint64_t fewest) {
  for (std::uint64_t quarters : kept_quarters) {
    const std::uint64_t pages = std::min(wanted, request.most_lines * quarters / 4);
    if (pages >= fewest) return pages;
  }
  return 0;
}

/// Half as many pages again as entries: so many push most of them out.
std::uint64_t fewest_beyond(std::uint64_t entries) { return entries + entries / 2 + 1; }

/// More pages than the first level holds, fewer than the second; 0 if there is none.
std::uint64_t between_levels(const PatternRequest& request) {
  if (request.near_entries == 0 || request.next_entries <= request.near_entries) return 0;
  const std::uint64_t wanted = std::min(overfill_of_first * request.near_entries,
                                        (request.near_entries + request.next_entries) / 2);
  return pages_that_stay(request, wanted, std::min(wanted, fewest_beyond(request.near_entries)));
}

/// More pages than the last level holds; 0 if memory has too few, or the data cache keeps too few
/// lines.
std::uint64_t beyond_levels(const PatternRequest& request) {
  if (request.near_entries == 0 || !request.knows_last) return 0;
  return pages_that_stay(request,
                         std::min(overfill_of_last * request.all_entries, request.most_pages),
                         fewest_beyond(request.all_entries));
}

}  // namespace

PatternChase plan_patterns(const PatternRequest& request) {
  Builder builder{request};
  const std::uint64_t beyond_all = beyond_levels(request);
  const std::uint64_t near_pages = between_levels(request);
  const std::uint64_t pages = request.cold_distance == 1
                                  ? std::max({fewest_pages, near_pages, beyond_all})
                                  : distant_cold_pages - alternating_pages;

  const std::uint64_t first_page = request.window_bytes > 0 ? alternating_pages : 0;
  if (request.window_bytes > 0) {
    builder.phase(Pattern::p6, 1, [&] { builder.alternate(); });
  }
  // From the top down, here and within pages: no prefetcher follows.
  builder.phase(Pattern::p5, 1, [&] {
    for (std::uint64_t page = first_page + pages; page-- > first_page;) {
      const std::uint64_t line = builder.cold_line_of(page);
      if (!builder.alternated.contains(line / request.page_step_bytes)) builder.access(line);
    }
  });
  builder.reread(first_page);
  if (beyond_all > 0) {
    // The cold pages in a row were a first round over the same lines.
    const std::uint64_t settling = request.cold_distance == 1 ? 0 : 1;
    builder.rounds(Pattern::p3, first_page, beyond_all, 0, settling, 1);
  }
  if (near_pages > request.near_entries) {
    builder.rounds(Pattern::p2, first_page, near_pages, near_part, 1, p2_rounds);
  }
  builder.repeat(first_page);
  builder.chase.span_bytes =
      *std::max_element(builder.chase.offsets.begin(), builder.chase.offsets.end()) + 8;
  return builder.chase;
}

PatternLatencies sort_by_pattern(const PatternChase& chase,
                                 const std::vector<double>& position_cycles) {
  PatternLatencies sorted;
  for (const PatternPhase& phase : chase.phases) {
    auto& latencies = sorted[static_cast<std::size_t>(phase.pattern)];
    for (std::size_t i = 0; i < phase.count; ++i) {
      latencies.push_back(position_cycles.at(phase.first + i));
    }
  }
  return sorted;
}

}  // namespace sonde
