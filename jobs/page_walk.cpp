// Page walks and what they show.
#include "jobs/page_walk.hpp"

#include "base/error.hpp"
#include "base/random.hpp"
#include "base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace sonde {
namespace {

constexpr std::uint64_t coarse_step_bytes =
    256_KiB;  // half of the smallest first-level entry known
constexpr std::uint64_t smallest_page_bytes = 4_KiB;  // of any GPU
constexpr std::uint64_t widest_room_bytes = 64_KiB;   // 2048 lines of 32 bytes side by side
constexpr std::uint64_t line_shift = 37;  // prime to the lines of a page, 1184 bytes away
constexpr std::uint64_t lines_of_fresh_pages = 5;
constexpr double block_miss_fraction =
    0.6;  // LRU sets 1.4 times full miss everywhere, others rarely

/// Cost of the translations at `firsts`, places of visits that are repeated at once: medians over
/// passes and over several lines of each page. The way to a slice of the L2 takes each line its own
/// time, and on a real GPU a few cycles of that differ between the two visits.
/// @param plan_of gives the walk for a shift, see page_line
template <class PlanOf>
std::vector<double> measure_costs(JobRun& run, const PageSetup& setup, const std::string& label,
                                  std::uint64_t lines, const std::vector<std::size_t>& firsts,
                                  PlanOf&& plan_of) {
  WalkLatencies costs{firsts.size(), {}};
  for (std::uint64_t line = 0; line < lines; ++line) {
    const WalkPlan plan = plan_of(line * line_shift);
    const auto medians = position_medians(measure_walk(run, setup.chase, label, plan));
    for (std::size_t first : firsts) {
      const std::size_t at = first - plan.skipped;
      costs.cycles.push_back(medians[at] - medians[at + 1]);
    }
  }
  return position_medians(costs);
}

std::vector<std::size_t> every_second(std::size_t from, std::size_t count) {
  std::vector<std::size_t> places(count);
  for (std::size_t i = 0; i < count; ++i) places[i] = from + 2 * i;
  return places;
}

/// The costs of a steady cyclic walk over pairs.
/// @param pairs_of gives the list for a shift
template <class PairsOf>
std::vector<double> measure_pairs(JobRun& run, const PageSetup& setup, const std::string& label,
                                  PairsOf&& pairs_of) {
  constexpr std::uint64_t fewest_lines = 3;
  constexpr std::uint64_t most_lines = 9;
  const std::size_t visits = pairs_of(0).size();
  const std::uint64_t lines =
      std::clamp(setup.chase.recordable_accesses / visits, fewest_lines, most_lines);
  return measure_costs(run, setup, label, lines, every_second(0, visits / 2),
                       [&](std::uint64_t shift) {
                         WalkPlan plan;
                         plan.offsets = pairs_of(shift);
                         plan.warmup_passes = 2;
                         plan.passes = 3;
                         return plan;
                       });
}

std::size_t count_above(const std::vector<double>& costs, double threshold_cycles) {
  return static_cast<std::size_t>(std::count_if(
      costs.begin(), costs.end(), [=](double cost) { return cost > threshold_cycles; }));
}

std::uint64_t coarse_step(const PageSetup& setup, std::uint64_t span_bytes) {
  return std::max(coarse_step_bytes, std::bit_ceil(span_bytes / setup.most_pages));
}

}  // namespace

PageSetup set_up_page_walks(JobRun& run) {
  // A quarter of the L2 with 128 bytes for every line: none is lost, whatever the index does.
  constexpr double bytes_for_line = 512;
  constexpr double most_pages = 16384;
  PageSetup setup;
  setup.chase = set_up_chase(run, LoadPath::cg, RecordSpace::longest);
  setup.limit_bytes = run.info().memory_bytes / 10 * 9 / 2_MiB * 2_MiB;
  const double l2_bytes =
      run.number("cache.l2.size_bytes").value_or(static_cast<double>(run.info().l2_bytes));
  setup.most_pages = static_cast<std::uint64_t>(
      l2_bytes > 0 ? std::clamp(l2_bytes / bytes_for_line, 256.0, most_pages) : most_pages);
  return setup;
}

PageSpread spread_pages(std::uint64_t page_step_bytes, std::uint64_t room_bytes) {
  return {page_step_bytes, 32, std::min({page_step_bytes, room_bytes, widest_room_bytes})};
}

PageWalkCosts measure_page_costs(JobRun& run, const PageSetup& setup, std::uint64_t span_bytes,
                                 const PageSpread& spread) {
  const std::uint64_t pages = std::max<std::uint64_t>(1, span_bytes / spread.page_step_bytes);
  const std::string label = fmt::format("tlb span {} step {}", span_bytes, spread.page_step_bytes);
  return {span_bytes, measure_pairs(run, setup, label, [&](std::uint64_t shift) {
            return page_pairs(spread, 0, pages, shift);
          })};
}

std::vector<PageWalkCosts> measure_growing_walks(JobRun& run, const PageSetup& setup) {
  std::vector<PageWalkCosts> walks;
  for (std::uint64_t span_bytes = 1_MiB;; span_bytes *= 2) {
    const std::uint64_t bounded_bytes = std::min(span_bytes, setup.limit_bytes);
    try {
      const PageSpread spread = spread_pages(coarse_step(setup, bounded_bytes), widest_room_bytes);
      walks.push_back(measure_page_costs(run, setup, bounded_bytes, spread));
    } catch (const DeviceLostError&) {
      throw;
    } catch (const DeviceError&) {
      if (walks.empty()) throw;
      return walks;
    }
    if (bounded_bytes == setup.limit_bytes) return walks;
  }
}

std::optional<BlockSize> measure_granule(JobRun& run, const PageSetup& setup,
                                         const TlbSubject& tlb) {
  constexpr std::uint64_t targets = 64;
  constexpr std::uint64_t least_distances = 3;
  constexpr double least_agreement = 0.6;
  const std::uint64_t end_bytes = tlb.level.overflowing_bytes;
  for (std::uint64_t step = smallest_page_bytes; targets * step <= end_bytes / 4; step *= 8) {
    EntryWalkRequest request;
    request.target_step_bytes = step;
    request.target_count = targets;
    request.evictors = spread_pages(coarse_step(setup, end_bytes), widest_room_bytes);
    request.evictors_end_bytes = end_bytes;
    if (tlb.nearer_step_bytes > 0) {
      request.near_evictors = spread_pages(tlb.nearer_step_bytes, widest_room_bytes);
      request.near_evictor_count = tlb.nearer_pages;
    }
    const std::vector<std::size_t> firsts = entry_walk(request).targets;
    const std::string label = fmt::format("{} granule {}", tlb.name, step);
    const auto costs =
        measure_costs(run, setup, label, lines_of_fresh_pages, firsts, [&](std::uint64_t shift) {
          request.shift = shift;
          WalkPlan plan;
          plan.offsets = entry_walk(request).offsets;
          plan.skipped = firsts.front();
          plan.passes = 3;
          return plan;
        });
    std::vector<bool> missing;
    for (double cost : costs) missing.push_back(cost > tlb.level.threshold_cycles);
    const auto distance = miss_distance(missing, step);
    if (distance && distance->observations >= least_distances &&
        distance->agreement >= least_agreement) {
      return distance;
    }
  }
  return std::nullopt;
}

std::uint64_t measure_entry(JobRun& run, const PageSetup& setup, const TlbSubject& tlb,
                            std::uint64_t granule_bytes) {
  const std::uint64_t unit_bytes = std::max(granule_bytes, tlb.nearer_step_bytes);
  const Edge edge = measure_reach(run, setup, tlb, granule_bytes, unit_bytes, 1.0 / 32);
  const std::uint64_t span_bytes = std::min(edge.overflowing_bytes / 5 * 7, setup.limit_bytes);
  std::uint64_t entry_bytes = granule_bytes;
  for (std::uint64_t block = 2 * unit_bytes; span_bytes / block >= 4; block *= 2) {
    const std::uint64_t seed = derive_seed(run.seed(), tlb.name);
    const std::uint64_t lines = std::min(granule_bytes, widest_room_bytes) / 32;
    const Offsets pages = sparse_walk(span_bytes, block, unit_bytes, seed);
    const std::string label = fmt::format("{} block {}", tlb.name, block);
    const auto costs = measure_pairs(run, setup, label, [&](std::uint64_t shift) {
      Offsets pairs;
      for (std::uint64_t page : pages) {
        pairs.insert(pairs.end(), 2, page + (page / unit_bytes + shift) % lines * 32);
      }
      return pairs;
    });
    const auto missing = static_cast<double>(count_above(costs, tlb.level.threshold_cycles));
    if (missing < block_miss_fraction * static_cast<double>(costs.size())) break;
    entry_bytes = block;
  }
  return entry_bytes;
}

namespace {

double missing_share_at(JobRun& run, const PageSetup& setup, const TlbSubject& tlb,
                        std::uint64_t span_bytes, std::uint64_t granule_bytes,
                        std::uint64_t step_bytes) {
  const std::uint64_t page_step =
      std::max(step_bytes, std::bit_ceil(span_bytes / setup.most_pages));
  const PageSpread spread = spread_pages(page_step, granule_bytes);
  const auto costs = measure_page_costs(run, setup, span_bytes, spread).cost_cycles;
  return static_cast<double>(count_above(costs, tlb.level.threshold_cycles)) /
         static_cast<double>(costs.size());
}

}  // namespace

ReachCheck check_reach(JobRun& run, const PageSetup& setup, const TlbSubject& tlb, const Edge& edge,
                       std::uint64_t granule_bytes, std::uint64_t step_bytes) {
  constexpr int repeats = 3;
  ReachCheck check;
  for (int repeat = 0; repeat < repeats && check.is_steady; ++repeat) {
    const auto share_at = [&](std::uint64_t span_bytes) {
      return missing_share_at(run, setup, tlb, span_bytes, granule_bytes, step_bytes);
    };
    check.overflowing_share = share_at(edge.overflowing_bytes);
    check.is_steady = check.overflowing_share > 0 && share_at(edge.fitting_bytes) == 0;
  }
  return check;
}

Edge measure_reach(JobRun& run, const PageSetup& setup, const TlbSubject& tlb,
                   std::uint64_t granule_bytes, std::uint64_t step_bytes, double relative_precision,
                   double missing_share) {
  const auto ask = [&](std::uint64_t span_bytes) {
    const double share = missing_share_at(run, setup, tlb, span_bytes, granule_bytes, step_bytes);
    return share > missing_share ? Fit::overflows : Fit::fits;
  };
  const std::uint64_t limit_bytes = tlb.level.overflowing_bytes;
  return find_edge({step_bytes, 8 * step_bytes, limit_bytes, relative_precision}, ask);
}

std::vector<double> measure_cold_pages(JobRun& run, const PageSetup& setup,
                                       std::uint64_t span_bytes, std::uint64_t page_step_bytes) {
  const PageSpread spread = spread_pages(page_step_bytes, widest_room_bytes);
  WalkPlan plan;
  for (std::uint64_t page = 0; page < span_bytes / page_step_bytes; ++page) {
    plan.offsets.push_back(page_line(spread, page));
  }
  plan.warmup_passes = 0;
  plan.passes = 3;
  plan.preparation = Preparation::flushed;
  return position_medians(measure_walk(run, setup.chase, "tlb cold pages", plan));
}

}  // namespace sonde
