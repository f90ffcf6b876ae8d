// The part of the placement job that finds TPCs and GPCs.
#pragma once

#include "jobs/run/job_run.hpp"

namespace sonde {

/// Reports topology.* and placement.{tpc,gpc}_of_sm: by thread block clusters where the GPU has
/// them, else by the clocks that SMs share.
void report_topology(JobRun& run);

}  // namespace sonde
