// Phases of the chase that shows all access patterns; jobs/latency/patterns runs it and sorts its
// latencies by phase.
#include "jobs/chase/pattern_order.hpp"

#include <algorithm>

namespace sonde {
namespace {

constexpr std::uint64_t alternating_pages = 12;  // each of them switches page tables but the first
constexpr std::uint64_t fewest_pages = 24;
constexpr std::uint64_t reread_pages = 8;    // whose translations are surely at hand: half of 16
constexpr std::uint64_t reread_lines = 4;    // of each
constexpr std::uint64_t repeated_loads = 3;  // of a line
constexpr std::uint64_t p3_rounds = 2;
constexpr std::uint64_t p2_rounds = 3;
// More pages than a level holds by so much: policies that protect old entries (BRRIP) let half of
// twice as many hit.
constexpr std::uint64_t overfill_of_first = 4;
constexpr std::uint64_t overfill_of_last = 3;
// Of the lines that a cache holds so many may be asked for: its sets fill unevenly.
constexpr std::uint64_t kept_share = 2;  // one half

// A translation granularity in eighths: first lines of pages in the first of them, further ones
// behind. No sector is accessed more than four times, so that a chain of addresses can hold the
// whole chase.
constexpr std::uint64_t reread_part = 2;  // and the next three
constexpr std::uint64_t near_part = 7;
constexpr std::uint64_t fewest_in_turn = 32;  // those that are read again lie in the first turn

struct Builder {
  const PatternRequest& request;
  PatternChase chase;

  /// A line in one eighth of a page: neighbours differ in their place, so they do not meet in a
  /// set. Of many pages those further on take other eighths, each as far from the first.
  std::uint64_t line_of(std::uint64_t page, std::uint64_t part = 0, std::uint64_t shift = 0) const {
    const std::uint64_t eighth_bytes = request.granularity_bytes / 8;
    const std::uint64_t lines = std::max<std::uint64_t>(1, eighth_bytes / request.line_step_bytes);
    const std::uint64_t turn = page / std::max(lines, fewest_in_turn);
    return page * request.page_step_bytes + (part + turn) % 8 * eighth_bytes +
           (page + shift) % lines * request.line_step_bytes;
  }
  void access(std::uint64_t offset) { chase.offsets.push_back(offset); }

  template <class Accesses>
  void phase(Pattern pattern, std::size_t settling, Accesses&& accesses) {
    const std::size_t start = chase.offsets.size();
    accesses();
    const std::size_t count = chase.offsets.size() - start;
    if (count > settling) chase.phases.push_back({pattern, start + settling, count - settling});
  }

  void rounds(Pattern pattern, std::uint64_t first_page, std::uint64_t pages, std::uint64_t part,
              std::uint64_t count) {
    phase(pattern, pages, [&] {
      for (std::uint64_t round = 0; round <= count; ++round) {
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

/// More pages than the first level holds, fewer than the second; 0 if there is none.
std::uint64_t between_levels(const PatternRequest& request) {
  if (request.near_entries == 0 || request.next_entries <= request.near_entries) return 0;
  return std::min(overfill_of_first * request.near_entries,
                  (request.near_entries + request.next_entries) / 2);
}

/// More pages than the last level holds, half as many again at least; 0 if memory has too few, or
/// the data cache keeps too few lines.
std::uint64_t beyond_levels(const PatternRequest& request, std::uint64_t kept_lines) {
  const std::uint64_t fewest = request.all_entries + request.all_entries / 2 + 1;
  const std::uint64_t pages =
      std::min({overfill_of_last * request.all_entries, request.most_pages, kept_lines});
  return request.near_entries == 0 || !request.knows_last || pages < fewest ? 0 : pages;
}

}  // namespace

PatternChase plan_patterns(const PatternRequest& request) {
  Builder builder{request, {}};
  const std::uint64_t kept_lines = request.most_lines / kept_share;
  const std::uint64_t beyond_all = beyond_levels(request, kept_lines);
  const std::uint64_t between = between_levels(request);
  const std::uint64_t near_pages = between <= kept_lines ? between : 0;
  const std::uint64_t pages = std::max({fewest_pages, near_pages, beyond_all});

  const std::uint64_t first_page = request.window_bytes > 0 ? alternating_pages : 0;
  if (request.window_bytes > 0) {
    builder.phase(Pattern::p6, 1, [&] {
      for (std::uint64_t page = 0; page < alternating_pages; ++page) {
        builder.access(builder.line_of(page) + page % 2 * request.window_bytes);
      }
    });
  }
  // From the top down, here and within pages: no prefetcher follows.
  builder.phase(Pattern::p5, 1, [&] {
    for (std::uint64_t page = first_page + pages; page-- > first_page;) {
      builder.access(builder.line_of(page));
    }
  });
  builder.reread(first_page);
  if (beyond_all > 0) builder.rounds(Pattern::p3, first_page, beyond_all, 0, p3_rounds);
  if (near_pages > request.near_entries) {
    builder.rounds(Pattern::p2, first_page, near_pages, near_part, p2_rounds);
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
