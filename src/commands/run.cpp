// `sonde run`: agree on who measures what, measure without MPI, meet again within bounds, write one
// file, and let rank 0 compare the devices.
#include "analysis/fleet/fleet.hpp"
#include "analysis/report/report.hpp"
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
#include "store/write_run.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iostream>

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

Existing existing_policy(const Config& config) {
  if (config.resume) return Existing::resume;
  return config.force ? Existing::replace : Existing::refuse;
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

DeviceResult lost_device(const RankView& view, const std::string& uuid) {
  DeviceResult device;
  device.info.uuid = uuid;
  device.node = view.host;
  device.rank = view.rank;
  device.status = "lost";
  device.reason = "its rank did not come back; the jobs it had finished are kept";
  return device;
}

const DeviceChoice* find_choice(const std::vector<DeviceChoice>& visible,
                                const std::optional<std::string>& uuid) {
  for (const DeviceChoice& choice : visible) {
    if (uuid && choice.uuid == *uuid) return &choice;
  }
  return nullptr;
}

}  // namespace

MeasurePlan plan_run(const Config& config, const std::string& command_line) {
  MeasurePlan plan;
  plan.backend = parse_backend(config.backend);
  plan.level = parse_suite_level(config.suite);
  plan.jobs = select_jobs(plan.level, config.jobs);
  check_backend(plan.backend);
  plan.parts = parts_folder(config.output);
  if (!config.force && !config.resume && !config.dry_run &&
      std::filesystem::exists(config.output)) {
    throw ConfigError(
        fmt::format("'{}' is there already (it would be overwritten) choose another "
                    "name with -o, or use --force",
                    config.output));
  }
  Provenance& provenance = plan.provenance;
  provenance.command_line = command_line;
  provenance.config_json = describe_config(config);
  provenance.config_hash = hash_config(config);
  provenance.sonde_version = version;
  provenance.git_revision = git_revision;
  provenance.started_utc = now_utc();
  if (const char* job = std::getenv("SLURM_JOB_ID")) provenance.slurm_job_id = job;
  provenance.seed = config.seed;
  return plan;
}

int run_fleet(const Config& config, MeasurePlan plan, MpiSession& mpi) {
  plan.node = host_name();
  plan.rank = mpi.rank();
  plan.ranks = mpi.size();
  plan.provenance.library_versions = describe_libraries();
  plan.provenance.world_size = mpi.size();
  set_log_speaker(plan.node, mpi.rank(), mpi.size());

  std::vector<DeviceChoice> visible;
  agree_after(mpi.world(), [&] {
    visible = list_visible_devices(plan.backend, mpi.rank(), config.seed);
    if (visible.empty()) {
      throw DeviceError(
          "no GPU found (the driver lists none for this rank) check nvidia-smi -L and "
          "CUDA_VISIBLE_DEVICES, or try --backend sim:h200");
    }
  });
  const std::vector<RankView> views = gather_views(mpi.world(), visible);
  const Assignment assignment = assign_devices(views);
  if (config.dry_run) {
    if (mpi.rank() == 0) print_plan(plan, views, assignment);
    return exit_code::ok;
  }
  agree_after(mpi.world(), [&] {
    if (mpi.rank() != 0) return;
    check_output(config.output, existing_policy(config));
    clear_progress(plan.parts);
  });

  const auto rank = static_cast<std::size_t>(mpi.rank());
  const DeviceChoice* choice = find_choice(visible, assignment.uuid_of_rank[rank]);
  ProgressLine line(plan.parts, std::chrono::seconds(
                                    static_cast<long>(std::max(1.0, config.progress_interval_s))));
  const auto show_progress = [&] {
    if (mpi.rank() == 0) line.tick();
  };
  Measured measured;
  std::string failure;
  try {
    if (choice) measured = measure_device(plan, config, *choice, show_progress);
  } catch (const Error& error) {
    failure = error.what();
    log_local(failure);
  }

  const Patience patience{config.rendezvous_timeout_s};
  const Attendance attendance = rendezvous(
      mpi.world(), patience, [&](int other) { return progress_beat(plan.parts, other); },
      show_progress);
  line.finish();
  if (!attendance.complete()) {
    if (mpi.rank() != 0) mpi.leave_after_loss(exit_code::incomplete);
    std::vector<DeviceResult> without_shard;
    for (int lost : attendance.lost) {
      const auto& uuid = assignment.uuid_of_rank[static_cast<std::size_t>(lost)];
      if (uuid) without_shard.push_back(lost_device(views[static_cast<std::size_t>(lost)], *uuid));
    }
    mpi.leave_after_loss(finish_without(config, plan, without_shard, assignment.unaudited));
  }
  agree(mpi.world(), failure.empty() ? Outcome::ok : Outcome::failed, failure);
  return finish_together(config, mpi, plan, choice ? &measured : nullptr, assignment.unaudited);
}

}  // namespace sonde
