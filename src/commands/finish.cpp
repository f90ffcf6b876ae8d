// The end of a run: the ranks meet, devices that deviate are measured again, the ranks write the
// file, rank 0 analyses it. If a rank is lost, the others end the run.
#include "commands/finish.hpp"

#include "base/deadline_factor.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "base/stop_signal.hpp"
#include "commands/measure/again_plan.hpp"
#include "commands/measure/fill_budget.hpp"
#include "commands/measure/late_jobs.hpp"
#include "fleet/assign.hpp"
#include "mpi/collectives.hpp"
#include "store/output.hpp"
#include "store/shard.hpp"
#include "store/write_run.hpp"
#include "store/write_together.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <vector>

namespace sonde {
namespace {

// Time that a rank may take for late jobs beyond their limit: to end a worker that does not end by
// itself (supervise.cpp), and to record the jobs as given up.
constexpr double late_end_s = 60;
// open_links_s: to open the GPUs of a node (some 2 s for each without persistence mode), to reach
// each GPU from each other, and to measure all at once. links_of_gpu_s: to measure from one GPU,
// which took 2 s on a node of two.
constexpr double open_links_s = 120;
constexpr double links_of_gpu_s = 40;

Task task_of(const RankContext& context, TaskKind kind) {
  return {.kind = kind,
          .rank = context.mpi.rank(),
          .ranks = context.mpi.size(),
          .sm_count = context.sm_count};
}

/// If a rank is lost, one of the ranks that are left builds the file from the shards.
ExitStatus build_without(const RunPlan& plan, const std::vector<int>& lost_ranks,
                         const RankContext& context, RankProgress& progress) {
  Task task = task_of(context, TaskKind::build);
  task.lost_ranks = lost_ranks;
  const Patience patience{.silence_s = plan.options.rendezvous_timeout_s};
  const auto build = [&] {
    const Report built = delegate(context.keeper, task, progress);
    log_local(built.reason);  // the last line: the first rank that ends here ends all ranks
    return built.exit_status;
  };
  return do_once(plan.parts, context.mpi.rank(), build, patience, progress.lookout());
}

/// Has a worker do this rank's task, if there is one, then waits for the other ranks. All ranks
/// have the same deadline, so rank 0 and the others wait for each other equally long.
Attendance measure_and_meet(const MeasurePlan& plan, const std::optional<Task>& task,
                            double limit_s, const RankContext& context, RankProgress& progress) {
  const auto begin = std::chrono::steady_clock::now();
  if (task) {
    progress.enter(task->kind == TaskKind::measure_again ? RankState::measuring_again
                                                         : RankState::measuring);
    supervise_late(plan, *task, context.keeper, progress);
    progress.measured(plan.jobs_before + static_cast<int>(plan.jobs.size()));
  }
  const std::chrono::duration<double> past = std::chrono::steady_clock::now() - begin;
  const Patience patience{.silence_s = plan.options.rendezvous_timeout_s,
                          .total_s = limit_s * deadline_factor() + late_end_s - past.count()};
  return rendezvous(context.mpi.world(), patience, progress.lookout());
}

/// Measures the links between the GPUs of a node at one point, after every GPU has been measured by
/// itself. A worker of the node's first rank with a GPU does it. A single GPU has no links.
Attendance measure_links(const RunPlan& run, std::size_t point, const RankContext& context,
                         const NodeView& node, RankProgress& progress) {
  const MeasurePlan& plan = run.points[point];
  if (!has_jobs_together(plan) || node.most_gpus < 2) return {};
  Task task = task_of(context, TaskKind::measure_together);
  task.point = point;
  task.node_gpus = node.gpus;
  task.limit_s = open_links_s + links_of_gpu_s * static_cast<double>(node.most_gpus);
  const bool is_mine = node.gpus.size() > 1 && node.gpus.front().rank == context.mpi.rank();
  return measure_and_meet(plan, is_mine ? std::optional(task) : std::nullopt, task.limit_s, context,
                          progress);
}

/// The task to measure jobs of this rank's device again, if the plan names the device.
std::optional<Task> find_second_tries(const std::vector<AgainTask>& plan,
                                      const RankContext& context, const Supervised& mine) {
  const auto own = std::ranges::find(plan, mine.device.uuid, &AgainTask::uuid);
  if (own == plan.end()) return std::nullopt;
  Task task = task_of(context, TaskKind::measure_again);
  task.device = mine.device;
  task.again_jobs = own->jobs;
  task.limit_s = own->limit_s;
  return task;
}

/// Measures devices that deviate again, together with some peers, before the file is written. A
/// worker of rank 0 plans it.
Attendance measure_deviating(const RunPlan& run, const RankContext& context, const Supervised& mine,
                             RankProgress& progress) {
  if (run.is_sweep()) return {};  // its points and repeats already measure more than once
  Report judged;
  if (context.mpi.rank() == 0) {
    judged = judge(context.keeper, task_of(context, TaskKind::judge), progress);
  }
  const Patience patience{.silence_s = run.options.rendezvous_timeout_s};
  const auto text =
      hear_from_root(context.mpi.world(), to_json(judged), patience, progress.lookout());
  if (!text) return {{0}};
  const std::vector<AgainTask> plan = report_from_json(*text).again;
  if (plan.empty()) return {};
  log_world(fmt::format("{} GPU(s) are measured again: they deviate, or a peer does", plan.size()));
  return measure_and_meet(run.points.front(), find_second_tries(plan, context, mine), most_again_s,
                          context, progress);
}

/// When the time budget is over: removes the points from the plan that not all GPUs finished.
/// Collective. @returns false if there are none; then the run stops and can go on with --resume
bool keep_whole_points(RunPlan& plan, const RankContext& context, const Roster& roster) {
  std::size_t count = 0;  // rank 0 knows it
  agree_after(context.mpi.world(), [&] {
    if (context.mpi.rank() != 0) return;
    count = whole_points(plan, roster);
    if (count >= plan.points_of_repeat()) remove_other_points(plan, count, roster);
  });
  count = std::stoul(broadcast_text(context.mpi.world(), std::to_string(count)));
  if (count < plan.points_of_repeat()) return false;
  const std::string why = why_to_stop(plan.points.back());
  keep_points(count, plan);
  log_world(fmt::format("{}: {}", why.empty() ? "no GPU is left to be measured" : why,
                        describe_kept(plan)));
  return true;
}

/// Collective. Some points may not be measured: a rank was stopped, or (with a time budget) its GPU
/// was given up. With a time budget the run ends with the points that the other GPUs finished.
/// @returns false if points are missing, and the run must go on with --resume
bool settle_points(RunPlan& plan, const RankContext& context, const Roster& roster,
                   const Supervised& mine) {
  const bool is_short = mine.stopped_early || (plan.fills_budget() && mine.given_up);
  const char* const mine_is = !is_short ? "whole" : stop_requested() ? "stopped" : "short";
  const auto all = gather_texts(context.mpi.world(), mine_is);
  const auto any = [&all](const char* state) { return std::ranges::count(all, state) > 0; };
  if (any("stopped")) return false;
  return !any("short") || (plan.fills_budget() && keep_whole_points(plan, context, roster));
}

RunPart own_part(const RunPlan& plan, const RankContext& context, const Roster& roster) {
  const auto unaudited =
      context.mpi.rank() == 0 ? roster.unaudited : std::vector<UnauditedDevice>{};
  const auto own = std::ranges::find(roster.devices, context.mpi.rank(), &RosterEntry::rank);
  RunPart part{.devices = {}, .unaudited = unaudited};
  if (own != roster.devices.end())
    part.devices.push_back(read_own_shard(finished_shard(plan.parts, own->uuid)));
  return part;
}

/// Collective. @throws AgreedError
void write_file(const RunPlan& plan, const RankContext& context, const Roster& roster,
                const Supervised& mine) {
  const bool by_worker = plan.is_sweep() || context.mpi.size() == 1;  // rank 0's, from the shards
  RunPart part;
  agree_after(context.mpi.world(), [&] {
    if (!mine.failure.empty()) throw StoreError(mine.failure);
    if (!by_worker) part = own_part(plan, context, roster);
  });
  if (by_worker) return;
  try {
    write_run_together(context.mpi.world(), plan.options.output, plan.provenance, part,
                       [&context] { context.watch.step(); });
  } catch (const StoreError& error) {
    throw AgreedError(
        fmt::format("{} ({} keeps what was measured)", error.what(), plan.parts.string()));
  }
}

/// All ranks meet once more before MPI ends: a rank that was stopped or killed after the file was
/// written would block the end of MPI, where nothing can be aborted. Then rank 0 prints the last
/// line of the run; the other ranks wait for rank 0 and print nothing after it.
void leave_together(const RankContext& context, double limit_s, const Report& end) {
  const Patience patience{.silence_s = limit_s, .total_s = limit_s};
  context.keeper.bound_end(std::chrono::seconds(static_cast<long>(1.5 * limit_s) + 10));
  const bool complete = rendezvous(context.mpi.world(), patience).complete();
  log_world(end.reason);
  if (!complete) end_all_ranks(end.exit_status);
}

/// Leaves the watch also after an error. If a rescue is under way, leave() does not return: the
/// rescue ends the process and uses the objects of this stack until then.
struct LeavesWatch {
  StageWatch& watch;
  ~LeavesWatch() { watch.leave(); }
};

void remove_joined_shards(const RunPlan& plan) {
  const auto left = remove_joined_parts(plan.parts, plan.provenance.points);
  if (left.empty()) return;
  log_world(
      fmt::format("{} keeps {} file(s) with results of another configuration, which '{}' does not "
                  "hold: merge them into a file of their own, or remove them",
                  plan.parts.string(), left.size(), plan.options.output));
}

void say_stopped_early(const RunPlan& plan) {
  const std::string why = why_to_stop(plan.points.back());
  log_world(
      fmt::format("status {}: stopped early ({}); {} keeps what was measured: go on with the same "
                  "command and --resume",
                  static_cast<int>(ExitStatus::resumable), why.empty() ? "a rank was stopped" : why,
                  plan.parts.string()));
}

}  // namespace

ExitStatus finish_run(RunPlan plan, const RankContext& context, const Roster& roster,
                      const Supervised& mine, const NodeView& node, RankProgress& progress) {
  MpiSession& mpi = context.mpi;
  const Patience patience{.silence_s = plan.options.rendezvous_timeout_s};
  const auto rescue_without = [&](const std::vector<int>& lost) {
    return build_without(plan, lost, context, progress);
  };
  const auto rescue = [&] { return rescue_without({}); };
  const LeavesWatch leaves{context.watch};

  const auto go_on_with = [&](const Attendance& attendance) {
    progress.finish_line();
    if (attendance.complete()) return;
    log_local(fmt::format("rank(s) {} lost", fmt::join(attendance.lost, ", ")));
    end_all_ranks(rescue_without(attendance.lost));
  };

  context.watch.leave();
  go_on_with(rendezvous(mpi.world(), patience, progress.lookout()));
  context.watch.enter({.name = "meeting after the measuring", .rescue = rescue});
  if (!settle_points(plan, context, roster, mine)) {
    say_stopped_early(plan);
    return ExitStatus::resumable;
  }
  progress.measured(progress.jobs_done());
  context.watch.leave();
  for (std::size_t point = 0; point < plan.points.size(); ++point) {
    go_on_with(measure_links(plan, point, context, node, progress));
  }
  go_on_with(measure_deviating(plan, context, mine, progress));

  context.watch.enter({.name = "writing the run file", .rescue = rescue});
  write_file(plan, context, roster, mine);

  // The file is complete. Rank 0's worker analyses it. From here on the other ranks only watch rank
  // 0 and write nothing into the parts folder, which rank 0 removes at the end.
  context.watch.leave();
  Report analysis;
  if (mpi.rank() == 0) {
    analysis = delegate(context.keeper, task_of(context, TaskKind::analyze), progress);
  }
  const auto heard =
      hear_from_root(mpi.world(), std::to_string(static_cast<int>(analysis.exit_status)), patience,
                     progress.silent_lookout());
  if (!heard) {
    log_local("rank 0 was lost while it analysed the run file");
    end_all_ranks(rescue());
  }
  analysis.exit_status = static_cast<ExitStatus>(std::stoi(*heard));
  if (mpi.rank() == 0 && analysis.exit_status != ExitStatus::error) remove_joined_shards(plan);
  leave_together(context, patience.silence_s, analysis);
  return analysis.exit_status;
}

}  // namespace sonde
