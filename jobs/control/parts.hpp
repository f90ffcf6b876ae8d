// The parts of the job `control`, each with the metrics that it answers for.
#pragma once

#include "jobs/run/job_run.hpp"

#include <array>

namespace sonde {

/// Order, timelines and costs of the paths of diverged warps.
void measure_divergence(JobRun& run);
/// Branches within branches: what each division of a warp and each join costs.
void measure_nesting(JobRun& run);
/// Threads that wait for each other: who gets through.
void measure_waits(JobRun& run);
/// What a barrier counts.
void measure_barrier_participant(JobRun& run);
/// Barriers of blocks, by number, of clusters and of the whole GPU.
void measure_block_barriers(JobRun& run);
void measure_named_barrier(JobRun& run);
void measure_cluster_barriers(JobRun& run);
void measure_grid_barrier(JobRun& run);
/// How long sleeps last.
void measure_sleeps(JobRun& run);

/// A part that the device refuses leaves those metrics without an answer.
struct ControlPart {
  const char* prefix;
  void (*run)(JobRun&);
};

/// In their order: a later prefix may begin as an earlier one, which then has answered.
inline constexpr std::array control_parts{
    ControlPart{"control.barrier_participant", measure_barrier_participant},
    ControlPart{"control.barrier_spin", measure_waits},
    ControlPart{"control.barrier", measure_block_barriers},
    ControlPart{"control.named_barrier", measure_named_barrier},
    ControlPart{"control.cluster_barrier", measure_cluster_barriers},
    ControlPart{"control.grid_barrier", measure_grid_barrier},
    ControlPart{"control.nanosleep", measure_sleeps},
    ControlPart{"control.nested", measure_nesting},
    ControlPart{"control.", measure_divergence}};

}  // namespace sonde
