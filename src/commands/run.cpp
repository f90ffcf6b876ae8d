// `sonde run`: agree on who measures what, measure without MPI, meet again within bounds, write one
// file, and let rank 0 compare the devices.
#include "base/error.hpp"
#include "base/log.hpp"
#include "base/version.hpp"
#include "commands/commands.hpp"
#include "commands/finish.hpp"
#include "commands/measure.hpp"
#include "fleet/assign.hpp"
#include "fleet/gather.hpp"
#include "fleet/progress.hpp"
#include "fleet/rendezvous.hpp"
#include "store/output.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <optional>

namespace sonde {
namespace {

std::string now_utc() {
  return fmt::format(
      "{:%Y-%m-%dT%H:%M:%SZ}",
      fmt::gmtime(std::chrono::system_clock::to_time_t(std::chrono::system_clock::now())));
}

/// Runs what may fail on one rank alone; then all go on, or all throw the same.
template <class Work>
void agree_after(MPI_Comm comm, Work&& work) {
  std::string failure;
  try {
    work();
  } catch (const Error& error) {
    failure = error.what();
  }
  agree(comm, failure.empty() ? Outcome::ok : Outcome::failed, failure);
}

void print_plan(const MeasurePlan& plan, const std::vector<RankView>& views,
                const Assignment& assignment) {
  for (std::size_t rank = 0; rank < views.size(); ++rank) {
    const auto& uuid = assignment.uuid_of_rank[rank];
    fmt::print("rank {} on {}: {}\n", rank, views[rank].host, uuid ? *uuid : "stands down");
  }
  for (const UnauditedDevice& device : assignment.unaudited) {
    fmt::print("nobody measures {} on {}\n", device.uuid, device.node);
  }
  fmt::print("jobs:");
  for (const Job* job : plan.jobs) fmt::print(" {}", job->name);
  fmt::print("\n");
}

std::vector<DeviceChoice> see_devices(const MeasurePlan& plan, MpiSession& mpi) {
  std::vector<DeviceChoice> visible;
  agree_after(mpi.world(), [&] {
    visible = list_visible_devices(plan.backend, mpi.rank(), plan.options.seed);
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

void prepare_output(const MeasurePlan& plan, MpiSession& mpi) {
  agree_after(mpi.world(), [&] {
    if (mpi.rank() != 0) return;
    check_output(plan.options.output, existing_policy(plan.options));
    clear_progress(plan.parts);
  });
}

/// This rank's part; nothing if it stands down.
Measured measure_own(const MeasurePlan& plan, const std::vector<DeviceChoice>& visible,
                     const std::optional<std::string>& uuid,
                     const std::function<void()>& on_progress) {
  const auto choice = std::ranges::find_if(
      visible, [&uuid](const DeviceChoice& device) { return device.uuid == uuid; });
  if (choice == visible.end()) return {};
  try {
    return measure_device(plan, *choice, on_progress);
  } catch (const Error& error) {
    log_local(error.what());
    return {.failure = error.what()};
  }
}

/// A row for each device of a lost rank, in case that it left no shard.
std::vector<DeviceResult> lost_devices(const std::vector<int>& ranks,
                                       const std::vector<RankView>& views,
                                       const Assignment& assignment) {
  std::vector<DeviceResult> lost;
  for (const int rank : ranks) {
    const auto& uuid = assignment.uuid_of_rank[static_cast<std::size_t>(rank)];
    if (!uuid) continue;
    DeviceResult& device = lost.emplace_back();
    device.info.uuid = *uuid;
    device.node = views[static_cast<std::size_t>(rank)].host;
    device.rank = rank;
    device.status = DeviceOutcome::lost;
    device.reason = "its rank did not come back; the jobs it had finished are kept";
  }
  return lost;
}

}  // namespace

MeasurePlan plan_run(const RunOptions& options, const std::string& command_line) {
  MeasurePlan plan;
  plan.options = options;
  plan.backend = parse_backend(options.backend);
  plan.level = parse_suite_level(options.suite);
  plan.jobs = select_jobs(plan.level, options.jobs);
  check_backend(plan.backend);
  plan.parts = parts_folder(options.output);
  if (!options.force && !options.resume && !options.dry_run) refuse_existing(options.output);
  Provenance& provenance = plan.provenance;
  provenance.command_line = command_line;
  provenance.config_json = to_json(options);
  provenance.config_hash = hash_options(options);
  provenance.sonde_version = version;
  provenance.git_revision = git_revision;
  provenance.started_utc = now_utc();
  if (const char* job = std::getenv("SLURM_JOB_ID")) provenance.slurm_job_id = job;
  provenance.seed = options.seed;
  return plan;
}

ExitStatus run_fleet(MeasurePlan plan, MpiSession& mpi) {
  plan.node = host_name();
  plan.rank = mpi.rank();
  plan.ranks = mpi.size();
  plan.provenance.world_size = mpi.size();
  plan.provenance.library_versions =
      fmt::format("{}, {}", store_library_version(), mpi_library_version());
  set_log_speaker(plan.node, mpi.rank(), mpi.size());

  const std::vector<DeviceChoice> visible = see_devices(plan, mpi);
  const std::vector<RankView> views = gather_views(mpi.world(), visible);
  const Assignment assignment = assign_devices(views);
  if (plan.options.dry_run) {
    if (mpi.rank() == 0) print_plan(plan, views, assignment);
    return ExitStatus::ok;
  }
  prepare_output(plan, mpi);

  ProgressLine line(plan.parts,
                    std::chrono::duration<double>(std::max(1.0, plan.options.progress_interval_s)));
  const auto show_progress = [&] {
    if (mpi.rank() == 0) line.tick();
  };
  const auto& own_uuid = assignment.uuid_of_rank[static_cast<std::size_t>(mpi.rank())];
  const Measured mine = measure_own(plan, visible, own_uuid, show_progress);
  const Attendance attendance = rendezvous(
      mpi.world(), {.silence_s = plan.options.rendezvous_timeout_s},
      [&plan](int other) { return progress_beat(plan.parts, other); }, show_progress);
  line.finish();
  if (!attendance.complete()) {
    if (mpi.rank() != 0) mpi.leave_after_loss(ExitStatus::incomplete);
    mpi.leave_after_loss(finish_without(plan, lost_devices(attendance.lost, views, assignment),
                                        assignment.unaudited));
  }
  agree(mpi.world(), mine.failure.empty() ? Outcome::ok : Outcome::failed, mine.failure);
  return finish_together(mpi, plan, mine, assignment.unaudited);
}

}  // namespace sonde
