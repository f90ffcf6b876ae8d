// `sonde run`: the ranks agree on who measures which GPU, workers measure, the ranks meet again
// before a deadline and write one file, and rank 0 compares the devices. Every stage that the ranks
// go through together is watched: if a rank is lost, the others end the stage and keep the results.
#include "analysis/fleet/fleet.hpp"
#include "analysis/report/table.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "base/version.hpp"
#include "commands/commands.hpp"
#include "commands/finish.hpp"
#include "commands/measure/supervise.hpp"
#include "doctor/machine.hpp"
#include "fleet/assign.hpp"
#include "fleet/gather.hpp"
#include "store/merge.hpp"
#include "store/output.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <optional>

namespace sonde {
namespace {

/// Runs work that may fail on one rank alone; then all ranks go on, or all throw the same error.
void do_and_agree(const RankContext& context, const std::string& stage,
                  const std::function<void()>& work) {
  context.watch.leave();
  agree_after(context.mpi.world(), work, [&] { context.watch.enter({.name = stage}); });
}

/// Ranks that were started with different options would measure different things under one name.
void compare_options(const RunPlan& plan, const RankContext& context) {
  const auto texts = gather_texts(
      context.mpi.world(), fmt::format("{} {} {}", version, git_revision, to_json(plan.options)));
  const auto other = std::ranges::find_if(
      texts, [&texts](const std::string& text) { return text != texts.front(); });
  if (other == texts.end()) return;
  throw AgreedError(fmt::format(
      "rank {} was started otherwise than rank 0: {}, not {} (they would measure different things "
      "under one name) start all ranks with the same program and options",
      other - texts.begin(), *other, texts.front()));
}

/// The models of GPUs in this run whose jobs have reference times.
std::vector<const ModelReference*> timed_models(const std::vector<RankView>& views) {
  std::vector<const ModelReference*> timed;
  for (const ModelReference& model : shipped_references()) {
    const bool is_there = std::ranges::any_of(views, [&model](const RankView& view) {
      return std::ranges::find(view.names, model.name) != view.names.end();
    });
    if (is_there && !model.jobs.empty()) timed.push_back(&model);
  }
  return timed;
}

/// Lists the points of a run and for each job its number of points, its time and its bytes per GPU.
std::string describe_points(const RunPlan& plan, const std::vector<const ModelReference*>& models) {
  const std::size_t settings = plan.points_of_repeat();
  std::string text;
  for (std::size_t i = 0; i < settings && settings > 1; ++i)
    text += fmt::format("point {}: {}\n", i + 1, describe_setting(plan.provenance, i));
  TextTable table{{{"job"}, {"points", Align::right}}, {}};
  std::vector<JobCost> sums(models.size());
  const auto add_costs = [](const JobCost& cost, std::vector<std::string>& row) {
    row.push_back(fmt::format("{:.2f}", cost.seconds));
    row.push_back(fmt::format("{:.2f}", cost.file_bytes / 1e6));
  };
  for (const ModelReference* model : models) {
    table.columns.push_back({"s on " + model->name, Align::right});
    table.columns.push_back({"MB", Align::right});
  }
  for (const Job& job : all_jobs()) {
    const auto has_job = [&job](const MeasurePlan& point) {
      return point.repeat_index == 0 && std::ranges::find(point.jobs, &job) != point.jobs.end();
    };
    const auto count = std::ranges::count_if(plan.points, has_job);
    if (count == 0) continue;
    auto& row = table.rows.emplace_back();
    row = {std::string(job.name), std::to_string(count)};
    for (std::size_t i = 0; i < models.size(); ++i) {
      const auto cost = models[i]->jobs.find(job.name);
      if (cost == models[i]->jobs.end()) {
        row.insert(row.end(), 2, "?");
        continue;
      }
      const auto times = static_cast<double>(count);
      const JobCost all{times * cost->second.seconds, times * cost->second.file_bytes};
      add_costs(all, row);
      sums[i].seconds += all.seconds;
      sums[i].file_bytes += all.file_bytes;
    }
  }
  if (!models.empty()) table.rows.push_back({"all", ""});
  for (const JobCost& sum : sums) add_costs(sum, table.rows.back());
  text += plain_table(table, "");
  if (!models.empty()) text += "with the usual options; those that are set may change it\n";
  if (plan.fills_budget()) {
    text += fmt::format("repeated until the time budget of {} is over\n", plan.options.time_budget);
  } else if (plan.points.size() > settings) {
    text += fmt::format("repeated {} times\n", plan.points.size() / settings);
  }
  return text;
}

void print_plan(const RunPlan& plan, const std::vector<RankView>& views,
                const Assignment& assignment) {
  for (std::size_t rank = 0; rank < views.size(); ++rank) {
    const auto& uuid = assignment.uuid_of_rank[rank];
    fmt::print("rank {} on {}: {}\n", rank, views[rank].node, uuid ? *uuid : "measures no GPU");
  }
  for (const UnauditedDevice& device : assignment.unaudited) {
    fmt::print("GPU {} on {} is not measured\n", device.uuid, device.node);
  }
  fmt::print("{}", describe_points(plan, timed_models(views)));
}

std::vector<DeviceChoice> see_devices(const RankContext& context) {
  std::vector<DeviceChoice> visible;
  do_and_agree(context, "listing the GPUs", [&] {
    visible = hear_devices(context.keeper);
    if (context.asked_as_rank != context.mpi.rank()) {
      ask_devices(context.keeper, context.mpi.rank());
      visible = hear_devices(context.keeper);
    }
    if (visible.empty()) {
      throw DeviceError(
          "no GPU found (the driver lists none for this rank) check nvidia-smi -L and "
          "CUDA_VISIBLE_DEVICES, or try --backend sim:h200");
    }
  });
  return visible;
}

Existing existing_policy(const RunOptions& options) {
  if (options.resume) return Existing::resume;
  return options.force ? Existing::replace : Existing::refuse;
}

Roster make_roster(const RunPlan& plan, const std::vector<RankView>& views,
                   const Assignment& assignment) {
  Roster roster{.provenance = plan.provenance,
                .unaudited = assignment.unaudited,
                .open_end = plan.fills_budget()};
  for (std::size_t rank = 0; rank < views.size(); ++rank) {
    if (const auto& uuid = assignment.uuid_of_rank[rank]) {
      roster.devices.push_back(
          {.uuid = *uuid, .node = views[rank].node, .rank = static_cast<int>(rank)});
    }
  }
  return roster;
}

/// On rank 0, before any rank writes there. The caller holds the lock for the whole run.
void prepare_output(const RunPlan& plan, const RankContext& context, const Roster& roster,
                    std::optional<OutputLock>& lock) {
  do_and_agree(context, "preparing the output", [&] {
    if (context.mpi.rank() != 0) return;
    lock.emplace(take_output(plan.options.output, existing_policy(plan.options),
                             fmt::format("{}, process {}", node_name(), getpid())));
    log_world(lock->note());
    clear_progress(plan.parts);
    clear_claims(plan.parts);
    write_roster(plan.parts, roster);
  });
}

/// On rank 0, before --resume replaces a run file: turns devices of that file that no rank measures
/// now (of a sweep, all devices) into shards, from which the new file takes them. For a long run on
/// many GPUs this takes a while.
void extract_earlier_shards(const RunPlan& plan, const RankContext& context, const Roster& roster,
                            RankProgress& progress) {
  if (!plan.options.resume) return;
  do_and_agree(context, "taking up earlier results", [&] {
    // In a sweep, a complete shard shows that a point is done. In a plain run the worker reads the
    // earlier results of its GPU from the run file itself.
    std::vector<std::string> measured_now;
    for (const RosterEntry& entry : roster.devices) {
      if (!plan.is_sweep()) measured_now.push_back(entry.uuid);
    }
    const auto hear_that_it_is_done = [&] {
      const Patience patience{.silence_s = plan.options.rendezvous_timeout_s};
      if (hear_from_root(context.mpi.world(), "", patience, progress.silent_lookout())) return;
      log_local("rank 0 was lost while it took up earlier results");
      end_all_ranks(ExitStatus::error);
    };
    try {
      if (context.mpi.rank() == 0) {
        for (const std::string& note :
             extract_shards(plan.options.output, plan.provenance, measured_now,
                            [&progress] { progress.tick(); })) {
          log_world(note);
        }
      }
    } catch (const Error&) {
      hear_that_it_is_done();
      throw;
    }
    hear_that_it_is_done();
  });
}

/// Measures all points on this rank's GPU; a rank without a GPU has nothing to do.
Supervised measure_own(const RunPlan& plan, const RankContext& context,
                       const std::vector<DeviceChoice>& visible,
                       const std::optional<std::string>& uuid, const NodeView& node,
                       RankProgress& progress) {
  const auto choice = std::ranges::find_if(
      visible, [&uuid](const DeviceChoice& device) { return device.uuid == uuid; });
  if (choice == visible.end()) return {};
  context.watch.leave();
  Supervised supervised = supervise(plan,
                                    {.kind = TaskKind::measure,
                                     .rank = context.mpi.rank(),
                                     .ranks = context.mpi.size(),
                                     .sm_count = context.sm_count,
                                     .device = *choice,
                                     .node_gpus = node.gpus,
                                     .resume = plan.options.resume},
                                    context.keeper, progress);
  supervised.device = *choice;
  if (!supervised.failure.empty()) log_local(supervised.failure);
  return supervised;
}

Progress first_progress(const RunPlan& plan, const RankContext& context,
                        const std::optional<std::string>& uuid) {
  Progress progress;
  progress.rank = context.mpi.rank();
  progress.ranks = context.mpi.size();
  progress.node = node_name();
  progress.uuid = uuid.value_or("");
  progress.jobs_total = uuid && !plan.fills_budget() ? plan.jobs_total() : 0;
  return progress;
}

}  // namespace

ExitStatus run_fleet(RunPlan plan, RankContext context) {
  MpiSession& mpi = context.mpi;
  set_log_speaker(node_name(), mpi.rank(), mpi.size());
  context.watch.enter({.name = "comparing the options"});
  compare_options(plan, context);
  do_and_agree(context, "looking at the folder of the output", [&] {
    if (mpi.rank() != 0) return;
    const std::string why = first_failure(check_folder(folder_of(plan.options.output)));
    if (!why.empty()) throw StoreError(why);
  });
  const std::vector<DeviceChoice> visible = see_devices(context);
  context.watch.enter({.name = "dealing the GPUs"});
  const std::vector<RankView> views = gather_views(mpi.world(), visible);
  context.sm_count = std::ranges::max(views, {}, &RankView::sm_count).sm_count;
  name_sms(context.sm_count, plan);
  plan.provenance.world_size = mpi.size();
  for (MeasurePlan& point : plan.points) point.provenance.world_size = mpi.size();
  const std::string refused = describe_refused(plan, views);
  if (!refused.empty()) throw AgreedConfigError(refused);
  const Assignment assignment = assign_devices(views);
  log_world(describe_shared_names(views));
  if (plan.options.dry_run) {
    if (mpi.rank() == 0) print_plan(plan, views, assignment);
    return ExitStatus::ok;
  }
  const Roster roster = make_roster(plan, views, assignment);
  std::optional<OutputLock> lock;
  prepare_output(plan, context, roster, lock);

  const auto& own_uuid = assignment.uuid_of_rank[static_cast<std::size_t>(mpi.rank())];
  RankProgress progress(
      plan.parts, first_progress(plan, context, own_uuid),
      std::chrono::duration<double>(std::max(1.0, plan.options.progress_interval_s)));
  extract_earlier_shards(plan, context, roster, progress);
  const NodeView node =
      view_node(views, assignment, mpi.rank(), plan.points.front().backend, visible);
  const Supervised mine = measure_own(plan, context, visible, own_uuid, node, progress);
  const int all_jobs = plan.fills_budget() ? progress.jobs_done() : plan.jobs_total();
  if (mine.stopped_early) {
    progress.enter(RankState::stopped);
  } else {
    progress.measured(own_uuid ? all_jobs : 0);
  }
  return finish_run(plan, context, roster, mine, node, progress);
}

}  // namespace sonde
