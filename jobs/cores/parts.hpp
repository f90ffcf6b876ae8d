// The parts of the jobs `shared` and `placement` that are more than a step, each in the file of
// this folder that its comment names.
#pragma once

#include "jobs/run/job_run.hpp"

namespace sonde {

/// Reports the throughput of an SM over CTA size x CTAs per SM x ILP, its best, and the best with
/// 8-byte words (Mei and Chu 2016, section 6.1) (shared_copy.cpp).
void report_shared_copies(JobRun& run);

/// Reports placement.*_bytes_per_cycle and placement.slowest_{sm,tpc,gpc}, from them and from the
/// latency maps that were reported (slow_units.cpp).
void report_slow_units(JobRun& run);

}  // namespace sonde
