// The parts of the job `control`, each with the prefix of its metrics.
#pragma once

#include "jobs/run/job_run.hpp"

#include <array>

namespace sonde {

/// Order, timelines and costs of the paths of diverged warps.
void measure_divergence(JobRun& run);
/// Nested branches: the cost of each division of a warp and of each join.
void measure_nesting(JobRun& run);
/// Threads that wait for each other: which of them get through.
void measure_waits(JobRun& run);
/// Whether a barrier counts threads, warps or paths.
void measure_barrier_participant(JobRun& run);
/// Barriers of blocks, named barriers, barriers of clusters and of the whole GPU.
void measure_block_barriers(JobRun& run);
void measure_named_barrier(JobRun& run);
void measure_cluster_barriers(JobRun& run);
void measure_grid_barrier(JobRun& run);
/// How long sleeps last.
void measure_sleeps(JobRun& run);

/// A part. If the device refuses it, metrics with this prefix get no answer.
struct ControlPart {
  const char* prefix;
  void (*run)(JobRun&);
};

/// In this order: a later prefix also matches metrics of earlier parts, which then have answers.
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
