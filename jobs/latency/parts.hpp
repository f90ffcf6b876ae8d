// The parts of the job `latency`, each in the file that its comment names. jobs/latency/job.cpp
// calls them in order.
#pragma once

#include "jobs/run/job_run.hpp"

namespace sonde {

/// `latency.<path>.<level>_cycles` and `_amortised_cycles` for all paths; `latency.l1_cycles`,
/// `.l2_cycles`, `.dram_cycles`, and those of near and far partitions (by_path.cpp).
void report_level_latencies(JobRun& run);

/// `latency.p1_cycles` to `.p6_cycles` of plain loads; `latency.cg.p1_cycles` to `.p6_cycles` of
/// loads past the L1 (patterns.cpp).
void report_patterns(JobRun& run);

/// `latency.staircase_bytes` and `_cycles`: mean latency of random chases against their footprint
/// (staircase.cpp).
void report_staircase(JobRun& run);

}  // namespace sonde
