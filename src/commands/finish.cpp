#include "commands/finish.hpp"

#include "analysis/fleet/fleet.hpp"
#include "analysis/report/report.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "commands/commands.hpp"
#include "fleet/gather.hpp"
#include "store/analysis_file.hpp"
#include "store/merge.hpp"
#include "store/output.hpp"
#include "store/read_run.hpp"
#include "store/write_run.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>

namespace sonde {
namespace {

bool anyone_stopped_early(MPI_Comm comm, const Measured* mine) {
  const auto texts = gather_texts(comm, mine && mine->stopped_early ? "stopped" : "");
  return std::any_of(texts.begin(), texts.end(), [](const auto& text) { return !text.empty(); });
}

AnalysisRecord make_record(const RunResult& run, const FleetAnalysis& analysis) {
  AnalysisRecord record;
  record.json = render_json(run, analysis);
  for (const MetricStatistics& row : analysis.statistics) {
    std::string outliers;
    for (const Standing& standing : row.furthest) {
      if (!outliers.empty()) outliers += ' ';
      outliers += run.devices[standing.device].info.uuid;
    }
    record.fleet.push_back({analysis.groups[row.group].label, row.metric, row.n, row.median,
                            row.mad, row.min, row.max, row.cv, outliers});
  }
  for (std::size_t i = 0; i < run.devices.size(); ++i) {
    const DeviceVerdict& verdict = analysis.verdicts[i];
    record.verdicts.push_back({run.devices[i].info.uuid, std::string(to_text(verdict.verdict)),
                               std::string(to_text(verdict.likely)), verdict.reason});
  }
  return record;
}

/// mpirun gives its ranks a terminal even if its own output goes to a file: no colours there.
Colour stdout_colour() {
  const bool launched = std::getenv("OMPI_COMM_WORLD_RANK") || std::getenv("PMIX_RANK");
  const bool wanted = isatty(STDOUT_FILENO) && std::getenv("NO_COLOR") == nullptr;
  return wanted && !launched ? Colour::on : Colour::off;
}

}  // namespace

int analyze_run(const std::string& path) {
  const RunResult run = read_run(path, WithTraces::no);
  const FleetAnalysis analysis = reduce_fleet(run);
  append_analysis(path, make_record(run, analysis));
  std::cout << render_terminal(run, analysis, stdout_colour()) << std::flush;
  return exit_status(analysis);
}

int finish_together(const Config& config, MpiSession& mpi, const MeasurePlan& plan,
                    const Measured* mine, const std::vector<UnauditedDevice>& unaudited) {
  if (anyone_stopped_early(mpi.world(), mine)) {
    log_world(fmt::format("stopped by a signal; {} keeps what was measured, go on with --resume",
                          plan.parts.string()));
    return exit_code::resumable;
  }
  try {
    write_run_together(mpi.world(), config.output, plan.provenance, mine ? &mine->device : nullptr,
                       unaudited);
  } catch (const StoreError& error) {
    throw AgreedError(
        fmt::format("{} ({} keeps what was measured)", error.what(), plan.parts.string()));
  }
  std::string status;
  if (mpi.rank() == 0) {
    try {
      for (const std::string& note : add_leftover_shards(config.output).notes) log_world(note);
      remove_parts(config.output);
      status = std::to_string(analyze_run(config.output));
      log_world("wrote " + config.output);
    } catch (const Error& error) {
      log_world(error.what());
      status = std::to_string(exit_code::error);
    }
  }
  return std::stoi(broadcast_text(mpi.world(), status));
}

int finish_without(const Config& config, const MeasurePlan& plan,
                   const std::vector<DeviceResult>& lost,
                   const std::vector<UnauditedDevice>& unaudited) {
  try {
    log_world(
        fmt::format("{} device(s) lost; building {} from the shards", lost.size(), config.output));
    const MergeNotes merge = write_run_from_shards(config.output, plan.provenance,
                                                   list_shards(plan.parts), lost, unaudited);
    for (const std::string& note : merge.notes) log_world(note);
    return analyze_run(config.output);
  } catch (const Error& error) {
    log_world(error.what());
    return exit_code::error;
  }
}

}  // namespace sonde
