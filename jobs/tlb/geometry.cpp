// Steps of pages that miss tell the granularity, blocks of pages that share an entry tell the
// entry, spans that fit the reach; jobs/tlb/levels makes findings of them.
#include "jobs/tlb/geometry.hpp"

#include "base/gpu_facts.hpp"
#include "base/random.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>

namespace sonde {
namespace {

// Of the pages that miss where each entry is accessed, so many miss where every second one is not.
constexpr double block_miss_fraction = 0.6;

/// Fresh translations in steps of `step_bytes`, between pages that push them out of the level and
/// of the inner ones.
EntryChaseRequest fresh_translations(const TlbUnderTest& tlb, std::uint64_t step_bytes) {
  constexpr std::uint64_t most_targets = 64;
  const std::uint64_t end_bytes = tlb.level.overflowing_bytes;
  EntryChaseRequest request;
  request.target_step_bytes = step_bytes;
  request.target_count = std::min(most_targets, end_bytes / 4 / step_bytes);
  request.evictors =
      spread_pages(std::max(smallest_page_bytes, std::bit_ceil(end_bytes / tlb.most_pages)),
                   widest_spread_bytes);
  request.evictors_end_bytes = end_bytes;
  if (tlb.inner.step_bytes > 0) {
    request.inner_evictors = spread_pages(tlb.inner.step_bytes, widest_spread_bytes);
    request.inner_evictor_count = tlb.inner.pages;
  }
  return request;
}

std::vector<bool> find_fresh_misses(const TlbUnderTest& tlb, EntryChaseRequest request) {
  constexpr std::uint64_t lines_of_page = 5;  // one pass each: its median drops outliers
  const std::vector<std::size_t> firsts = entry_chase(request).targets;
  const std::string label = fmt::format("{} granularity {}", tlb.name, request.target_step_bytes);
  const auto costs =
      measure_costs(tlb, label, {.most = lines_of_page}, firsts, [&](std::uint64_t shift) {
        request.shift = shift;
        return ChasePlan{.offsets = entry_chase(request).offsets, .skipped = firsts.front()};
      });
  std::vector<bool> missing;
  for (double cost : costs) missing.push_back(cost > tlb.level.threshold_cycles);
  return missing;
}

/// Share of the units that miss of a span of which every block holds one, chosen at random from its
/// first and its middle one, or of every unit if blocks are no larger.
double sparse_missing_share(const TlbUnderTest& tlb, std::uint64_t span_bytes,
                            std::uint64_t block_bytes, std::uint64_t unit_bytes) {
  constexpr std::uint64_t few_blocks = 512;  // so many are chosen from more than once
  constexpr std::uint64_t most_draws = 8;
  const std::uint64_t lines =
      std::min(tlb.granularity_bytes, widest_spread_bytes) / smallest_line_bytes;
  const std::uint64_t draws =
      std::clamp<std::uint64_t>(few_blocks * block_bytes / span_bytes, 1, most_draws);
  const std::string label = fmt::format("{} block {}", tlb.name, block_bytes);
  ChaseLatencies all;
  for (std::uint64_t draw = 0; draw < draws; ++draw) {
    const std::uint64_t seed = derive_seed(tlb.run.seed(), tlb.name + std::to_string(draw));
    const Offsets pages = block_bytes == unit_bytes
                              ? shuffled_order(span_bytes, unit_bytes, seed)
                              : sparse_order(span_bytes, block_bytes, unit_bytes, seed);
    const auto costs = measure_steady_costs(tlb, label, [&](std::uint64_t shift) {
      Offsets pairs;
      for (std::uint64_t page : pages) {
        pairs.insert(pairs.end(), 2,
                     page + (page / unit_bytes + shift) % lines * smallest_line_bytes);
      }
      return pairs;
    });
    all.cycles.insert(all.cycles.end(), costs.begin(), costs.end());
  }
  return fraction_above(all, tlb.level.threshold_cycles);
}

/// Share of the pages of a span that miss. More lines are tried only where few pages seem to.
double missing_share_at(const TlbUnderTest& tlb, std::uint64_t span_bytes,
                        std::uint64_t step_bytes) {
  constexpr double clear_share = 0.05;
  constexpr std::size_t many_pages = 256;  // of which no chance makes so many miss
  const std::uint64_t page_step = std::max(step_bytes, std::bit_ceil(span_bytes / tlb.most_pages));
  const PageSpread spread = spread_pages(page_step, tlb.granularity_bytes);
  const auto share_of = [&](const std::vector<double>& costs) {
    return fraction_above({costs.size(), costs}, tlb.level.threshold_cycles);
  };
  LinesTried lines;
  lines.is_clear = [&](const std::vector<double>& costs) {
    const double share = share_of(costs);
    return costs.size() >= many_pages && (share == 0 || share >= clear_share);
  };
  return share_of(measure_page_costs(tlb, span_bytes, spread, lines).cost_cycles);
}

}  // namespace

std::uint64_t line_under(const TlbUnderTest& tlb, std::uint64_t entry, std::uint64_t shift) {
  const std::uint64_t spread_bytes = std::min(tlb.granularity_bytes, widest_spread_bytes);
  // Lines of different pages lie in different lines of every cache. Offsets up to 256 GiB then fit
  // 32-bit numbers of them.
  const std::uint64_t places = std::max<std::uint64_t>(1, spread_bytes / common_line_bytes);
  return entry + (mix_bits(entry / tlb.granularity_bytes) + shift) % places * common_line_bytes;
}

std::uint64_t inner_entry(const TlbUnderTest& tlb, std::uint64_t entry) {
  return entry / tlb.step_bytes();
}

std::vector<std::vector<std::size_t>> rounds_of_accesses(const TlbUnderTest& tlb,
                                                         const Lines& entries) {
  std::vector<std::vector<std::size_t>> rounds;
  std::map<std::uint64_t, std::size_t> accesses;  // of inner entries
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const std::size_t round = accesses[inner_entry(tlb, entries[i])]++;
    if (round == rounds.size()) rounds.emplace_back();
    rounds[round].push_back(i);
  }
  return rounds;
}

std::optional<BlockSize> measure_granularity(const TlbUnderTest& tlb) {
  constexpr std::uint64_t fewest_targets = 8;
  constexpr std::uint64_t least_distances = 3;
  constexpr double least_agreement = 0.6;
  for (std::uint64_t step = smallest_page_bytes;
       fewest_targets * step <= tlb.level.overflowing_bytes / 4; step *= 4) {
    const auto distance =
        miss_distance(find_fresh_misses(tlb, fresh_translations(tlb, step)), step);
    if (distance && std::has_single_bit(distance->bytes) &&
        distance->observations >= least_distances && distance->agreement >= least_agreement) {
      return distance;
    }
  }
  return std::nullopt;
}

std::uint64_t measure_entry(const TlbUnderTest& tlb) {
  const std::uint64_t unit_bytes = std::max(tlb.granularity_bytes, tlb.inner.step_bytes);
  const CapacityBound bound = measure_reach(tlb, unit_bytes, {.relative_precision = 1.0 / 32});
  // Only chases in coarse steps met the level.
  if (bound.overflowing_bytes == 0) return tlb.granularity_bytes;
  const std::uint64_t span_bytes = std::min(bound.overflowing_bytes / 5 * 7, tlb.limit_bytes);
  const double dense_share = sparse_missing_share(tlb, span_bytes, unit_bytes, unit_bytes);
  std::uint64_t entry_bytes = tlb.granularity_bytes;
  for (std::uint64_t block = 2 * unit_bytes; dense_share > 0 && span_bytes / block >= 4;
       block *= 2) {
    const double share = sparse_missing_share(tlb, span_bytes, block, unit_bytes);
    if (share < block_miss_fraction * dense_share) break;
    entry_bytes = block;
  }
  return entry_bytes;
}

CapacityBound measure_reach(const TlbUnderTest& tlb, std::uint64_t step_bytes,
                            const ReachSearch& search) {
  const auto ask = [&](std::uint64_t span_bytes) {
    return missing_share_at(tlb, span_bytes, step_bytes) > search.missing_share ? Fit::overflows
                                                                                : Fit::fits;
  };
  const CapacityLimits limits{.step_bytes = step_bytes,
                              .start_bytes = 8 * step_bytes,
                              .limit_bytes = tlb.level.overflowing_bytes,
                              .relative_precision = search.relative_precision};
  return search.near ? find_capacity_bound_near(limits, *search.near, ask)
                     : find_capacity_bound(limits, ask);
}

ReachCheck check_reach(const TlbUnderTest& tlb, const CapacityBound& bound,
                       std::uint64_t step_bytes) {
  constexpr int repeats = 3;
  ReachCheck check;
  for (int repeat = 0; repeat < repeats && check.is_steady; ++repeat) {
    check.overflowing_share = missing_share_at(tlb, bound.overflowing_bytes, step_bytes);
    check.is_steady =
        check.overflowing_share > 0 && missing_share_at(tlb, bound.fitting_bytes, step_bytes) == 0;
  }
  return check;
}

}  // namespace sonde
