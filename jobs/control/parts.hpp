// The parts of the job `control`, each in the file that its comment names. Metrics of what the
// device refuses get no answer.
#pragma once

#include "jobs/run/job_run.hpp"

namespace sonde {

/// Threads that wait for each other: which of them get through, and whether a barrier counts
/// threads, warps or paths (waits.cpp).
void report_waiting_threads(JobRun& run);

/// Barriers of blocks, named barriers, barriers of clusters and of the whole GPU; how long sleeps
/// last (barriers.cpp).
void report_barriers(JobRun& run);

/// Order, timelines and costs of the paths of diverged warps; nested branches: the cost of each
/// division of a warp and of each join (divergence.cpp).
void report_divergence(JobRun& run);

}  // namespace sonde
