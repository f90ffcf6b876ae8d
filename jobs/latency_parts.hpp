// The parts of the job `latency`: levels by load path, the patterns P1 to P6, the staircase.
#pragma once

#include "jobs/job.hpp"

namespace sonde {

/// `latency.<path>.<level>_cycles` and `_amortised_cycles` for all paths; `latency.l1_cycles`,
/// `.l2_cycles`, `.dram_cycles` and their near and far sides.
void report_level_latencies(JobRun& run);

/// `latency.p1_cycles` ... `.p6_cycles` through ca, `latency.cg.p1_cycles` ... through cg.
void report_patterns(JobRun& run);

/// `latency.staircase_bytes` and `_cycles`: mean latency of random walks against their footprint.
void report_staircase(JobRun& run);

}  // namespace sonde
