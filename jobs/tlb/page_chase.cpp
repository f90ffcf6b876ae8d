// Page chases and what they show.
#include "jobs/tlb/page_chase.hpp"

#include "base/error.hpp"
#include "base/random.hpp"
#include "base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>

namespace sonde {
namespace {

constexpr std::uint64_t coarse_step_bytes =
    256_KiB;  // half of the smallest first-level entry known
constexpr std::uint64_t smallest_page_bytes = 4_KiB;  // of any GPU
constexpr std::uint64_t widest_room_bytes = 64_KiB;   // 2048 lines of 32 bytes side by side
constexpr std::uint64_t line_shift = 37;  // prime to the lines of a page, 1184 bytes away
constexpr std::uint64_t lines_of_fresh_pages = 5;
// Of the pages that miss where each entry is accessed, so many miss where every second one is not.
constexpr double block_miss_fraction = 0.6;

// Texture caches of 20 to 96 ways choose a set by bits below these (Wong 2010, Mei and Chu 2016):
// all pairs meet in few sets and push each other out.
constexpr std::uint64_t block_bytes = 256;

enum class Turn { as_listed, swapped };

/// The list as it is walked: pairs are neighbours that are equal. Single accesses go to the same
/// block in both turns: what they push out of data caches cancels, too.
Offsets place_second_accesses(Offsets offsets, SecondAccess second_access, Turn turn) {
  if (second_access == SecondAccess::same_line) return offsets;
  const std::uint64_t first = turn == Turn::as_listed ? 0 : block_bytes;
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    const bool pair = i + 1 < offsets.size() && offsets[i] == offsets[i + 1];
    const std::uint64_t start = offsets[i] / (2 * block_bytes) * (2 * block_bytes);
    offsets[i] = start + (pair ? first : 0);
    if (pair) offsets[++i] = start + (block_bytes - first);
  }
  return offsets;
}

std::vector<Turn> turns_of(const PageChaseSetup& setup) {
  if (setup.second_access == SecondAccess::same_line) return {Turn::as_listed};
  return {Turn::as_listed, Turn::swapped};
}

/// First less second access at each of `firsts`, medians over passes.
std::vector<double> measure_differences(JobRun& run, const PageChaseSetup& setup,
                                        const std::string& label, const ChasePlan& plan,
                                        const std::vector<std::size_t>& firsts) {
  const std::vector<Turn> turns = turns_of(setup);
  std::vector<double> costs(firsts.size());
  for (Turn turn : turns) {
    ChasePlan walked = plan;
    walked.offsets = place_second_accesses(plan.offsets, setup.second_access, turn);
    walked.offsets.insert(walked.offsets.end(), setup.swept.begin(), setup.swept.end());
    const auto medians = position_medians(measure_chase(run, setup.chase, label, walked));
    for (std::size_t i = 0; i < firsts.size(); ++i) {
      const std::size_t at = firsts[i] - plan.skipped;
      costs[i] += (medians[at] - medians[at + 1]) / static_cast<double>(turns.size());
    }
  }
  return costs;
}

/// Cost of the translations at `firsts`, places of accesses that are repeated at once: medians over
/// passes and over several lines of each page. The way to a slice of the L2 takes each line its own
/// time, and on a real GPU a few cycles of that differ between the two accesses.
/// @param plan_of gives the chase for a shift, see page_line
template <class PlanOf>
std::vector<double> measure_costs(JobRun& run, const PageChaseSetup& setup,
                                  const std::string& label, std::uint64_t lines,
                                  const std::vector<std::size_t>& firsts, PlanOf&& plan_of) {
  ChaseLatencies costs{firsts.size(), {}};
  for (std::uint64_t line = 0; line < lines; ++line) {
    const auto of_line = measure_differences(run, setup, label, plan_of(line * line_shift), firsts);
    costs.cycles.insert(costs.cycles.end(), of_line.begin(), of_line.end());
  }
  return position_medians(costs);
}

std::vector<std::size_t> every_second(std::size_t from, std::size_t count) {
  std::vector<std::size_t> places(count);
  for (std::size_t i = 0; i < count; ++i) places[i] = from + 2 * i;
  return places;
}

/// The costs of a steady cyclic chase over pairs.
/// @param pairs_of gives the list for a shift
template <class PairsOf>
std::vector<double> measure_pairs(JobRun& run, const PageChaseSetup& setup,
                                  const std::string& label, PairsOf&& pairs_of) {
  constexpr std::uint64_t fewest_lines = 3;
  constexpr std::uint64_t most_lines = 9;
  const std::size_t accesses = pairs_of(0).size();
  const std::uint64_t lines =
      std::clamp(setup.chase.recordable_accesses / accesses, fewest_lines, most_lines);
  return measure_costs(run, setup, label, lines, every_second(0, accesses / 2),
                       [&](std::uint64_t shift) {
                         ChasePlan plan;
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

/// A tenth of the memory is left alone, or as much as the driver and the flushing of caches need
/// on the largest GPUs.
std::uint64_t memory_limit(const DeviceInfo& gpu) {
  const std::uint64_t left_bytes = std::min<std::uint64_t>(gpu.memory_bytes / 10, 6_GiB);
  return (gpu.memory_bytes - left_bytes) / 2_MiB * 2_MiB;
}

std::uint64_t coarse_step(const PageChaseSetup& setup, std::uint64_t span_bytes) {
  return std::max(coarse_step_bytes, std::bit_ceil(span_bytes / setup.most_pages));
}

}  // namespace

namespace {

PageChaseSetup set_up_page_chases_by(JobRun& run, LoadPath path) {
  // A quarter of the L2 with 128 bytes for every line: none is lost, whatever the index does.
  constexpr double bytes_for_line = 512;
  constexpr double most_pages = 16384;
  PageChaseSetup setup;
  setup.chase = set_up_chase(run, path, RecordSpace::longest);
  setup.limit_bytes = memory_limit(run.info());
  const double l2_bytes =
      run.number("cache.l2.size_bytes").value_or(static_cast<double>(run.info().l2_bytes));
  setup.most_pages = static_cast<std::uint64_t>(
      l2_bytes > 0 ? std::clamp(l2_bytes / bytes_for_line, 256.0, most_pages) : most_pages);
  return setup;
}

}  // namespace

PageChaseSetup set_up_page_chases(JobRun& run) { return set_up_page_chases_by(run, LoadPath::cg); }

PageChaseSetup set_up_texture_chases(JobRun& run) {
  PageChaseSetup setup = set_up_page_chases_by(run, LoadPath::texture_1d);
  setup.second_access = SecondAccess::next_block;
  return setup;
}

PageChaseSetup with_buffer(PageChaseSetup setup, std::uint64_t buffer_bytes) {
  setup.chase.buffer_bytes = buffer_bytes;
  return setup;
}

PageSpread spread_pages(std::uint64_t page_step_bytes, std::uint64_t room_bytes) {
  return {page_step_bytes, 32, std::min({page_step_bytes, room_bytes, widest_room_bytes})};
}

PageChaseCosts measure_page_costs(JobRun& run, const PageChaseSetup& setup,
                                  std::uint64_t span_bytes, const PageSpread& spread) {
  const std::uint64_t pages = std::max<std::uint64_t>(1, span_bytes / spread.page_step_bytes);
  const std::string label = fmt::format("tlb span {} step {}", span_bytes, spread.page_step_bytes);
  return {span_bytes, measure_pairs(run, setup, label, [&](std::uint64_t shift) {
            return page_pairs(spread, 0, pages, shift);
          })};
}

std::vector<PageChaseCosts> measure_growing_chases(JobRun& run, PageChaseSetup& setup) {
  constexpr int tries = 8;  // each a sixteenth less, down to six tenths of what was wanted
  std::vector<PageChaseCosts> chases;
  int failures = 0;
  for (std::uint64_t span_bytes = 1_MiB;;) {
    const std::uint64_t bounded_bytes = std::min(span_bytes, setup.limit_bytes);
    try {
      const PageSpread spread = spread_pages(coarse_step(setup, bounded_bytes), widest_room_bytes);
      chases.push_back(measure_page_costs(run, setup, bounded_bytes, spread));
    } catch (const DeviceLostError&) {
      throw;
    } catch (const DeviceError&) {
      if (chases.empty()) throw;
      const std::uint64_t less_bytes = bounded_bytes / 16 * 15 / 2_MiB * 2_MiB;
      if (++failures == tries || less_bytes <= chases.back().span_bytes) {
        setup.limit_bytes = chases.back().span_bytes;
        return chases;
      }
      setup.limit_bytes = less_bytes;
      continue;
    }
    if (bounded_bytes == setup.limit_bytes) return chases;
    span_bytes *= 2;
  }
}

std::optional<BlockSize> measure_granularity(JobRun& run, const PageChaseSetup& setup,
                                             const TlbUnderTest& tlb) {
  constexpr std::uint64_t most_targets = 64;
  constexpr std::uint64_t fewest_targets = 8;
  constexpr std::uint64_t least_distances = 3;
  constexpr double least_agreement = 0.6;
  const std::uint64_t end_bytes = tlb.level.overflowing_bytes;
  for (std::uint64_t step = smallest_page_bytes; fewest_targets * step <= end_bytes / 4;
       step *= 4) {
    EntryChaseRequest request;
    request.target_step_bytes = step;
    request.target_count = std::min(most_targets, end_bytes / 4 / step);
    request.evictors =
        spread_pages(std::max(smallest_page_bytes, std::bit_ceil(end_bytes / setup.most_pages)),
                     widest_room_bytes);
    request.evictors_end_bytes = end_bytes;
    if (tlb.inner_step_bytes > 0) {
      request.near_evictors = spread_pages(tlb.inner_step_bytes, widest_room_bytes);
      request.near_evictor_count = tlb.inner_pages;
    }
    const std::vector<std::size_t> firsts = entry_chase(request).targets;
    const std::string label = fmt::format("{} granule {}", tlb.name, step);
    const auto costs =
        measure_costs(run, setup, label, lines_of_fresh_pages, firsts, [&](std::uint64_t shift) {
          request.shift = shift;
          ChasePlan plan;
          plan.offsets = entry_chase(request).offsets;
          plan.skipped = firsts.front();
          plan.passes = 3;
          return plan;
        });
    std::vector<bool> missing;
    for (double cost : costs) missing.push_back(cost > tlb.level.threshold_cycles);
    const auto distance = miss_distance(missing, step);
    if (distance && std::has_single_bit(distance->bytes) &&
        distance->observations >= least_distances && distance->agreement >= least_agreement) {
      return distance;
    }
  }
  return std::nullopt;
}

namespace {

/// Share of the pages that miss: of a drawn half of each step of the span, or of every unit.
double sparse_missing_share(JobRun& run, const PageChaseSetup& setup, const TlbUnderTest& tlb,
                            std::uint64_t span_bytes, std::uint64_t step_bytes,
                            std::uint64_t unit_bytes, std::uint64_t granularity_bytes) {
  constexpr std::uint64_t few_blocks = 512;  // so many are drawn from more than once
  constexpr std::uint64_t most_draws = 8;
  const std::uint64_t lines = std::min(granularity_bytes, widest_room_bytes) / 32;
  const std::uint64_t draws =
      std::clamp<std::uint64_t>(few_blocks * step_bytes / span_bytes, 1, most_draws);
  const std::string label = fmt::format("{} block {}", tlb.name, step_bytes);
  std::size_t missing = 0;
  std::size_t accessed = 0;
  for (std::uint64_t draw = 0; draw < draws; ++draw) {
    const std::uint64_t seed = derive_seed(run.seed(), tlb.name + std::to_string(draw));
    const Offsets pages = step_bytes == unit_bytes
                              ? shuffled_order(span_bytes, unit_bytes, seed)
                              : sparse_order(span_bytes, step_bytes, unit_bytes, seed);
    const auto costs = measure_pairs(run, setup, label, [&](std::uint64_t shift) {
      Offsets pairs;
      for (std::uint64_t page : pages) {
        pairs.insert(pairs.end(), 2, page + (page / unit_bytes + shift) % lines * 32);
      }
      return pairs;
    });
    missing += count_above(costs, tlb.level.threshold_cycles);
    accessed += costs.size();
  }
  return static_cast<double>(missing) / static_cast<double>(accessed);
}

}  // namespace

std::uint64_t measure_entry(JobRun& run, const PageChaseSetup& setup, const TlbUnderTest& tlb,
                            std::uint64_t granularity_bytes) {
  const std::uint64_t unit_bytes = std::max(granularity_bytes, tlb.inner_step_bytes);
  const CapacityBound bound =
      measure_reach(run, setup, tlb, granularity_bytes, unit_bytes, 1.0 / 32);
  if (bound.overflowing_bytes == 0)
    return granularity_bytes;  // a level that only coarse chases met
  const std::uint64_t span_bytes = std::min(bound.overflowing_bytes / 5 * 7, setup.limit_bytes);
  const double dense_share =
      sparse_missing_share(run, setup, tlb, span_bytes, unit_bytes, unit_bytes, granularity_bytes);
  std::uint64_t entry_bytes = granularity_bytes;
  for (std::uint64_t block = 2 * unit_bytes; dense_share > 0 && span_bytes / block >= 4;
       block *= 2) {
    const double share =
        sparse_missing_share(run, setup, tlb, span_bytes, block, unit_bytes, granularity_bytes);
    if (share < block_miss_fraction * dense_share) break;
    entry_bytes = block;
  }
  return entry_bytes;
}

namespace {

double missing_share_at(JobRun& run, const PageChaseSetup& setup, const TlbUnderTest& tlb,
                        std::uint64_t span_bytes, std::uint64_t granularity_bytes,
                        std::uint64_t step_bytes) {
  const std::uint64_t page_step =
      std::max(step_bytes, std::bit_ceil(span_bytes / setup.most_pages));
  const PageSpread spread = spread_pages(page_step, granularity_bytes);
  const auto costs = measure_page_costs(run, setup, span_bytes, spread).cost_cycles;
  return static_cast<double>(count_above(costs, tlb.level.threshold_cycles)) /
         static_cast<double>(costs.size());
}

}  // namespace

ReachCheck check_reach(JobRun& run, const PageChaseSetup& setup, const TlbUnderTest& tlb,
                       const CapacityBound& bound, std::uint64_t granularity_bytes,
                       std::uint64_t step_bytes) {
  constexpr int repeats = 3;
  ReachCheck check;
  for (int repeat = 0; repeat < repeats && check.is_steady; ++repeat) {
    const auto share_at = [&](std::uint64_t span_bytes) {
      return missing_share_at(run, setup, tlb, span_bytes, granularity_bytes, step_bytes);
    };
    check.overflowing_share = share_at(bound.overflowing_bytes);
    check.is_steady = check.overflowing_share > 0 && share_at(bound.fitting_bytes) == 0;
  }
  return check;
}

CapacityBound measure_reach(JobRun& run, const PageChaseSetup& setup, const TlbUnderTest& tlb,
                            std::uint64_t granularity_bytes, std::uint64_t step_bytes,
                            double relative_precision, double missing_share) {
  const auto ask = [&](std::uint64_t span_bytes) {
    const double share =
        missing_share_at(run, setup, tlb, span_bytes, granularity_bytes, step_bytes);
    return share > missing_share ? Fit::overflows : Fit::fits;
  };
  const std::uint64_t limit_bytes = tlb.level.overflowing_bytes;
  return find_capacity_bound({step_bytes, 8 * step_bytes, limit_bytes, relative_precision}, ask);
}

namespace {

/// The windows of all lanes, launch after launch, whatever a lane can record at once.
std::vector<std::vector<double>> record_pairs(JobRun& run, const PageChaseSetup& setup,
                                              const std::string& label, ChaseProbe probe,
                                              const PairPasses& passes) {
  const std::uint64_t length = probe.lanes.front().offsets_bytes.size();
  const std::uint64_t wanted = std::min(passes.timed * length, 2 * passes.most_pairs);
  const std::uint64_t room = setup.chase.recordable_accesses / 2 * 2;
  std::vector<std::vector<double>> cycles(probe.lanes.size());
  for (std::uint64_t done = 0; done < wanted; done += probe.timed_accesses) {
    probe.warmup_accesses = passes.warmup * length + done % length;
    probe.timed_accesses = std::min(room, wanted - done);
    probe.recorded_accesses = probe.timed_accesses;
    const Trace trace = run.ask(label, probe);
    for (std::size_t lane = 0; lane < cycles.size(); ++lane) {
      const auto& windows = trace.lanes.at(lane).window_cycles;
      cycles[lane].insert(cycles[lane].end(), windows.begin(), windows.end());
    }
  }
  return cycles;
}

}  // namespace

std::vector<std::vector<double>> pair_costs(JobRun& run, const PageChaseSetup& setup,
                                            const std::string& label,
                                            const std::vector<PairLane>& lanes,
                                            const PairPasses& passes) {
  ChaseProbe probe;
  probe.path = setup.chase.path;
  probe.shared_carveout_bytes = setup.chase.shared_carveout_bytes;
  probe.buffer_bytes = setup.chase.buffer_bytes;
  const std::uint64_t pairs =
      std::min(passes.timed * lanes.front().places.size(), passes.most_pairs);
  std::vector<std::vector<double>> costs(lanes.size(), std::vector<double>(pairs));
  const std::vector<Turn> turns = turns_of(setup);
  for (Turn turn : turns) {
    probe.lanes.clear();
    for (const PairLane& lane : lanes) {
      Offsets offsets;
      for (std::uint64_t place : lane.places) offsets.insert(offsets.end(), 2, place);
      probe.lanes.push_back(
          {.sm = lane.sm,
           .offsets_bytes = place_second_accesses(offsets, setup.second_access, turn)});
    }
    const auto cycles = record_pairs(run, setup, label, probe, passes);
    for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
      for (std::size_t pair = 0; pair < pairs; ++pair) {
        costs[lane][pair] += (cycles[lane][2 * pair] - cycles[lane][2 * pair + 1]) /
                             static_cast<double>(turns.size());
      }
    }
  }
  return costs;
}

std::vector<double> measure_cold_pages(JobRun& run, const PageChaseSetup& setup,
                                       std::uint64_t span_bytes, std::uint64_t page_step_bytes) {
  constexpr std::uint64_t lines_of_page = 16;
  constexpr std::uint64_t shift = 139;  // prime to the lines of a page, and all over its room
  const PageSpread spread = spread_pages(page_step_bytes, widest_room_bytes);
  std::vector<double> soonest(span_bytes / page_step_bytes,
                              std::numeric_limits<double>::infinity());
  for (std::uint64_t line = 0; line < lines_of_page; ++line) {
    ChasePlan plan;
    for (std::uint64_t page = 0; page < soonest.size(); ++page) {
      plan.offsets.push_back(page_line(spread, page, line * shift));
    }
    plan.warmup_passes = 0;
    plan.passes = 2;
    plan.preparation = Preparation::flushed;
    const auto latencies =
        position_medians(measure_chase(run, setup.chase, "tlb cold pages", plan));
    for (std::size_t page = 0; page < soonest.size(); ++page) {
      soonest[page] = std::min(soonest[page], latencies[page]);
    }
  }
  return soonest;
}

}  // namespace sonde
