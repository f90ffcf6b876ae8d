// Groups of SMs as the job topology reported them.
#pragma once

#include "analysis/sharing.hpp"
#include "analysis/topology.hpp"
#include "jobs/run/job_run.hpp"

namespace sonde {

/// The TPC and GPC of each SM, and how sure they are; empty where the job did not tell.
KnownGroups known_groups(const JobRun& run);

/// Groups of a metric of that job, and how sure it is of them.
struct SureGroups {
  SmGroups groups;
  double confidence = 0;
  bool are_known() const { return !groups.sizes.empty(); }
};

/// The groups, if the job was sure enough of them (no contradiction, few SMs without a group) that
/// a map of the chip can be built on them; else each SM is in none.
SureGroups sure_groups(const JobRun& run, std::string_view metric);

}  // namespace sonde
