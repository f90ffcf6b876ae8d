#include "jobs/bypass/study_report.hpp"

#include "jobs/bypass/paper_figures.hpp"
#include "jobs/bypass/programs.hpp"
#include "jobs/bypass/report.hpp"
#include "jobs/run/attempt.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

namespace sonde {
namespace {

/// Lines of an SM in each play: warps that read a row come to the tenth line of it or so. The bench
/// paper_figures plays longer.
constexpr double study_lines = 50000;
constexpr std::uint64_t least_accesses = 1000;

using Outcome = StudyOutcome ProgramStudy::*;
constexpr std::array<Outcome, 4> speedup_schemes{&ProgramStudy::swl_best, &ProgramStudy::cbwt_best,
                                                 &ProgramStudy::mdb_local,
                                                 &ProgramStudy::mdb_global};
constexpr std::array<Outcome, 4> count_schemes{&ProgramStudy::base, &ProgramStudy::swl_best,
                                               &ProgramStudy::cbwt_best, &ProgramStudy::mdb_global};

std::vector<double> speedups_of(const ProgramStudy& study, std::span<const Outcome> outcomes) {
  std::vector<double> speedups;
  for (Outcome outcome : outcomes) speedups.push_back(speedup_of(study, study.*outcome));
  return speedups;
}

/// Those without the dynamic bypass, the base with it, and those with it.
std::vector<double> with_and_without(const ProgramStudy& study,
                                     const std::vector<StudyOutcome>& outcomes) {
  std::vector<double> speedups;
  for (const StudyOutcome& outcome : outcomes) speedups.push_back(speedup_of(study, outcome));
  const auto middle = speedups.begin() + static_cast<std::ptrdiff_t>(speedups.size() / 2);
  speedups.insert(middle, speedup_of(study, study.mdb_global));
  return speedups;
}

std::vector<double> count_by_scheme(const ProgramStudy& study, double StudyOutcome::*count) {
  std::vector<double> counts;
  for (Outcome scheme : count_schemes) {
    const StudyOutcome& outcome = study.*scheme;
    counts.push_back(outcome.per_kilo_instruction(outcome.*count));
  }
  return counts;
}

std::vector<double> accesses_by_scheme(const ProgramStudy& study) {
  std::vector<double> rates;
  for (Outcome scheme : count_schemes) rates.push_back((study.*scheme).accesses_per_cycle());
  return rates;
}

void report_means(JobRun& run, const std::vector<ProgramStudy>& studies) {
  const auto programs = static_cast<std::uint64_t>(studies.size());
  for (const bool high : {true, false}) {
    std::vector<double> means;
    for (Outcome scheme : speedup_schemes) means.push_back(mean_speedup(studies, high, scheme));
    run.report(found(high ? "bypass.study.high_speedups" : "bypass.study.low_speedups",
                     std::move(means), 1, programs));
  }
  const FailureFit fit = fit_failures(studies);
  if (!fit.power) {
    return run.report_rest("bypass.study.", Status::not_resolvable,
                           "the programs that teach had no reservation failures");
  }
  run.report(found("bypass.study.failures_cubic_r2", fit.cubic_r2, 1, fit.power->points));
  run.report(found("bypass.study.failures_exponent", fit.power->exponent, 1, fit.power->points));
  run.report(found("bypass.study.failures_exponent_r2", fit.power->r2, 1, fit.power->points));
}

}  // namespace

void report_program_study(JobRun& run, const ProgramStudy& study) {
  const std::string prefix = prefix_of(study.program) + "study.";
  const auto report = [&](const char* name, Value value) {
    run.report(found(prefix + name, std::move(value), 1, study.cached.size()));
  };
  constexpr std::array<Outcome, 3> l1s{&ProgramStudy::modulo, &ProgramStudy::no_l1,
                                       &ProgramStudy::l1_8mb};
  report("l1_speedups", speedups_of(study, l1s));
  std::vector<double> speedups, hits, failures;
  for (const StudyOutcome& outcome : study.cached) {
    speedups.push_back(speedup_of(study, outcome));
    hits.push_back(outcome.per_kilo_instruction(outcome.l1_hits));
    failures.push_back(outcome.per_kilo_instruction(outcome.failures));
  }
  report("cached_speedups", std::move(speedups));
  report("cached_hits", std::move(hits));
  report("cached_failures", std::move(failures));
  report("scheme_speedups", speedups_of(study, speedup_schemes));
  report("swl_warps", static_cast<double>(study.swl_warps));
  report("mdb_mean_l", study.mdb_global.mean_cached);
  report("scheme_hits", count_by_scheme(study, &StudyOutcome::l1_hits));
  report("scheme_failures", count_by_scheme(study, &StudyOutcome::failures));
  report("scheme_accesses_per_cycle", accesses_by_scheme(study));
  report("scheme_l2_requests", count_by_scheme(study, &StudyOutcome::l2_requests));
  report("capacity_speedups", with_and_without(study, study.capacity));
  report("scheduler_speedups", with_and_without(study, study.scheduler));
}

void report_study(JobRun& run) {
  const bool wanted = run.level() == SuiteLevel::full;
  std::vector<ProgramStudy> studies;
  std::string refusal;
  for (const PaperProgram& program : paper_programs()) {
    const std::string prefix = prefix_of(program) + "study.";
    if (!wanted) {
      run.report_rest(prefix, Status::skipped, "not in this suite: the full suite has it");
      continue;
    }
    const double lines = lines_per_access(program.program);
    const auto accesses = std::max(static_cast<std::uint64_t>(study_lines / lines), least_accesses);
    const auto refused = refusal_of([&] {
      studies.push_back(study_program(program, accesses,
                                      [&run](const std::string& label, const ProgramProbe& probe) {
                                        return run.ask("study: " + label, probe);
                                      }));
    });
    if (!refused) {
      report_program_study(run, studies.back());
      continue;
    }
    refusal = *refused;
    run.report_rest(prefix, Status::not_resolvable, refusal);
  }
  if (!wanted) {
    run.report_rest("bypass.study.", Status::skipped, "not in this suite: the full suite has it");
  } else if (studies.empty()) {
    run.report_rest("bypass.study.", Status::not_resolvable, refusal);
  } else {
    report_means(run, studies);
  }
}

}  // namespace sonde
