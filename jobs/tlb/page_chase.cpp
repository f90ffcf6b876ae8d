// Makes every access twice in a row; the difference is the cost of the first access's translation.
// Medians over passes and lines go to the inference of levels, reach and sets.
#include "jobs/tlb/page_chase.hpp"
#include "jobs/chase/known_l2.hpp"

#include "base/error.hpp"
#include "base/gpu_facts.hpp"
#include "jobs/run/attempt.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

namespace sonde {
namespace {

// Half of the smallest known first-level entry of GPUs whose pages are at least as large.
constexpr std::uint64_t least_step_bytes = 256_KiB;
constexpr std::uint64_t line_shift = 37;  // prime to the lines of a page; 1184 bytes

/// Passes over a list for one launch after a flush; see passes_over_new_lines.
Offsets passes_from_memory(const PageChaseSetup& setup, const Offsets& offsets,
                           std::uint64_t settling, std::uint64_t timed, Turn turn) {
  return passes_over_new_lines(offsets, {.part_bytes = setup.part_bytes,
                                         .settling = settling,
                                         .timed = timed,
                                         .from_below = turn == Turn::swapped});
}

/// Chases a list of pairs in one turn. Returns the latencies of the positions that are not skipped,
/// pass after pass.
ChaseLatencies measure_turn(const PageChaseSetup& setup, const std::string& label,
                            const ChasePlan& plan, Turn turn) {
  ChasePlan placed = plan;
  if (setup.second_access != SecondAccess::from_memory) {
    placed.offsets = place_second_accesses(plan.offsets, setup.second_access, turn);
    placed.offsets.insert(placed.offsets.end(), setup.swept.begin(), setup.swept.end());
    return measure_chase(setup.run, setup.chase, label, placed);
  }
  require(plan.skipped == 0 || plan.passes == 1,
          "a pass that is recorded in part must be the last");
  placed.offsets = passes_from_memory(setup, plan.offsets, plan.warmup_passes, plan.passes, turn);
  placed.skipped += plan.warmup_passes * plan.offsets.size();
  placed.warmup_passes = 0;
  placed.passes = 1;
  placed.preparation = Preparation::flushed;
  return {plan.offsets.size() - plan.skipped,
          measure_chase(setup.run, setup.chase, label, placed).cycles};
}

/// First minus second access at each of `firsts`, medians over passes. For blocks: the mean of both
/// turns. For lines from the memory: both turns one after the other. Different partitions of the
/// two lines then cancel in the median, and a miss in one turn only is not halved.
std::vector<double> measure_differences(const PageChaseSetup& setup, const std::string& label,
                                        const ChasePlan& plan,
                                        const std::vector<std::size_t>& firsts) {
  std::vector<std::vector<double>> of_turns;
  for (Turn turn : turns_of(setup.second_access)) {
    const auto medians = position_medians(measure_turn(setup, label, plan, turn));
    std::vector<double>& costs = of_turns.emplace_back();
    for (std::size_t first : firsts) {
      const std::size_t at = first - plan.skipped;
      costs.push_back(medians[at] - medians[at + 1]);
    }
  }
  std::vector<double> differences = std::move(of_turns.front());
  if (of_turns.size() == 1) return differences;
  if (setup.second_access == SecondAccess::from_memory) {
    differences.insert(differences.end(), of_turns[1].begin(), of_turns[1].end());
    return differences;
  }
  for (std::size_t i = 0; i < firsts.size(); ++i)
    differences[i] = (differences[i] + of_turns[1][i]) / 2;
  return differences;
}

/// Latencies of all timed pairs in one turn, lane by lane. From the memory: in batches, each of as
/// many passes as pages have new lines for.
std::vector<std::vector<double>> record_pairs(const PageChaseSetup& setup, const std::string& label,
                                              const std::vector<ChaseLane>& lanes,
                                              const PairPasses& passes, Turn turn) {
  constexpr std::uint64_t many_places = 512;  // below, the order of the warm-up matters
  const bool is_cold = setup.second_access == SecondAccess::from_memory;
  const std::uint64_t places = lanes.front().offsets_bytes.size();
  const std::uint64_t pairs = std::min(passes.timed * places, passes.most_pairs);
  const std::uint64_t most_pairs =
      is_cold ? new_line_passes(setup.part_bytes) * places : passes.timed * places;
  const std::uint64_t settling =
      is_cold ? std::min(passes.warmup, most_passes_to_settle) : passes.warmup;
  std::vector<std::vector<double>> cycles(lanes.size());
  for (std::uint64_t done = 0; done < pairs; done += most_pairs) {
    const std::uint64_t at_once = std::min(most_pairs, pairs - done);
    LaneChases chases{.warmup_accesses = settling * 2 * places,
                      .recorded_accesses = 2 * at_once,
                      .most_at_once = setup.chase.recordable_accesses / 2 * 2,
                      .preparation = is_cold ? Preparation::flushed : Preparation::as_is,
                      .warm_up = places < many_places ? WarmUp::dependent : WarmUp::overlapped,
                      .resume = is_cold ? Resume::behind_all : Resume::within_pass,
                      .evidence = Evidence::of_a_search};
    for (const ChaseLane& lane : lanes) {
      Offsets list = twice_each(lane.offsets_bytes);
      list = is_cold
                 ? passes_from_memory(setup, list, settling, (at_once + places - 1) / places, turn)
                 : place_second_accesses(std::move(list), setup.second_access, turn);
      chases.lanes.push_back(
          {.sm = lane.sm, .offsets_bytes = std::move(list), .path = setup.chase.path});
    }
    const auto batch = record_lanes(setup.run, setup.chase, label, std::move(chases));
    for (std::size_t lane = 0; lane < lanes.size(); ++lane)
      cycles[lane].insert(cycles[lane].end(), batch[lane].begin(), batch[lane].end());
  }
  return cycles;
}

PageChaseCosts measure_span(const PageChaseSetup& setup, std::uint64_t span_bytes) {
  const std::uint64_t step_bytes =
      std::max(least_step_bytes, std::bit_ceil(span_bytes / setup.most_pages));
  return measure_page_costs(setup, span_bytes, spread_pages(step_bytes, widest_spread_bytes));
}

}  // namespace

PageChaseSetup set_up_page_chases(JobRun& run, LoadPath path) {
  // Smallest rise of the cost that counts as a level if the clock shows every cycle.
  constexpr double least_tlb_step_cycles = 3;
  // A quarter of the lines of the L2; it may still keep twice as many.
  constexpr double most_share = 1.0 / 4;
  constexpr std::uint64_t most_kept_pages = 16384;
  PageChaseSetup setup{.run = run};
  setup.chase = set_up_chase(run, path, RecordSpace::longest);
  setup.limit_bytes = usable_memory_bytes(run.info());
  setup.least_step_cycles =
      std::max(least_tlb_step_cycles,
               run.number("clock.granularity_cycles").value_or(least_tlb_step_cycles));
  const double l2_bytes = known_l2_part_bytes(run);
  const double line_bytes =
      run.number("cache.l2.line_bytes").value_or(static_cast<double>(common_line_bytes));
  setup.kept_pages =
      l2_bytes > 0 ? std::clamp(static_cast<std::uint64_t>(most_share * l2_bytes / line_bytes),
                                fewest_pages, most_kept_pages)
                   : most_kept_pages;
  setup.most_pages = std::max(setup.kept_pages, overfilling_pages);
  return setup;
}

std::function<bool(const std::vector<double>&)> clear_of(double threshold_cycles,
                                                         double unclear_share) {
  return [=](const std::vector<double>& costs) {
    const auto unclear = std::ranges::count_if(costs, [=](double cost) {
      return std::abs(cost - threshold_cycles) < threshold_cycles / 2;
    });
    return static_cast<double>(unclear) <= unclear_share * static_cast<double>(costs.size());
  };
}

PageSpread spread_pages(std::uint64_t page_step_bytes, std::uint64_t spread_bytes) {
  return {.page_step_bytes = page_step_bytes,
          .line_step_bytes = smallest_line_bytes,
          .spread_bytes = std::min({page_step_bytes, spread_bytes, widest_spread_bytes})};
}

// Several lines of each page: the distance to the slice differs by line, and on a real GPU a few
// cycles of it remain in the difference of the two accesses. The median also drops outliers.
std::vector<double> measure_costs(const PageChaseSetup& setup, const std::string& label,
                                  const LinesTried& lines, const std::vector<std::size_t>& firsts,
                                  const std::function<ChasePlan(std::uint64_t shift)>& plan_of) {
  ChaseLatencies costs{firsts.size(), {}};
  std::vector<double> medians;
  for (std::uint64_t line = 0; line < lines.most; ++line) {
    const auto of_line = measure_differences(setup, label, plan_of(line * line_shift), firsts);
    costs.cycles.insert(costs.cycles.end(), of_line.begin(), of_line.end());
    if (line + 1 < LinesTried::fewest) continue;
    medians = position_medians(costs);
    if (lines.is_clear && lines.is_clear(medians)) break;
  }
  return medians;
}

std::vector<double> measure_steady_costs(const PageChaseSetup& setup, const std::string& label,
                                         const std::function<Offsets(std::uint64_t)>& pairs_of,
                                         LinesTried lines) {
  const std::size_t accesses = pairs_of(0).size();
  PageChaseSetup placed = setup;
  if (accesses / 2 > setup.kept_pages) placed.second_access = SecondAccess::from_memory;
  lines.most =
      std::clamp(setup.chase.recordable_accesses / accesses, LinesTried::fewest, lines.most);
  // Thresholds depend on all costs of a chase: few pages need more samples each. A pass that also
  // sweeps the data caches takes a millisecond or more; its pages get their samples line by line.
  constexpr std::size_t many_pages = 1024;
  std::vector<std::size_t> firsts(accesses / 2);
  for (std::size_t i = 0; i < firsts.size(); ++i) firsts[i] = 2 * i;
  const std::uint64_t passes = firsts.size() < many_pages && placed.swept.empty() ? 3 : 1;
  return measure_costs(placed, label, lines, firsts, [&](std::uint64_t shift) {
    return ChasePlan{.offsets = pairs_of(shift),
                     .warmup_passes = 2,
                     .passes = passes,
                     .evidence = Evidence::of_a_search};
  });
}

PageChaseCosts measure_page_costs(const PageChaseSetup& setup, std::uint64_t span_bytes,
                                  const PageSpread& spread, const LinesTried& lines) {
  const std::uint64_t pages = std::max<std::uint64_t>(1, span_bytes / spread.page_step_bytes);
  const std::string label = fmt::format("tlb span {} step {}", span_bytes, spread.page_step_bytes);
  const auto pairs_of = [&](std::uint64_t shift) { return page_pairs(spread, 0, pages, shift); };
  return {span_bytes, measure_steady_costs(setup, label, pairs_of, lines)};
}

std::vector<PageChaseCosts> measure_growing_chases(PageChaseSetup& setup) {
  constexpr int tries = 8;  // each try asks for a sixteenth less, down to six tenths
  constexpr std::uint64_t fewest_steps = 4;
  std::vector<PageChaseCosts> chases;
  int failures = 0;
  for (std::uint64_t span_bytes = fewest_steps * least_step_bytes;;) {
    const std::uint64_t bounded_bytes = std::min(span_bytes, setup.limit_bytes);
    const auto refusal = refusal_of([&] { chases.push_back(measure_span(setup, bounded_bytes)); });
    if (refusal) {
      if (chases.empty()) throw DeviceError(*refusal);
      const std::uint64_t less_bytes =
          bounded_bytes / 16 * 15 / large_page_bytes * large_page_bytes;
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

std::vector<std::vector<double>> pair_costs(const PageChaseSetup& setup, const std::string& label,
                                            const std::vector<ChaseLane>& lanes,
                                            const PairPasses& passes) {
  const std::uint64_t places = lanes.front().offsets_bytes.size();
  const std::uint64_t pairs = std::min(passes.timed * places, passes.most_pairs);
  PageChaseSetup placed = setup;
  if (places * lanes.size() > setup.kept_pages) placed.second_access = SecondAccess::from_memory;
  std::vector<std::vector<double>> costs(lanes.size(), std::vector<double>(pairs));
  const std::vector<Turn> turns = turns_of(placed.second_access);
  for (Turn turn : turns) {
    const auto cycles = record_pairs(placed, label, lanes, passes, turn);
    for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
      for (std::size_t pair = 0; pair < pairs; ++pair) {
        costs[lane][pair] += (cycles[lane][2 * pair] - cycles[lane][2 * pair + 1]) /
                             static_cast<double>(turns.size());
      }
    }
  }
  return costs;
}

}  // namespace sonde
