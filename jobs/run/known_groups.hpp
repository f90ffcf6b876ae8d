// Groups of SMs as the job topology reported them.
#pragma once

#include "analysis/sharing.hpp"
#include "jobs/run/job_run.hpp"

namespace sonde {

/// The TPC and GPC of each SM, and how sure they are; empty where the job did not tell.
KnownGroups known_groups(const JobRun& run);

/// The groups of a metric of that job, if it was sure enough of them (no contradiction, few SMs
/// without a group) that a map of the chip can be built on them; else nullptr.
const Finding* sure_groups(const JobRun& run, std::string_view metric);

}  // namespace sonde
