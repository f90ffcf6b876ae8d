// Job `bypass`: programs that share an L1 among warps, of which only some use it. Measures how many
// should, and what the model of Dai et al. (DAC 2016) would have chosen.
// Method: docs/methods/bypass.md.
#include "base/gpu_facts.hpp"
#include "jobs/bypass/calibration.hpp"
#include "jobs/bypass/programs.hpp"
#include "jobs/bypass/report.hpp"
#include "jobs/bypass/rows.hpp"
#include "jobs/bypass/study_report.hpp"
#include "jobs/run/attempt.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace sonde {
namespace {

/// A program gains if the best number is better by this; the choice is near if it loses no more.
constexpr double least_gain = 0.05;
constexpr double near_fraction = 0.03;
/// What the paper finds for reservation failures (section 5.2), taken where none can be fitted.
constexpr double papers_exponent = 3;
/// Below it no power is reported. The paper calls 0.88 enough; what an H200 gives, 0.47 to 0.63
/// from run to run, is none.
constexpr double least_r2 = 0.75;
/// Warps wait if all together wait this part of what a hit saves for each access.
constexpr double least_wait = 0.02;

struct Model {
  double exponent = papers_exponent;
  double e = 0;
};

/// From the programs that teach alone.
Model report_learnt(JobRun& run, const std::vector<Measured>& all) {
  std::vector<BypassSweep> taught;
  double least_wait_cycles = 0;
  for (const Measured& measured : all) {
    if (!measured.program.taught) continue;
    taught.push_back(measured.result.sweep);
    least_wait_cycles =
        least_wait * measured.result.sweep.hit_gain_cycles * measured.result.all_cached.loads;
  }
  Model model;
  const auto law = fit_wait(taught, least_wait_cycles);
  if (!law) {
    run.report_rest("bypass.exponent", Status::not_resolvable,
                    "no program waits on the way through the L1, with all warps using it: it would "
                    "take more warps, or fewer resources for misses");
  } else {
    run.report(found("bypass.exponent_r2", law->r2, 1, law->points));
    if (law->r2 >= least_r2) {
      model.exponent = law->exponent;
      run.report(found("bypass.exponent", law->exponent, law->r2, law->points));
    } else {
      run.report(not_resolvable(
          "bypass.exponent",
          fmt::format("what warps wait follows no power of the part of them that uses the L1 (best "
                      "{:.2f}, R2 {:.2f}): those that bypass it wait too, so it would take a count "
                      "of reservation failures, which the device does not give",
                      law->exponent, law->r2)));
    }
  }
  if (taught.empty()) {
    run.report(not_resolvable("bypass.e", "none of the programs that teach it could be played"));
    model.e = 0.5;
    return model;
  }
  model.e = learn_e(taught, model.exponent);
  run.report(found("bypass.e", model.e, 1, taught.size()));
  return model;
}

void report_choice(JobRun& run, const Measured& measured, const Model& model) {
  const std::string prefix = prefix_of(measured.program);
  const BypassSweep& sweep = measured.result.sweep;
  const std::size_t chosen = choose_cached(sweep, model.e, model.exponent);
  const std::size_t numbers = sweep.cached.size();
  run.report(found(prefix + "model_l", static_cast<double>(sweep.cached[chosen]), 1, numbers));
  run.report(found(prefix + "model_speedup", measured.result.speedup_at(chosen), 1, numbers));
  const std::size_t best = best_cached(sweep, equal_fraction);
  run.report(found(prefix + "advice",
                   describe_choice(measured, sweep.cached[best], measured.result.speedup_at(best)),
                   1, numbers));
}

/// How the choices of the model do for programs that it was not taught.
void report_judgement(JobRun& run, const std::vector<Measured>& all, const Model& model) {
  double gaining = 0;
  double near = 0;
  double held_out = 0;
  for (const Measured& measured : all) {
    if (measured.program.taught) continue;
    ++held_out;
    const BypassSweep& sweep = measured.result.sweep;
    const double best = std::ranges::max(sweep.performance);
    if (best < (1 + least_gain) * sweep.performance.back()) continue;
    ++gaining;
    const double chosen = sweep.performance[choose_cached(sweep, model.e, model.exponent)];
    if (chosen >= (1 - near_fraction) * best) ++near;
  }
  const auto programs = static_cast<std::uint64_t>(held_out);
  run.report(found("bypass.held_out.programs", held_out, 1, programs));
  run.report(found("bypass.held_out.gaining", gaining, 1, programs));
  run.report(gaining > 0 ? found("bypass.held_out.near_fraction", near / gaining, 1, programs)
                         : not_resolvable(
                               "bypass.held_out.near_fraction",
                               "no program that the model was not taught gains 5 % by bypassing"));
}

}  // namespace

void run_bypass(JobRun& run) {
  const auto size_bytes = run.number("cache.l1.size_bytes");
  if (!size_bytes) {
    return run.report_rest("", Status::not_resolvable,
                           "cache.l1.size_bytes is not known: shadow tags need it");
  }
  const auto [small_l1, large_l1] = find_l1_parts(run, *size_bytes);
  SweepSetup small = make_setup(run, small_l1);
  bool is_faster = false;
  const auto refused = refusal_of([&] { is_faster = calibrate(run, small); });
  if (!is_faster) {
    return run.report_rest(
        "", Status::not_resolvable,
        refused.value_or("one warp alone is no faster through the L1 than past it"));
  }
  for (BypassPath path : {BypassPath::past_l1, BypassPath::no_allocate, BypassPath::evict_first}) {
    report_path(run, path, small);
  }
  run.report(found("bypass.l1_bytes", static_cast<double>(small_l1.l1_bytes), 1, 1));
  std::optional<SweepSetup> large;
  if (large_l1.l1_bytes > small_l1.l1_bytes) {
    large = make_setup(run, large_l1);
    run.report(found("bypass.large_l1_bytes", static_cast<double>(large_l1.l1_bytes), 1, 1));
  }
  std::vector<PaperProgram> programs = paper_programs();
  const int most_warps = run.info().max_threads_per_block / static_cast<int>(warp_threads);
  for (PaperProgram& rows : row_programs(most_warps, run.info().sm_count)) {
    programs.push_back(std::move(rows));
  }
  std::vector<Measured> all;
  for (const PaperProgram& program : programs) {
    const auto refusal =
        refusal_of([&] { all.push_back(measure_program(run, program, small, large)); });
    if (refusal) run.report_rest(prefix_of(program), Status::not_resolvable, *refusal);
  }
  for (const Measured& measured : all) report_measured(run, measured);
  const Model model = report_learnt(run, all);
  for (const Measured& measured : all) report_choice(run, measured, model);
  report_judgement(run, all, model);
  report_study(run);
  run.report_rest("", Status::not_present, "the device has no such L1, or no such block");
}

}  // namespace sonde
