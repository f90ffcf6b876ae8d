// The meeting of ranks after measuring, the file, its analysis; and the way out when one is lost.
#include "commands/finish.hpp"

#include "base/error.hpp"
#include "base/log.hpp"
#include "fleet/claim.hpp"
#include "mpi/collectives.hpp"
#include "store/merge.hpp"
#include "store/output.hpp"
#include "store/shard.hpp"
#include "store/write_run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace sonde {
namespace {

Task task_of(const RankContext& context, TaskKind kind) {
  return {.kind = kind, .rank = context.mpi.rank(), .ranks = context.mpi.size()};
}

/// What the ranks that are left do, when one of them is lost: one builds the file from the shards.
ExitStatus build_without(const MeasurePlan& plan, const RankContext& context,
                         RankProgress& progress) {
  const Patience patience{.silence_s = plan.options.rendezvous_timeout_s};
  return do_once(
      plan.parts, context.mpi.rank(),
      [&] { return delegate(context.keeper, task_of(context, TaskKind::build), progress); },
      patience, progress.lookout());
}

bool anyone_stopped_early(MPI_Comm comm, const Supervised& mine) {
  const auto texts = gather_texts(comm, mine.stopped_early ? "stopped" : "");
  return std::ranges::any_of(texts, [](const std::string& text) { return !text.empty(); });
}

PartSource own_part(const MeasurePlan& plan, const RankContext& context, const Roster& roster) {
  const auto unaudited =
      context.mpi.rank() == 0 ? roster.unaudited : std::vector<UnauditedDevice>{};
  const auto own = std::ranges::find(roster.devices, context.mpi.rank(), &RosterEntry::rank);
  if (own == roster.devices.end()) return part_without_device(unaudited);
  return part_of_shard(finished_shard(plan.parts, own->uuid), unaudited, Writer::this_run);
}

/// Collective. @throws AgreedError
void write_file(const MeasurePlan& plan, const RankContext& context, const Roster& roster,
                const Supervised& mine) {
  std::string failure = mine.failure;
  PartSource part;
  try {
    if (failure.empty()) part = own_part(plan, context, roster);
  } catch (const Error& error) {
    failure = error.what();
  }
  agree(context.mpi.world(), failure.empty() ? Outcome::ok : Outcome::failed, failure);
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
void leave_together(const RankContext& context, double limit_s, ExitStatus status) {
  const Patience patience{.silence_s = limit_s, .total_s = limit_s};
  context.keeper.bound_end(std::chrono::seconds(static_cast<long>(1.5 * limit_s) + 10));
  if (!rendezvous(context.mpi.world(), patience).complete()) end_all_ranks(status);
}

}  // namespace

ExitStatus finish_run(const MeasurePlan& plan, const RankContext& context, const Roster& roster,
                      const Supervised& mine, RankProgress& progress) {
  MpiSession& mpi = context.mpi;
  const Patience patience{.silence_s = plan.options.rendezvous_timeout_s};
  const auto rescue = [&] { return build_without(plan, context, progress); };

  context.watch.leave();
  const Attendance attendance = rendezvous(mpi.world(), patience, progress.lookout());
  progress.finish_line();
  if (!attendance.complete()) {
    log_local(fmt::format("rank(s) {} lost", fmt::join(attendance.lost, ", ")));
    end_all_ranks(rescue());
  }

  context.watch.enter({.name = "writing the run file", .rescue = rescue});
  if (anyone_stopped_early(mpi.world(), mine)) {
    log_world(fmt::format("stopped by a signal; {} keeps what was measured, go on with --resume",
                          plan.parts.string()));
    return ExitStatus::resumable;
  }
  write_file(plan, context, roster, mine);

  // The file is whole. Rank 0's worker analyses it; the others only watch rank 0 from here on, and
  // write nothing into the folder that it removes in the end.
  context.watch.leave();
  ExitStatus status = ExitStatus::ok;
  if (mpi.rank() == 0) {
    status = delegate(context.keeper, task_of(context, TaskKind::analyze), progress);
  }
  const auto heard =
      hear_from_root(mpi.world(), static_cast<int>(status), patience, progress.silent_lookout());
  if (!heard) {
    log_local("rank 0 was lost while it analysed the run file");
    end_all_ranks(rescue());
  }
  status = static_cast<ExitStatus>(*heard);
  if (mpi.rank() == 0 && status != ExitStatus::error) remove_parts(plan.options.output);
  leave_together(context, patience.silence_s, status);
  return status;
}

void keep_other_devices(const MeasurePlan& plan, const Roster& roster) {
  std::vector<std::string> measured_now;
  for (const RosterEntry& entry : roster.devices) measured_now.push_back(entry.uuid);
  for (const std::string& note :
       extract_shards(plan.options.output, plan.provenance.config_hash, measured_now)) {
    log_world(note);
  }
}

}  // namespace sonde
