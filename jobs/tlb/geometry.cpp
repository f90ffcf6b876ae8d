// The granularity comes from steps of missing pages, the reach from spans that fit; jobs/tlb/levels
// reports them.
#include "jobs/tlb/geometry.hpp"

#include "base/gpu_facts.hpp"
#include "base/random.hpp"
#include "device/device_error.hpp"
#include "jobs/run/replicates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>

namespace sonde {
namespace {

/// Where the targets of fresh translations come from: `kept` from the L2, after a pass over all;
/// `cold` from the memory, so that more pages can evict them than the L2 has lines.
enum class Targets { kept, cold };
constexpr std::uint64_t fewest_targets = 8;

/// Fresh translations in steps of `step_bytes`, with pages that evict them from this level and from
/// the inner levels.
EntryChaseRequest fresh_translations(const TlbUnderTest& tlb, std::uint64_t step_bytes,
                                     Targets targets) {
  constexpr std::uint64_t most_targets = 64;
  constexpr std::uint64_t most_accesses = 1 << 18;  // with 4096 inner pages before each target
  const std::uint64_t end_bytes = tlb.level.overflowing_bytes;
  const std::uint64_t evictors = targets == Targets::kept ? tlb.kept_pages : overfilling_pages;
  EntryChaseRequest request;
  request.target_step_bytes = step_bytes;
  request.target_count = std::min(most_targets, end_bytes / 4 / step_bytes);
  request.evictors = spread_pages(
      std::max(smallest_page_bytes, std::bit_ceil(end_bytes / evictors)), widest_spread_bytes);
  request.evictors_end_bytes = end_bytes;
  if (tlb.inner.step_bytes > 0) {
    request.inner_evictors = spread_pages(tlb.inner.step_bytes, widest_spread_bytes);
    request.inner_evictor_count = tlb.inner.pages;
    // Each target needs its own inner pages: if these are thousands, there are fewer targets.
    const std::uint64_t most = most_accesses / (request.inner_evictor_count + 1);
    request.target_count = std::min(request.target_count, std::max(fewest_targets, most));
  }
  return request;
}

/// In one of two passes, with the blocks of a pair swapped, a page may miss alone.
double share_of_single_miss(const TlbUnderTest& tlb) {
  return tlb.second_access == SecondAccess::next_block ? 0.5 : 1;
}

/// Penalty of a miss in single accesses: twice the distance of the threshold from it.
double single_penalty_cycles(const TlbUnderTest& tlb) {
  return 2 * share_of_single_miss(tlb) * (tlb.level.penalty_cycles - tlb.level.threshold_cycles);
}

/// Whether a miss costs enough to be seen in single accesses.
bool tells_single_misses(const TlbUnderTest& tlb) {
  // On an H200 the distance to the slice makes some loads up to ten cycles slower (2026-11-24).
  constexpr double least_penalty_cycles = 20;
  return single_penalty_cycles(tlb) >= least_penalty_cycles;
}

/// How to decide for a single page whether it misses: the median over several of its lines.
struct PageByPage {
  std::uint64_t lines = 0;
  double threshold_cycles = 0;
};

/// @param usual_lines enough if single accesses show a miss; else 25 are used. On an H100 a miss of
/// the first level costs ten cycles and single accesses vary by four: with five lines and the usual
/// threshold, above nearly all hits, overlooked misses doubled the page in 2 of 43 runs.
PageByPage tell_page_by_page(const TlbUnderTest& tlb, std::uint64_t usual_lines) {
  constexpr std::uint64_t most_lines = 25;
  if (tells_single_misses(tlb)) return {usual_lines, tlb.level.threshold_cycles};
  // In a first level a hit costs nothing.
  const bool is_first = tlb.inner.entries == 0;
  return {most_lines, is_first ? tlb.level.penalty_cycles / 2 : tlb.level.threshold_cycles};
}

std::vector<bool> find_fresh_misses(const TlbUnderTest& tlb, EntryChaseRequest request,
                                    Targets targets) {
  constexpr std::uint64_t usual_lines = 5;  // one pass each; the median drops outliers
  const PageByPage pages = tell_page_by_page(tlb, usual_lines);
  const std::vector<std::size_t> firsts = entry_chase(request).targets;
  const bool is_cold = targets == Targets::cold;
  PageChaseSetup setup = tlb;
  if (is_cold) {
    setup.second_access = SecondAccess::from_memory;
    setup.part_bytes = std::min(request.target_step_bytes, smallest_page_bytes);
  }
  const std::string label = fmt::format("{} {}granularity {}", tlb.name, is_cold ? "cold " : "",
                                        request.target_step_bytes);
  const LinesTried lines{.most = pages.lines, .is_clear = clear_of(pages.threshold_cycles)};
  const auto costs = measure_costs(setup, label, lines, firsts, [&](std::uint64_t shift) {
    request.shift = shift;
    ChasePlan plan{.offsets = entry_chase(request).offsets, .skipped = firsts.front()};
    if (is_cold) plan.warmup_passes = 0;
    return plan;
  });
  std::vector<bool> missing;
  for (double cost : costs) missing.push_back(cost > pages.threshold_cycles);
  return missing;
}

/// The span rounded up to whole pages if memory has that much, so that bounds lie at page ends.
std::uint64_t whole_pages(const TlbUnderTest& tlb, std::uint64_t span_bytes,
                          std::uint64_t page_step) {
  const std::uint64_t up_bytes = (span_bytes + page_step - 1) / page_step * page_step;
  return up_bytes <= tlb.limit_bytes ? up_bytes : span_bytes / page_step * page_step;
}

/// Least cost of an access that misses in every pass, or in one of two. The threshold lies half way
/// between hits and misses of the level.
double least_miss_cycles(const TlbUnderTest& tlb, double share_of_miss) {
  const double beyond_cycles = tlb.level.penalty_cycles - tlb.level.threshold_cycles;
  return tlb.level.threshold_cycles - (1 - share_of_miss) * beyond_cycles;
}

/// Distance of the misses of fresh translations; nullopt if there is none, or if the chase is too
/// large for a block.
std::optional<BlockSize> fresh_distance(const TlbUnderTest& tlb, std::uint64_t step_bytes,
                                        Targets targets) {
  try {
    return miss_distance(
        find_fresh_misses(tlb, fresh_translations(tlb, step_bytes, targets), targets), step_bytes);
  } catch (const ProbeTooLargeError&) {
    return std::nullopt;
  }
}

// As far as is known, all levels have the same granularity: another one needs more evidence.
constexpr double agreement_of_other_units = 0.95;

/// Tries wide steps first: as long as each step has its own translation, every target misses.
std::optional<BlockSize> granularity_here(const TlbUnderTest& tlb, double end_device_s) {
  constexpr std::uint64_t least_distances = 3;
  constexpr double least_agreement = 0.6;
  constexpr std::uint64_t least_step_bytes = smallest_page_bytes / 8;
  std::uint64_t widest_bytes = least_step_bytes;
  while (fewest_targets * 4 * widest_bytes <= tlb.level.overflowing_bytes / 4) widest_bytes *= 4;
  for (const Targets targets : {Targets::kept, Targets::cold}) {
    for (std::uint64_t step = widest_bytes; step >= least_step_bytes; step /= 4) {
      if (tlb.run.device_s() > end_device_s) return std::nullopt;
      const auto distance = fresh_distance(tlb, step, targets);
      if (!distance || distance->bytes == step || !std::has_single_bit(distance->bytes)) continue;
      const std::uint64_t inner_bytes = tlb.inner.granularity_bytes;
      const bool is_other = inner_bytes > 0 && distance->bytes != inner_bytes;
      const bool needs_more = is_other || targets == Targets::cold;
      if (distance->observations >= least_distances && distance->bytes >= smallest_page_bytes &&
          distance->agreement >= (needs_more ? agreement_of_other_units : least_agreement)) {
        return distance;
      }
    }
  }
  return std::nullopt;
}

}  // namespace

// More lines are tried only if few pages seem to miss.
double missing_share_at(const TlbUnderTest& tlb, std::uint64_t span_bytes,
                        std::uint64_t step_bytes) {
  constexpr double clear_share = 0.05;
  constexpr std::size_t many_pages = 256;  // at which the share is not due to chance
  const std::uint64_t page_step = page_step_over(tlb, span_bytes, step_bytes);
  const PageSpread spread = spread_pages(page_step, tlb.granularity_bytes);
  // If an entry covers several pages, only the first of them may miss.
  const double pages_of_step =
      std::max(1.0, static_cast<double>(step_bytes) / static_cast<double>(page_step));
  const auto share_of = [&](const std::vector<double>& costs) {
    return std::min(
        1.0, pages_of_step * fraction_above({costs.size(), costs},
                                            least_miss_cycles(tlb, share_of_single_miss(tlb))));
  };
  LinesTried lines;
  lines.is_clear = [&, clear =
                           clear_of(tlb.level.threshold_cycles)](const std::vector<double>& costs) {
    const double share = share_of(costs);
    return clear(costs) || (costs.size() >= many_pages && (share == 0 || share >= clear_share));
  };
  return share_of(
      measure_page_costs(tlb, whole_pages(tlb, span_bytes, page_step), spread, lines).cost_cycles);
}

std::uint64_t line_under(const TlbUnderTest& tlb, std::uint64_t entry, std::uint64_t shift) {
  std::uint64_t spread_bytes = std::min(tlb.granularity_bytes, widest_spread_bytes);
  // Entries of an inner level may be shorter, and may lie at the end of the buffer.
  if (tlb.inner.step_bytes > 0) spread_bytes = std::min(spread_bytes, tlb.inner.step_bytes);
  // Lines of different pages use different lines of every cache. Offsets up to 256 GiB, in lines of
  // this size, fit 32-bit numbers.
  const std::uint64_t places = std::max<std::uint64_t>(1, spread_bytes / common_line_bytes);
  // The same for lines of one entry that evict others from inner levels.
  const std::uint64_t page_bytes = tlb.inner.step_bytes > 0
                                       ? std::min(tlb.granularity_bytes, tlb.inner.step_bytes)
                                       : tlb.granularity_bytes;
  return entry + (mix_bits(entry / page_bytes) + shift) % places * common_line_bytes;
}

std::uint64_t inner_entry(const TlbUnderTest& tlb, std::uint64_t entry) {
  return entry / tlb.step_bytes();
}

std::vector<std::vector<std::size_t>> rounds_of_accesses(const TlbUnderTest& tlb,
                                                         const Lines& entries) {
  std::vector<std::vector<std::size_t>> rounds;
  std::map<std::uint64_t, std::size_t> accesses;  // by inner entry
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const std::size_t round = accesses[inner_entry(tlb, entries[i])]++;
    if (round == rounds.size()) rounds.emplace_back();
    rounds[round].push_back(i);
  }
  return rounds;
}

TlbUnderTest at_other_place(TlbUnderTest tlb, const std::string& what, std::size_t draw) {
  tlb.chase = at_draw(tlb.chase, draw_replicate(tlb.run, tlb.name + " " + what, draw));
  return tlb;
}

std::optional<BlockSize> measure_granularity(const TlbUnderTest& tlb) {
  constexpr double most_search_s = 6;  // device time; with 4096 inner pages about fifteen chases
  const double end_device_s = tlb.run.device_s() + most_search_s;
  auto seen = granularity_here(tlb, end_device_s);
  for (std::size_t draw = 1; draw < asked_places && !seen; ++draw)
    seen = granularity_here(at_other_place(tlb, "granularity", draw), end_device_s);
  return seen;
}

std::uint64_t page_step_over(const TlbUnderTest& tlb, std::uint64_t span_bytes,
                             std::uint64_t step_bytes) {
  std::uint64_t page_step = std::max(step_bytes, std::bit_ceil(span_bytes / tlb.most_pages));
  const std::uint64_t fewest = std::min(overfilling_share * tlb.inner.entries, tlb.most_pages);
  while (span_bytes / page_step < fewest && page_step / 2 >= tlb.inner.step_bytes) page_step /= 2;
  return page_step;
}

CapacityBound measure_reach(const TlbUnderTest& tlb, std::uint64_t step_bytes,
                            double relative_precision) {
  const auto ask = [&](std::uint64_t span_bytes) {
    return missing_share_at(tlb, span_bytes, step_bytes) > 0 ? Fit::overflows : Fit::fits;
  };
  const CapacityLimits limits{.step_bytes = step_bytes,
                              .start_bytes = 8 * step_bytes,
                              .limit_bytes = tlb.level.overflowing_bytes,
                              .relative_precision = relative_precision};
  return find_capacity_bound(limits, ask);
}

}  // namespace sonde
