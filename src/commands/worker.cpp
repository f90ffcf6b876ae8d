// The tasks of a worker process: everything that touches a GPU, and rank 0's work on whole files.
#include "analysis/fleet/verdict/reduce.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "commands/commands.hpp"
#include "commands/measure/again_plan.hpp"
#include "commands/measure/fill_budget.hpp"
#include "commands/measure/late_jobs.hpp"
#include "mpi/collectives.hpp"
#include "store/merge.hpp"
#include "store/output.hpp"
#include "worker/keeper.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace sonde {
namespace {

// Short enough for a person who watches and for the deadline of the rank.
constexpr auto least_mention_period = std::chrono::milliseconds(200);

/// Reports to the rank the start of each job, and from time to time the number of probes.
auto tell_progress(const RankLink& rank) {
  return [&rank, probes = std::uint64_t{0},
          mentioned = std::chrono::steady_clock::time_point()](const Step& step) mutable {
    if (!step.begins && !step.waits) ++probes;
    const Report report{.kind = ReportKind::progress,
                        .point = step.point,
                        .job = std::string(step.job),
                        .jobs_done = step.jobs_done,
                        .probes_done = probes};
    const auto now = std::chrono::steady_clock::now();
    if (step.begins) {
      rank.say(to_json(report));
    } else if (now - mentioned >= least_mention_period) {
      rank.mention(to_json(report));
      mentioned = now;
    }
  };
}

Report finished(ExitStatus status, std::string meaning = "") {
  return {.kind = ReportKind::finished, .reason = std::move(meaning), .exit_status = status};
}

void log_notes(const MergeNotes& notes) {
  for (const std::string& note : notes) log_local(note);
}

Report build(const RunPlan& run, const std::vector<int>& lost_ranks) {
  const std::string& output = run.options.output;
  Roster roster = read_roster(run.parts);
  if (run.fills_budget()) {
    const std::size_t whole = whole_points(run, roster, lost_ranks);
    keep_points(std::max(whole, run.points_of_repeat()), roster.provenance);
  }
  if (!is_file_of(output, roster.provenance)) {
    log_local(fmt::format("building {} from the shards", output));
    log_notes(write_run_from_shards(output, roster));
    remove_unfinished(output);
  }
  const FleetAnalysis analysis = analyze_run(output);
  ExitStatus status = exit_status(analysis);
  if (status == ExitStatus::ok) status = ExitStatus::incomplete;
  log_local("wrote " + output);
  return finished(status, describe_end(status, analysis.counts, output));
}

/// The ranks together have already written the file of a plain run. The file is built here in three
/// cases: the run is a sweep; there is one rank; or shards of an earlier run exist whose GPUs have
/// no rank now.
Report analyze(const RunPlan& run, int ranks) {
  const std::string& output = run.options.output;
  const Roster roster = read_roster(run.parts);
  if (run.is_sweep() || ranks == 1 || list_shards(run.parts).size() > roster.devices.size()) {
    log_notes(write_run_from_shards(output, roster));
  }
  const FleetAnalysis analysis = analyze_run(output);
  log_world("wrote " + output);
  return finished(exit_status(analysis),
                  describe_end(exit_status(analysis), analysis.counts, output));
}

Report do_by_kind(const RunPlan& run, const Task& task, const RankLink& rank) {
  try {
    const MeasurePlan& plan = run.points.at(task.point);
    switch (task.kind) {
      case TaskKind::list_devices:
        return {.kind = ReportKind::devices,
                .devices = list_visible_devices(plan.backend, task.rank, plan.device_seed)};
      case TaskKind::measure: return measure_device(run, task, tell_progress(rank));
      case TaskKind::judge:
        return {.kind = ReportKind::finished, .again = judge_shards(plan.parts)};
      case TaskKind::measure_again:
      case TaskKind::measure_together:
        measure_late(plan, task, tell_progress(rank));
        return {.kind = ReportKind::measured};
      case TaskKind::build: return build(run, task.lost_ranks);
      case TaskKind::analyze: return analyze(run, task.ranks);
    }
    throw Error("unknown task");
  } catch (const std::exception& error) {
    return {.kind = ReportKind::failed, .reason = error.what()};
  }
}

}  // namespace

int do_task(RunPlan run, const std::string& text, const RankLink& rank) {
  const Task task = task_from_json(text);
  if (task.sm_count > 0) name_sms(task.sm_count, run);
  for (MeasurePlan& point : run.points) point.provenance.world_size = task.ranks;
  set_log_speaker(node_name(), task.rank, task.ranks);
  rank.say(to_json(do_by_kind(run, task, rank)));
  return 0;
}

}  // namespace sonde
