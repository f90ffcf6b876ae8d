// Groups of SMs as the job `topology` reported them.
#pragma once

#include "analysis/sharing.hpp"
#include "analysis/topology.hpp"
#include "jobs/run/job_run.hpp"

namespace sonde {

/// The TPC and GPC of each SM and the confidence in them; empty if the job did not report them.
KnownGroups known_groups(const JobRun& run);

/// Groups that a metric of that job names, and the confidence in them.
struct SureGroups {
  SmGroups groups;
  double confidence = 0;
  bool are_known() const { return !groups.sizes.empty(); }
};

/// The groups, if their confidence is high enough (0.5) to build a map of the chip on them; else
/// every SM is in no group.
SureGroups sure_groups(const JobRun& run, std::string_view metric);

}  // namespace sonde
