// Groups of SMs as the job topology reported them.
#pragma once

#include "analysis/sharing.hpp"
#include "jobs/run/job_run.hpp"

namespace sonde {

/// The TPC and GPC of each SM, and how sure they are; empty where the job did not tell.
KnownGroups known_groups(const JobRun& run);

}  // namespace sonde
