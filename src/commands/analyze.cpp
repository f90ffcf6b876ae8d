// `sonde analyze`: read a run file, reduce it, keep the analysis in the file, print it.
#include "commands/analyze.hpp"

#include "analysis/fleet/reduce.hpp"
#include "analysis/report/content.hpp"
#include "base/error.hpp"
#include "base/standard_output.hpp"
#include "commands/again_plan.hpp"
#include "commands/commands.hpp"
#include "commands/fleet_file.hpp"
#include "store/run_reader.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <optional>

namespace sonde {
namespace {

constexpr std::size_t narrowest = 60;  // below, tables have no room for remarks

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
          .outliers = fmt::format("{}", fmt::join(outliers, " ")),
          .kind = std::string(to_text(statistics.kind)),
          .summary = statistics.summary,
          .scale = statistics.scale,
          .threshold = statistics.threshold,
          .ambiguous = statistics.ambiguous};
}

FlagRow make_flag(const RunResult& run, const Charge& charge) {
  const bool of_device = charge.device != Charge::no_device;
  return {.uuid = of_device ? run.devices[charge.device].info.uuid : "",
          .node = charge.node,
          .setting = of_device
                         ? describe_setting(run.provenance, run.devices[charge.device].point_index)
                         : "",
          .metric = charge.metric,
          .severity = std::string(to_text(charge.severity)),
          .likely_class = std::string(to_text(charge.trouble)),
          .value = charge.value,
          .reference = charge.reference,
          .deviation_fraction = charge.size,
          .score = charge.score,
          .n = charge.n,
          .unit = to_text(charge.unit),
          .ground = std::string(to_text(charge.ground)),
          .reason = charge.reason,
          .evidence = charge.evidence};
}

/// mpirun gives its ranks a terminal even if its own output goes to a file: no colours there.
Colour stdout_colour() {
  const bool launched = std::getenv("OMPI_COMM_WORLD_RANK") || std::getenv("PMIX_RANK");
  const bool wanted = isatty(STDOUT_FILENO) && std::getenv("NO_COLOR") == nullptr;
  return wanted && !launched ? Colour::on : Colour::off;
}

std::size_t stdout_width() {
  winsize size{};
  const bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? std::max<std::size_t>(size.ws_col, narrowest) : 0;
}

}  // namespace

AnalysisRecord make_analysis_record(const RunResult& run, const FleetAnalysis& analysis) {
  AnalysisRecord record;
  for (const MetricStatistics& statistics : analysis.statistics) {
    record.fleet.push_back(make_row(run, analysis, statistics));
  }
  for (const Charge& charge : analysis.charges) record.flags.push_back(make_flag(run, charge));
  for (std::size_t i = 0; i < run.devices.size(); ++i) {
    const DeviceVerdict& verdict = analysis.verdicts[i];
    record.verdicts.push_back({.uuid = run.devices[i].info.uuid,
                               .verdict = std::string(to_text(verdict.verdict)),
                               .likely_class = std::string(to_text(verdict.likely)),
                               .reason = verdict.reason});
  }
  return record;
}

Analysed analyze_run(const std::filesystem::path& path, const std::string& baseline) {
  const auto [run, analysis] = read_fleet(path, baseline);
  std::optional<std::string> problem;  // told when the analysis is printed: it may be all there is
  try {
    append_analysis(path, make_analysis_record(run, analysis));
  } catch (const StoreError& error) {
    problem = error.what();
  }
  std::cout << render_terminal(run, analysis, stdout_colour(), stdout_width(), Detail::summary)
            << describe_unconfirmed(run, analysis, path)
            << fmt::format("\nall values: sonde export {} --format table\n", path.string());
  finish_output();  // here, too: at the end of a run a worker process prints
  if (problem) throw StoreError(*problem);
  return {.status = exit_status(analysis), .counts = analysis.counts};
}

std::string describe_end(ExitStatus status, const FleetCounts& counts,
                         const std::string& run_file) {
  std::vector<std::string> parts;
  const auto add = [&parts](std::size_t count, const char* what) {
    if (count > 0) parts.push_back(fmt::format("{} {}", count, what));
  };
  add(counts.passed, "passed");
  add(counts.warned, "warned");
  add(counts.failed, "failed");
  add(counts.incomplete, "incomplete");
  add(counts.lost, "lost");
  if (status == ExitStatus::verdict && counts.failed == 0) {
    parts.emplace_back("a node has fewer GPUs than most");
  }
  return fmt::format("status {}: {}; see {}", static_cast<int>(status), fmt::join(parts, ", "),
                     run_file);
}

ExitStatus execute(const AnalyzeOptions& options) {
  check_readable(options.run, WithTraces::no);
  const ExitStatus status = analyze_run(options.run, options.baseline).status;
  if (!options.baseline.empty()) {
    std::cout << "\n" << render_comparison(compare_files(options.baseline, options.run));
  }
  return status;
}

}  // namespace sonde
