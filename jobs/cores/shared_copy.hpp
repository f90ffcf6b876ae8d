// The part of the shared job that measures copies inside shared memory.
#pragma once

#include "jobs/run/job_run.hpp"

namespace sonde {

/// Reports the throughput of an SM over CTA size x CTAs per SM x ILP, its best, and the best with
/// 8-byte words (Mei and Chu 2016, section 6.1).
void report_shared_copies(JobRun& run);

}  // namespace sonde
