// The part of the job `shared` that is more than a step, in the file of this folder that its
// comment names.
#pragma once

#include "jobs/run/job_run.hpp"

namespace sonde {

/// Reports the throughput of an SM over CTA size x CTAs per SM x ILP, its best, and the best with
/// 8-byte words (Mei and Chu 2016, section 6.1) (shared_copy.cpp).
void report_shared_copies(JobRun& run);

}  // namespace sonde
