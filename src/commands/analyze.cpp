// `sonde analyze`: read a run file, reduce it, keep the analysis in the file, print it.
#include "commands/analyze.hpp"
#include "analysis/fleet/reduce.hpp"
#include "analysis/fleet/repeats.hpp"
#include "base/standard_output.hpp"
#include "commands/again_plan.hpp"

#include "commands/commands.hpp"
#include "store/run_reader.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <unistd.h>

#include <cstdlib>
#include <iostream>

namespace sonde {
namespace {

FleetRow make_row(const RunResult& run, const FleetAnalysis& analysis,
                  const MetricStatistics& statistics) {
  std::vector<std::string> outliers;
  for (const Standing& standing : statistics.furthest) {
    outliers.push_back(run.devices[standing.device].info.uuid);
  }
  return {.group = analysis.groups[statistics.group].label,
          .metric = statistics.metric,
          .unit = statistics.unit,
          .n = statistics.n,
          .median = statistics.median,
          .mad = statistics.mad,
          .min = statistics.min,
          .max = statistics.max,
          .cv = statistics.cv,
          .consensus = statistics.consensus,
          .agreeing = statistics.agreeing,
          .outliers = fmt::format("{}", fmt::join(outliers, " "))};
}

/// mpirun gives its ranks a terminal even if its own output goes to a file: no colours there.
Colour stdout_colour() {
  const bool launched = std::getenv("OMPI_COMM_WORLD_RANK") || std::getenv("PMIX_RANK");
  const bool wanted = isatty(STDOUT_FILENO) && std::getenv("NO_COLOR") == nullptr;
  return wanted && !launched ? Colour::on : Colour::off;
}

}  // namespace

AnalysisRecord make_analysis_record(const RunResult& run, const FleetAnalysis& analysis) {
  AnalysisRecord record{.json = render_json(run, analysis)};
  for (const MetricStatistics& statistics : analysis.statistics) {
    record.fleet.push_back(make_row(run, analysis, statistics));
  }
  for (std::size_t i = 0; i < run.devices.size(); ++i) {
    const DeviceVerdict& verdict = analysis.verdicts[i];
    record.verdicts.push_back({.uuid = run.devices[i].info.uuid,
                               .verdict = std::string(to_text(verdict.verdict)),
                               .likely_class = std::string(to_text(verdict.likely)),
                               .reason = verdict.reason});
  }
  return record;
}

ExitStatus analyze_run(const std::filesystem::path& path) {
  const RunResult run = centre_of_repeats(read_run(path, WithTraces::no));
  const FleetAnalysis analysis = reduce_fleet(run);
  append_analysis(path, make_analysis_record(run, analysis));
  std::cout << render_terminal(run, analysis, stdout_colour())
            << describe_unconfirmed(run, analysis, path);
  finish_output();  // here, too: at the end of a run a worker process prints
  return exit_status(analysis);
}

ExitStatus execute(const AnalyzeOptions& options) {
  const ExitStatus status = analyze_run(options.run);
  if (!options.baseline.empty()) {
    std::cout << "\n";
    execute(CompareOptions{.runs = {options.baseline, options.run}});
  }
  return status;
}

}  // namespace sonde
