// The parts of the job `latency`, one function each, in the file of this folder that its comment
// names; jobs/latency/job.cpp runs one after the other.
#pragma once

#include "jobs/run/job_run.hpp"

namespace sonde {

/// `latency.<path>.<level>_cycles` and `_amortised_cycles` for all paths; `latency.l1_cycles`,
/// `.l2_cycles`, `.dram_cycles` and their near and far partitions (by_path.cpp).
void report_level_latencies(JobRun& run);

/// `latency.p1_cycles` ... `.p6_cycles` of plain loads, `latency.cg.p1_cycles` ... past the L1
/// (patterns.cpp).
void report_patterns(JobRun& run);

/// `latency.staircase_bytes` and `_cycles`: mean latency of random chases against their footprint
/// (staircase.cpp).
void report_staircase(JobRun& run);

/// `latency.saavedra_*` and `latency.wong_*`: the curves of the classical methods for the first
/// cache of plain loads (of read-only loads where those have none), and the ways that each of them
/// concludes. Not in the quick suite (classical.cpp).
void report_classical_staircases(JobRun& run);

}  // namespace sonde
