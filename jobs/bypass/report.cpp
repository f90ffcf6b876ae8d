#include "jobs/bypass/report.hpp"

#include "analysis/replication.hpp"
#include "analysis/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace sonde {
namespace {

void report_ratio(JobRun& run, const std::string& metric, const std::vector<double>& values) {
  if (values.empty()) {
    return run.report(not_present(metric, "the device has no such loads"));
  }
  Finding finding = found(metric, median(values), 1, values.size());
  finding.reproducibility = deviation_between(values);
  finding.replicates = values.size();
  run.report(std::move(finding));
}

/// A curve over the numbers, where each was timed load by load.
void report_window_curves(JobRun& run, const Measured& measured) {
  const std::string prefix = prefix_of(measured.program);
  const ProgramSweep& result = measured.result;
  if (result.windows.empty()) {
    return run.report_rest(prefix + "windows.", Status::skipped,
                           "not in this suite for this program: the full suite has it");
  }
  std::vector<double> hits, hit_cycles, congestion, issue_cycles;
  for (const LoadWindows& windows : result.windows) {
    hits.push_back(windows.hits);
    hit_cycles.push_back(windows.hit_cycles);
    congestion.push_back(windows.mean_cycles / result.alone.mean_cycles);
    issue_cycles.push_back(windows.issue_cycles);
  }
  const auto report = [&](const char* name, std::vector<double> values) {
    run.report(found(prefix + "windows." + name, std::move(values), 1, result.windows.size()));
  };
  report("hits", std::move(hits));
  report("hit_cycles", std::move(hit_cycles));
  report("congestion", std::move(congestion));
  report("issue_cycles", std::move(issue_cycles));
}

void report_large_l1(JobRun& run, const Measured& measured) {
  const std::string prefix = prefix_of(measured.program) + "large_l1.";
  const auto& speedups = measured.large_l1_speedups;
  if (speedups.empty()) {
    return run.report_rest(prefix, Status::not_present, "the L1 has one size");
  }
  const auto best =
      static_cast<std::size_t>(std::distance(speedups.begin(), std::ranges::max_element(speedups)));
  run.report(found(prefix + "speedups", speedups, 1, speedups.size()));
  run.report(found(prefix + "advice",
                   describe_choice(measured, measured.large_l1_cached[best], speedups[best]), 1,
                   speedups.size()));
}

/// Half of the units, or one.
int half_of(int units) { return (units + 1) / 2; }

}  // namespace

std::string prefix_of(const PaperProgram& program) {
  return fmt::format("bypass.{}.", program.program.name);
}

Measured measure_program(JobRun& run, const PaperProgram& program, const SweepSetup& small,
                         const std::optional<SweepSetup>& large) {
  Measured measured{.program = program, .result = sweep_program(run, program, small)};
  if (large) {
    const int units = measured.result.sweep.cached.back();
    measured.large_l1_cached = {0, half_of(units), units};
    if (large->all_windows) measured.large_l1_cached = measured.result.sweep.cached;
    measured.large_l1_speedups = measure_speedups(run, program, *large, measured.large_l1_cached);
  }
  return measured;
}

void report_measured(JobRun& run, const Measured& measured) {
  const std::string prefix = prefix_of(measured.program);
  const ProgramSweep& result = measured.result;
  const BypassSweep& sweep = result.sweep;
  const std::size_t numbers = sweep.cached.size();
  const auto report = [&](const char* name, Value value) {
    run.report(found(prefix + name, std::move(value), 1, numbers));
  };
  const std::size_t best = best_cached(sweep, equal_fraction);
  report("units", static_cast<double>(sweep.cached.back()));
  report("cached", std::vector<double>(sweep.cached.begin(), sweep.cached.end()));
  report("accesses_per_cycle", sweep.performance);
  report("cycles", result.cycles);
  report("estimated_hits", sweep.estimated_hits);
  report("congestion", result.all_cached.mean_cycles / result.alone.mean_cycles);
  report("issue_cycles", result.all_cached.issue_cycles);
  report("best_l", static_cast<double>(sweep.cached[best]));
  report_ratio(run, prefix + "speedup", result.best_speedups);
  report_ratio(run, prefix + "bypass_speedup", result.bypass_speedups);
  report_ratio(run, prefix + "no_allocate_speedup", result.no_allocate_speedups);
  report_ratio(run, prefix + "evict_first_speedup", result.evict_first_speedups);
  report_ratio(run, prefix + "throttled_speedup", result.throttled_speedups);
  report("throttled_warps", static_cast<double>(result.throttled_warps));
  report_window_curves(run, measured);
  report_large_l1(run, measured);
}

std::string describe_choice(const Measured& measured, int cached, double speedup) {
  const int units = measured.result.sweep.cached.back();
  const std::string_view unit = to_text(measured.program.level);
  if (cached == units || speedup < 1 + equal_fraction) return "none should bypass";
  return fmt::format("{} of {} {}s should bypass: {:+.1f} %", units - cached, units, unit,
                     100 * (speedup - 1));
}

}  // namespace sonde
