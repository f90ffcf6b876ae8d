// Builds the chase that shows all access patterns; jobs/latency/patterns runs it.
#include "jobs/chase/pattern_order.hpp"

#include <algorithm>
#include <array>
#include <set>

namespace sonde {
namespace {

constexpr std::uint64_t alternating_pages = 12;  // all but the first switch page tables
constexpr std::uint64_t fewest_pages = 24;
constexpr std::uint64_t reread_pages = 16;   // enough lines to meet two L2 partitions equally
constexpr std::uint64_t reread_lines = 5;    // of each page
constexpr std::uint64_t repeated_loads = 3;  // of each line
// Only the end of a long phase counts: on an H200 the first page tables may be cached already.
constexpr std::size_t most_counted = 1024;
constexpr std::uint64_t p2_rounds = 3;
// P2 and P3 chase this many times as many pages as the level has entries. With twice as many, half
// of the accesses hit under policies that protect old entries (BRRIP).
constexpr std::uint64_t overfill_of_first = 4;
constexpr std::uint64_t overfill_of_last = 3;
// A phase may use two quarters of the lines of the data cache, because its sets fill unevenly. If
// that is too few, it may use three: most lines still stay in the cache, and the latency of hits is
// that of the most common group.
constexpr std::array<std::uint64_t, 2> kept_quarters{2, 3};

// A translation granularity is divided into eighths. The first lines of pages lie in eighth 0,
// further lines in the others. No sector is accessed more than four times, as a chain of addresses
// in memory needs a word of the sector for each access.
constexpr std::uint64_t distant_part = 1;  // first lines of pages that are accessed only once
constexpr std::uint64_t reread_part = 2;   // this eighth and the next four
constexpr std::uint64_t near_part = 7;
constexpr std::uint64_t fewest_in_turn = 32;  // all pages of reread() lie in the first turn

struct Builder {
  const PatternRequest& request;
  PatternChase chase = {};
  std::set<std::uint64_t> alternated = {};  // pages of pattern P6

  /// A line in one eighth of a page. Neighbouring pages use different places, and so different
  /// sets. After `lines` pages (at least 32) the eighths shift by one.
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

  /// Alternates between pages of two page-table windows, then of the next two, and so on.
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

  /// Accesses further lines of each of the last accessed pages. All but the first access to a page
  /// find the translation in the TLB, whatever its replacement policy.
  void reread(std::uint64_t first_page) {
    for (std::uint64_t page = first_page + reread_pages; page-- > first_page;) {
      phase(Pattern::p4, 1, [&] {
        for (std::uint64_t i = reread_lines; i-- > 0;) {
          access(line_of(page, reread_part + i, (i + 1) * reread_pages));
        }
      });
    }
  }

  /// Accesses each of these lines several times in a row, so that every cache holds it.
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

/// The wanted number of pages, or as many as the data cache keeps; 0 if below `fewest`.
std::uint64_t pages_that_stay(const PatternRequest& request, std::uint64_t wanted,
                              std::uint64_t fewest) {
  for (std::uint64_t quarters : kept_quarters) {
    const std::uint64_t pages = std::min(wanted, request.most_lines * quarters / 4);
    if (pages >= fewest) return pages;
  }
  return 0;
}

/// One and a half times as many pages as entries, which evict most of the entries.
std::uint64_t fewest_beyond(std::uint64_t entries) { return entries + entries / 2 + 1; }

/// More pages than the first level holds and fewer than the second; 0 if impossible.
std::uint64_t between_levels(const PatternRequest& request) {
  if (request.near_entries == 0 || request.next_entries <= request.near_entries) return 0;
  const std::uint64_t wanted = std::min(overfill_of_first * request.near_entries,
                                        (request.near_entries + request.next_entries) / 2);
  return pages_that_stay(request, wanted, std::min(wanted, fewest_beyond(request.near_entries)));
}

/// More pages than the last level holds; 0 if the memory or the data cache is too small.
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
  // In descending order, also within pages: prefetchers do not follow.
  builder.phase(Pattern::p5, 1, [&] {
    for (std::uint64_t page = first_page + pages; page-- > first_page;) {
      const std::uint64_t line = builder.cold_line_of(page);
      if (!builder.alternated.contains(line / request.page_step_bytes)) builder.access(line);
    }
  });
  builder.reread(first_page);
  if (beyond_all > 0) {
    // The cold pages of P5 already were a first round over the same lines.
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
