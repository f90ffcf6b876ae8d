// The parts of the job `latency`: levels by load path, the patterns P1 to P6, staircases.
#pragma once

#include "jobs/run/job_run.hpp"

namespace sonde {

/// `latency.<path>.<level>_cycles` and `_amortised_cycles` for all paths; `latency.l1_cycles`,
/// `.l2_cycles`, `.dram_cycles` and their near and far sides.
void report_level_latencies(JobRun& run);

/// `latency.p1_cycles` ... `.p6_cycles` through ca, `latency.cg.p1_cycles` ... through cg.
void report_patterns(JobRun& run);

/// `latency.staircase_bytes` and `_cycles`: mean latency of random chases against their footprint.
void report_staircase(JobRun& run);

/// `latency.saavedra_*` and `latency.wong_*`: the curves of the classical methods for the first
/// cache of plain loads (of read-only loads where those have none), and the ways that each of them
/// concludes. Not in the quick suite.
void report_classical_staircases(JobRun& run);

}  // namespace sonde
