// The parts of the job arithmetic that go over numbers of warps and chains, and over pairs of
// operations.
#pragma once

#include "jobs/run/job_run.hpp"

namespace sonde {

/// `arithmetic.warps`, `.<op>.by_warps_*`, and the schedulers that they show.
void report_warp_sweeps(JobRun& run);

/// `arithmetic.ilp`, `.<op>.by_ilp_cycles`.
void report_ilp_sweeps(JobRun& run);

/// `arithmetic.<op>_with_<op>.*`, and the most that was issued per cycle.
/// @param most_steps_per_cycle of single operations, in steps of warps
void report_pairs(JobRun& run, double most_steps_per_cycle);

}  // namespace sonde
