// Job `bypass`: the warps of a program share an L1. Measures how many of them should use it,
// and how many the model of Dai et al. (DAC 2016) would choose. Method: docs/methods/bypass.md.
#include "base/gpu_facts.hpp"
#include "jobs/bypass/sweep.hpp"
#include "jobs/run/attempt.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace sonde {
namespace {

/// Performances within this fraction count as equal; replicates differ by about as much.
constexpr double equal_fraction = 0.01;
/// A program gains if its best number of units is better by the first fraction; a choice is near
/// the best if it loses at most the second one.
constexpr double least_gain = 0.05;
constexpr double near_fraction = 0.03;
/// The paper's exponent for reservation failures (section 5.2), used if none can be fitted.
constexpr double papers_exponent = 3;
/// Below this R2 no exponent is reported. The paper accepts 0.88; the 0.47 to 0.63 that an H200
/// gives from run to run is too low.
constexpr double least_r2 = 0.75;
/// Warps wait if all warps together wait this part of what a hit saves, per access.
constexpr double least_wait = 0.02;

struct Model {
  double exponent = papers_exponent;
  double e = 0;
};

/// Learns from the programs that teach the model.
Model report_learnt(JobRun& run, const std::vector<ProgramSweep>& all) {
  std::vector<BypassSweep> taught;
  double least_wait_cycles = 0;
  for (const ProgramSweep& one : all) {
    if (!one.program.taught) continue;
    taught.push_back(one.sweep);
    least_wait_cycles =
        std::max(least_wait_cycles, least_wait * one.sweep.hit_gain_cycles * one.timed_loads);
  }
  Model model;
  const auto law = fit_wait(taught, least_wait_cycles);
  if (!law) {
    run.leave_open("bypass.exponent",
                   "no program waits for the L1 when all warps use it: that needs more warps, or "
                   "fewer resources for misses");
  } else {
    run.report("bypass.exponent_r2", law->r2, law->points);
    if (law->r2 >= least_r2) {
      model.exponent = law->exponent;
      run.report("bypass.exponent", law->exponent, law->points, law->r2);
    }
    run.leave_open(
        "bypass.exponent",
        fmt::format("waiting time follows no power law of the share of warps that use the L1 "
                    "(best exponent {:.2f}, R2 {:.2f}): warps that bypass it wait too; only a "
                    "count of reservation failures would show it, and the device has none",
                    law->exponent, law->r2));
  }
  if (taught.empty()) {
    run.report(not_resolvable("bypass.e", "no training program could be run"));
    model.e = 0.5;
    return model;
  }
  model.e = learn_e(taught, model.exponent);
  run.report("bypass.e", model.e, taught.size());
  return model;
}

/// Reports a vector with the number or numbers that `value` returns for each program. Absent if no
/// number is known.
template <class OfProgram>
void report_vector(JobRun& run, const char* name, const std::vector<ProgramSweep>& all,
                   const OfProgram& value) {
  std::vector<double> values;
  for (const ProgramSweep& one : all) {
    if constexpr (std::is_convertible_v<decltype(value(one)), double>) {
      values.push_back(static_cast<double>(value(one)));
    } else {
      const auto& numbers = value(one);
      values.insert(values.end(), numbers.begin(), numbers.end());
    }
  }
  const std::string metric = std::string("bypass.") + name;
  if (std::ranges::all_of(values, [](double number) { return std::isnan(number); })) {
    return run.report(not_present(metric, "the device has no such loads, or one size of L1"));
  }
  run.report(metric, std::move(values), all.size());
}

/// The advice in words: how many units should bypass, and what that gains.
std::string advise(const ProgramSweep& one) {
  const std::size_t best = best_cached(one.sweep, equal_fraction);
  const int units = one.sweep.cached.back();
  const double speedup = one.speedup_at(best);
  const std::string& name = one.program.program.name;
  if (speedup < 1 + equal_fraction) return fmt::format("{}: none should bypass", name);
  return fmt::format("{}: {} of {} {}s should bypass: {:+.1f} %", name,
                     units - one.sweep.cached[best], units, to_text(one.program.level),
                     100 * (speedup - 1));
}

/// @param refusals programs that the device refused, with reasons
void report_patterns(JobRun& run, const std::vector<ProgramSweep>& all, const Model& model,
                     const std::vector<std::string>& refusals) {
  std::vector<std::string> names, advice;
  for (const ProgramSweep& one : all) {
    names.push_back(one.program.program.name);
    advice.push_back(advise(one));
  }
  run.report(found("bypass.patterns", fmt::format("{}", fmt::join(names, "; ")), 1, all.size()),
             fmt::format("{}", fmt::join(refusals, "; ")));
  run.report("bypass.advice", fmt::format("{}", fmt::join(advice, "; ")), all.size());
  const auto report = [&](const char* name, const auto& value) {
    report_vector(run, name, all, value);
  };
  const auto best = [](const ProgramSweep& one) { return best_cached(one.sweep, equal_fraction); };
  const auto chosen = [&model](const ProgramSweep& one) {
    return choose_cached(one.sweep, model.e, model.exponent);
  };
  report("units", [](const auto& one) { return one.sweep.cached.back(); });
  report("cached", [](const auto& one) { return one.sweep.cached; });
  report("accesses_per_cycle", [](const auto& one) { return one.sweep.performance; });
  report("estimated_hits", [](const auto& one) { return one.sweep.estimated_hits; });
  report("congestion", [](const auto& one) { return one.congestion; });
  report("best_l", [&](const auto& one) { return one.sweep.cached[best(one)]; });
  report("best_speedup", [&](const auto& one) { return one.speedup_at(best(one)); });
  report("none_speedup", [](const auto& one) { return one.speedup_at(0); });
  report("no_allocate_speedup", [](const auto& one) { return one.no_allocate_speedup; });
  report("evict_first_speedup", [](const auto& one) { return one.evict_first_speedup; });
  report("throttled_speedup", [](const auto& one) { return one.throttled_speedup; });
  report("large_l1_speedup", [](const auto& one) { return one.large_l1_speedup; });
  report("model_l", [&](const auto& one) { return one.sweep.cached[chosen(one)]; });
  report("model_speedup", [&](const auto& one) { return one.speedup_at(chosen(one)); });
}

/// Reports how well the model chooses for programs that it did not learn from.
void report_judgement(JobRun& run, const std::vector<ProgramSweep>& all, const Model& model) {
  double gaining = 0;
  double near = 0;
  for (const ProgramSweep& one : all) {
    if (one.program.taught) continue;
    const double best = std::ranges::max(one.sweep.performance);
    if (best < (1 + least_gain) * one.sweep.performance.back()) continue;
    ++gaining;
    const std::size_t chosen = choose_cached(one.sweep, model.e, model.exponent);
    if (one.sweep.performance[chosen] >= (1 - near_fraction) * best) ++near;
  }
  run.report("bypass.gaining_patterns", gaining, all.size());
  run.report(gaining > 0
                 ? found("bypass.near_fraction", near / gaining, 1, all.size())
                 : not_resolvable("bypass.near_fraction",
                                  "no pattern outside the training set gains 5 % by bypassing"));
}

}  // namespace

void run_bypass(JobRun& run) {
  const auto size_bytes = run.number("cache.l1.size_bytes");
  if (!size_bytes) {
    return run.leave_open("", "cache.l1.size_bytes is not known: shadow tags need it");
  }
  SweepSetup setup = make_setup(run, *size_bytes);
  bool is_faster = false;
  const auto refused = refusal_of([&] { is_faster = calibrate(run, setup); });
  if (!is_faster) {
    return run.leave_open(
        "", refused.value_or("one warp alone is no faster through the L1 than past it"));
  }
  report_paths(run, setup);
  run.report("bypass.l1_bytes", setup.l1_bytes, 1);
  if (setup.large_l1_carveout_bytes) {
    run.report("bypass.large_l1_bytes", setup.large_l1_bytes, 1);
  }
  std::vector<PaperProgram> programs = paper_programs();
  const int most_warps = run.info().max_threads_per_block / static_cast<int>(warp_threads);
  std::ranges::move(row_programs(most_warps, run.info().sm_count), std::back_inserter(programs));
  std::vector<ProgramSweep> all;
  std::vector<std::string> refusals;
  for (const PaperProgram& program : programs) {
    const auto refusal = refusal_of([&] { all.push_back(sweep_program(run, program, setup)); });
    if (refusal) refusals.push_back(fmt::format("{}: {}", program.program.name, *refusal));
  }
  if (all.empty()) return run.leave_open("", refusals.front());
  const Model model = report_learnt(run, all);
  report_patterns(run, all, model, refusals);
  report_judgement(run, all, model);
  run.report_rest("", Status::not_present, "the L1 has one size");
}

}  // namespace sonde
