// The meeting of ranks after measuring, the second look at what deviates, the file, its analysis;
// and the way out when a rank is lost.
#include "commands/finish.hpp"

#include "base/deadline_factor.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "commands/measure/again_plan.hpp"
#include "commands/measure/fill_budget.hpp"
#include "commands/measure/late_jobs.hpp"
#include "fleet/assign.hpp"
#include "mpi/collectives.hpp"
#include "store/output.hpp"
#include "store/shard.hpp"
#include "store/write_run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>
#include <vector>

namespace sonde {
namespace {

// What a rank may take for late jobs beyond their time: to end a worker that does not end by itself
// (supervise.cpp), and to give them up.
constexpr double late_end_s = 60;
// To open the GPUs of a node (some 2 s for each without persistence mode), to reach from each into
// the others, and to measure all at once; and the turn of a GPU, which took 2 s on a node of two.
constexpr double open_links_s = 120;
constexpr double links_of_gpu_s = 40;

Task task_of(const RankContext& context, TaskKind kind) {
  return {.kind = kind,
          .rank = context.mpi.rank(),
          .ranks = context.mpi.size(),
          .sm_count = context.sm_count};
}

/// What the ranks that are left do, when one of them is lost: one builds the file from the shards.
ExitStatus build_without(const RunPlan& plan, const std::vector<int>& lost_ranks,
                         const RankContext& context, RankProgress& progress) {
  Task task = task_of(context, TaskKind::build);
  task.lost_ranks = lost_ranks;
  const Patience patience{.silence_s = plan.options.rendezvous_timeout_s};
  const auto build = [&] {
    const Delegated built = delegate(context.keeper, task, progress);
    log_local(built.meaning);  // whoever ends first ends all: nobody says anything behind it
    return built.status;
  };
  return do_once(plan.parts, context.mpi.rank(), build, patience, progress.lookout());
}

/// Whether points are left that a rank did not come to: it was stopped, or its GPU was given up in
/// a night, which ends with what others come to.
bool anyone_fell_short(MPI_Comm comm, const RunPlan& plan, const Supervised& mine) {
  const bool ended = plan.fills_budget() && !mine.given_up.empty();
  const auto texts = gather_texts(comm, mine.stopped_early || ended ? "short" : "");
  return std::ranges::any_of(texts, [](const std::string& text) { return !text.empty(); });
}

/// Which devices are to measure what again, as again.json says. If that cannot be known, none does.
std::vector<AgainTask> read_second_tries(const MeasurePlan& plan) {
  try {
    return read_again_plan(plan.parts);
  } catch (const StoreError& error) {
    log_local(error.what());
    return {};
  }
}

/// Has this rank's task measured, if there is one, and meets the others. All come to the same
/// instant at the latest: rank 0 must not wait longer for the others than they do for it.
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

/// When every GPU has been measured by itself, the links between those of a node are measured, at
/// one point after the other, by a worker of the first rank of the node that has a GPU. A GPU that
/// is alone on its node has no links.
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

/// The second tries of this rank's device, if it is to make any.
std::optional<Task> find_second_tries(const MeasurePlan& plan, const RankContext& context,
                                      const Supervised& mine) {
  const auto tasks = read_second_tries(plan);
  const auto own = std::ranges::find(tasks, mine.device.uuid, &AgainTask::uuid);
  if (own == tasks.end()) return std::nullopt;
  Task task = task_of(context, TaskKind::measure_again);
  task.device = mine.device;
  task.again_jobs = own->jobs;
  task.limit_s = own->limit_s;
  return task;
}

/// Devices that deviate are measured again, with peers beside them, before anything is written.
/// Rank 0 tells the others how many there are by a message, since nobody measures yet; they read
/// from a file which.
Attendance measure_deviating(const RunPlan& run, const RankContext& context, const Supervised& mine,
                             RankProgress& progress) {
  if (run.is_sweep()) return {};  // its points and repeats are other tries already
  const MeasurePlan& plan = run.points.front();
  const Patience patience{.silence_s = plan.options.rendezvous_timeout_s};
  const bool judged =
      context.mpi.rank() == 0 && judge(context.keeper, task_of(context, TaskKind::judge), progress);
  const int found = judged ? static_cast<int>(read_second_tries(plan).size()) : 0;
  const auto count = hear_from_root(context.mpi.world(), found, patience, progress.lookout());
  if (!count) return {{0}};
  if (*count == 0) return {};
  log_world(fmt::format("{} GPU(s) are measured again: they deviate, or a peer does", *count));
  return measure_and_meet(plan, find_second_tries(plan, context, mine), most_again_s, context,
                          progress);
}

/// When the time budget is over: leaves the points in the plan that are whole on all GPUs.
/// Collective. @returns whether there are any; else the run waits for --resume
bool keep_whole_points(RunPlan& plan, const RankContext& context, const Roster& roster,
                       const Supervised& mine) {
  if (!plan.fills_budget()) return false;
  const auto whole = whole_points(plan, gather_texts(context.mpi.world(), describe_reach(mine)));
  if (!whole) return false;
  const RunPlan all = plan;
  keep_points(*whole, plan);
  agree_after(context.mpi.world(), [&] {
    if (context.mpi.rank() == 0) remove_other_points(all, plan, roster);
  });
  const std::string why = why_to_stop(all.points.back());
  log_world(fmt::format("{}: {}", why.empty() ? "no GPU is left to be measured" : why,
                        describe_kept(plan)));
  return true;
}

/// A GPU that was given up has its shards for the points that others have, too.
Attendance give_up_rest(const RunPlan& plan, const RankContext& context, const Supervised& mine,
                        const NodeView& node, RankProgress& progress) {
  if (!mine.given_up.empty()) {
    Task task = task_of(context, TaskKind::measure);
    task.point = mine.points_done;
    task.device = mine.device;
    task.node_gpus = node.gpus;
    give_up_device(plan, task, plan.points.size(), mine.given_up, [&] { progress.tick(); });
  }
  return rendezvous(context.mpi.world(), {.silence_s = plan.options.rendezvous_timeout_s},
                    progress.lookout());
}

RunPart own_part(const RunPlan& plan, const RankContext& context, const Roster& roster) {
  const auto unaudited =
      context.mpi.rank() == 0 ? roster.unaudited : std::vector<UnauditedDevice>{};
  const auto own = std::ranges::find(roster.devices, context.mpi.rank(), &RosterEntry::rank);
  if (own == roster.devices.end()) return {.unaudited = unaudited};
  return {.devices = {read_own_shard(finished_shard(plan.parts, own->uuid))},
          .unaudited = unaudited};
}

/// Collective. @throws AgreedError
void write_file(const RunPlan& plan, const RankContext& context, const Roster& roster,
                const Supervised& mine) {
  const bool by_worker = plan.is_sweep() || context.mpi.size() == 1;  // of rank 0, from the shards
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

/// A rank that was stopped or killed since the file was written would hold up the end of MPI, in
/// which nothing can be aborted any more: all ranks show once more that they are there.
/// Then rank 0 says its last line: nobody says anything behind it, for the others wait for rank 0.
void leave_together(const RankContext& context, double limit_s, const Delegated& end) {
  const Patience patience{.silence_s = limit_s, .total_s = limit_s};
  context.keeper.bound_end(std::chrono::seconds(static_cast<long>(1.5 * limit_s) + 10));
  const bool complete = rendezvous(context.mpi.world(), patience).complete();
  log_world(end.meaning);
  if (!complete) end_all_ranks(end.status);
}

/// However it ends, an error included, a rescue that is under way is the end of the process: what
/// it uses stays until then.
struct LeavesWatch {
  StageWatch& watch;
  ~LeavesWatch() { watch.leave(); }
};

/// Shards of other configurations in the parts folder: only a run that went on from something may
/// have found any. The other ranks wait for rank 0 as long as it shows signs of life, as it does
/// here.
/// @returns nothing, with a line in the log, if that cannot be known
std::optional<std::vector<std::filesystem::path>> list_what_is_foreign(const RunOptions& options,
                                                                       RankProgress& progress) {
  try {
    if (options.resume) return list_foreign_shards(options.output, [&] { progress.tick(); });
  } catch (const StoreError& error) {
    log_world(error.what());
    return std::nullopt;
  }
  return std::vector<std::filesystem::path>();
}

void remove_what_is_joined(const RunOptions& options,
                           const std::vector<std::filesystem::path>& foreign) {
  const auto left = remove_joined_parts(options.output, foreign);
  if (left.empty()) return;
  log_world(
      fmt::format("{} keeps {} file(s) with results of another configuration, which '{}' does not "
                  "hold: merge them into a file of their own, or remove them",
                  parts_folder(options.output).string(), left.size(), options.output));
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
  const bool short_of_points = anyone_fell_short(mpi.world(), plan, mine);
  if (short_of_points && keep_whole_points(plan, context, roster, mine)) {
    progress.measured(progress.jobs_done());
    context.watch.leave();
    go_on_with(give_up_rest(plan, context, mine, node, progress));
  } else if (short_of_points) {
    say_stopped_early(plan);
    return ExitStatus::resumable;
  }
  context.watch.leave();
  for (std::size_t point = 0; point < plan.points.size(); ++point) {
    go_on_with(measure_links(plan, point, context, node, progress));
  }
  go_on_with(measure_deviating(plan, context, mine, progress));

  context.watch.enter({.name = "writing the run file", .rescue = rescue});
  write_file(plan, context, roster, mine);

  // The file is whole. Rank 0's worker analyses it; the others only watch rank 0 from here on, and
  // write nothing into the folder that it removes in the end.
  context.watch.leave();
  Delegated analysis;
  std::optional<std::vector<std::filesystem::path>> foreign;
  if (mpi.rank() == 0) {
    analysis = delegate(context.keeper, task_of(context, TaskKind::analyze), progress);
    if (analysis.status != ExitStatus::error)
      foreign = list_what_is_foreign(plan.options, progress);
  }
  const auto heard = hear_from_root(mpi.world(), static_cast<int>(analysis.status), patience,
                                    progress.silent_lookout());
  if (!heard) {
    log_local("rank 0 was lost while it analysed the run file");
    end_all_ranks(rescue());
  }
  analysis.status = static_cast<ExitStatus>(*heard);
  if (foreign) remove_what_is_joined(plan.options, *foreign);
  leave_together(context, patience.silence_s, analysis);
  return analysis.status;
}

}  // namespace sonde
