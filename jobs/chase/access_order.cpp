// Builds the lists of offsets that jobs/chase/pointer_chase runs.
#include "jobs/chase/access_order.hpp"

#include "base/error.hpp"
#include "base/gpu_facts.hpp"
#include "base/random.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <unordered_map>
#include <utility>

namespace sonde {

Offsets ascending_order(std::uint64_t span_bytes, std::uint64_t step_bytes) {
  require(step_bytes > 0 && span_bytes >= step_bytes, "a chase needs at least one step");
  Offsets offsets(span_bytes / step_bytes);
  for (std::size_t i = 0; i < offsets.size(); ++i) offsets[i] = i * step_bytes;
  return offsets;
}

Offsets descending_order(std::uint64_t span_bytes, std::uint64_t step_bytes) {
  Offsets offsets = ascending_order(span_bytes, step_bytes);
  std::reverse(offsets.begin(), offsets.end());
  return offsets;
}

Offsets shuffled_order(std::uint64_t span_bytes, std::uint64_t step_bytes, std::uint64_t seed) {
  Offsets offsets = ascending_order(span_bytes, step_bytes);
  require(offsets.size() <= std::numeric_limits<std::uint32_t>::max(), "a chase is too long");
  // 32-bit numbers halve the host memory that the shuffle touches.
  std::vector<std::uint32_t> steps(offsets.size());
  std::iota(steps.begin(), steps.end(), 0u);
  Random random(seed);
  shuffle(steps, random);
  for (std::size_t i = 0; i < steps.size(); ++i) offsets[i] = steps[i] * step_bytes;
  return offsets;
}

Offsets sparse_order(std::uint64_t span_bytes, std::uint64_t block_bytes, std::uint64_t unit_bytes,
                     std::uint64_t seed) {
  require(block_bytes >= 2 * unit_bytes, "a sparse chase needs two units in a block");
  Offsets offsets = ascending_order(span_bytes, block_bytes);
  Random random(seed);
  for (std::uint64_t& offset : offsets) offset += random.below(2) * block_bytes / 2;
  shuffle(offsets, random);
  return offsets;
}

Offsets page_by_page(Offsets offsets) {
  std::unordered_map<std::uint64_t, std::size_t> ranks;
  std::vector<Offsets> pages;
  for (const std::uint64_t offset : offsets) {
    const auto rank = ranks.try_emplace(offset / smallest_page_bytes, ranks.size()).first->second;
    if (rank == pages.size()) pages.emplace_back();
    pages[rank].push_back(offset);
  }
  std::map<std::uint64_t, Offsets> rounds;  // by the place in the longest fetch
  for (const Offsets& page : pages) {
    for (const std::uint64_t offset : page) rounds[offset % longest_fetch_bytes].push_back(offset);
  }
  offsets.clear();
  for (const auto& [place, round] : rounds)
    offsets.insert(offsets.end(), round.begin(), round.end());
  return offsets;
}

Offsets translated_pairs(std::uint64_t span_bytes, std::uint64_t line_bytes, std::uint64_t seed) {
  constexpr std::uint64_t page_bytes = smallest_page_bytes / 2;
  const std::uint64_t pairs_of_page = page_bytes / line_bytes / 2;
  require(span_bytes >= page_bytes && pairs_of_page > 0, "no two lines of the span share a page");
  Random random(derive_seed(seed, "first of a pair"));
  Offsets offsets;
  for (std::uint64_t pair : shuffled_order(span_bytes / page_bytes * pairs_of_page, 1, seed)) {
    const std::uint64_t lower =
        pair / pairs_of_page * page_bytes + pair % pairs_of_page * line_bytes;
    const std::uint64_t first = random.below(2);
    offsets.push_back(lower + first * pairs_of_page * line_bytes);
    offsets.push_back(lower + (1 - first) * pairs_of_page * line_bytes);
  }
  return offsets;
}

Offsets fill_and_return(std::uint64_t fill_bytes, std::uint64_t return_bytes,
                        std::uint64_t step_bytes) {
  require(return_bytes <= fill_bytes, "the return pass must not be longer than the fill");
  Offsets offsets = ascending_order(fill_bytes, step_bytes);
  const std::size_t filled = offsets.size();
  for (std::size_t i = 0; i < return_bytes / step_bytes; ++i) {
    offsets.push_back(offsets[filled - 1 - i]);
  }
  return offsets;
}

std::uint64_t page_line(const PageSpread& spread, std::uint64_t page, std::uint64_t shift) {
  const std::uint64_t lines =
      std::max<std::uint64_t>(1, spread.spread_bytes / spread.line_step_bytes);
  // Prime to the lines of a page; so large that neighbouring pages use different sets.
  constexpr std::uint64_t distance = 37;
  return page * spread.page_step_bytes + (distance * page + shift) % lines * spread.line_step_bytes;
}

Offsets page_pairs(const PageSpread& spread, std::uint64_t first, std::uint64_t count,
                   std::uint64_t shift) {
  Offsets offsets;
  offsets.reserve(2 * count);
  for (std::uint64_t page = first; page < first + count; ++page) {
    offsets.insert(offsets.end(), 2, page_line(spread, page, shift));
  }
  return offsets;
}

std::uint64_t new_line_passes(std::uint64_t part_bytes) {
  const std::uint64_t of_half = part_bytes / 2 / longest_fetch_bytes;
  return std::max<std::uint64_t>(2, of_half) - 1;
}

Offsets passes_over_new_lines(const Offsets& offsets, const NewLines& lines) {
  // Settling passes use the sectors of a line in turn, each as often as it has words.
  constexpr std::uint64_t sectors = longest_fetch_bytes / smallest_line_bytes;
  constexpr std::uint64_t words_of_sector = 4;
  static_assert(most_passes_to_settle == sectors * words_of_sector);
  const std::uint64_t half_bytes = lines.part_bytes / 2;
  require(lines.timed <= new_line_passes(lines.part_bytes), "a part has too few lines");
  require(lines.settling <= most_passes_to_settle, "a part has too few words to settle");
  Offsets passes;
  passes.reserve((lines.settling + lines.timed) * offsets.size());
  for (std::uint64_t pass = 0; pass < lines.settling + lines.timed; ++pass) {
    const std::uint64_t timed = pass < lines.settling ? 0 : pass - lines.settling + 1;
    std::uint64_t line = (half_bytes - (timed + 1) * longest_fetch_bytes) % half_bytes;
    if (timed == 0) line += pass % sectors * smallest_line_bytes;
    for (std::size_t i = 0; i < offsets.size(); ++i) {
      const bool is_pair = i + 1 < offsets.size() && offsets[i] == offsets[i + 1];
      passes.push_back(offsets[i]);
      if (!is_pair) continue;
      const std::uint64_t lower = offsets[i] / lines.part_bytes * lines.part_bytes + line;
      passes.back() = lower + (lines.from_below ? 0 : half_bytes);
      passes.push_back(lower + (lines.from_below ? half_bytes : 0));
      ++i;
    }
  }
  return passes;
}

namespace {

/// A line at a pseudo-random place of page `page`. A page of the spread can cover several entries
/// of a level; the same entry of every page could leave most sets of the level unused.
std::uint64_t line_anywhere(const PageSpread& spread, std::uint64_t page, std::uint64_t shift) {
  const std::uint64_t places = spread.page_step_bytes / spread.spread_bytes;
  return page_line(spread, page, shift) + mix_bits(page) % places * spread.spread_bytes;
}

}  // namespace

EntryChase entry_chase(const EntryChaseRequest& request) {
  constexpr std::uint64_t accesses_of_sector = 3;  // the fourth word is for an evictor
  const PageSpread& evictors = request.evictors;
  const std::uint64_t targets_end_bytes = request.target_count * request.target_step_bytes;
  const std::uint64_t first = targets_end_bytes / evictors.page_step_bytes + 1;
  const std::uint64_t end = request.evictors_end_bytes / evictors.page_step_bytes;
  require(first < end, "the pages that evict must reach beyond the targets");
  EntryChase chase;
  // Pages under one entry of an inner level are accessed as far apart as possible. Otherwise the
  // inner level would answer for all of them but the first.
  const std::uint64_t rounds =
      request.inner_evictor_count == 0
          ? 1
          : std::max<std::uint64_t>(
                1, request.inner_evictors.page_step_bytes / evictors.page_step_bytes);
  for (std::uint64_t round = 0; round < rounds; ++round) {
    for (std::uint64_t page = first + round; page < end; page += rounds) {
      chase.offsets.push_back(line_anywhere(evictors, page, request.shift));
    }
  }
  const std::uint64_t inner_end =
      request.inner_evictor_count == 0
          ? 0
          : request.evictors_end_bytes / request.inner_evictors.page_step_bytes;
  const PageSpread targets{request.target_step_bytes, evictors.line_step_bytes,
                           request.target_step_bytes};
  for (std::uint64_t target = 0; target < request.target_count; ++target) {
    for (std::uint64_t i = request.inner_evictor_count; i > 0; --i) {
      // Changing the line after three targets limits the accesses per sector (a chain of addresses
      // in memory needs a word for each), and still uses few lines.
      chase.offsets.push_back(line_anywhere(request.inner_evictors, inner_end - i,
                                            target / accesses_of_sector + request.shift));
    }
    chase.targets.push_back(chase.offsets.size());
    chase.offsets.insert(chase.offsets.end(), 2, page_line(targets, target, request.shift));
  }
  return chase;
}

}  // namespace sonde
