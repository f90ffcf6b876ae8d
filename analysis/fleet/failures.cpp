// From the reasons of what failed to findings about the GPU.
#include "analysis/fleet/failures.hpp"

#include "base/failure_marks.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

namespace sonde {
namespace {

struct Failure {
  std::string_view mark;
  std::string_view metric;
  FaultClass fault;
};

constexpr Failure failures[] = {
    {wrong_data_mark, "health.wrong_data", FaultClass::wrong_data},
    {hang_mark, "health.hang", FaultClass::hang},
    {sticky_error_mark, "health.sticky_error", FaultClass::sticky_error},
};

constexpr std::size_t least_devices_for_majority = 3;

bool says(Status status, const std::string& reason, std::string_view mark) {
  return (status == Status::failed || status == Status::not_run) &&
         reason.find(mark) != std::string::npos;
}

/// The reason in which the job, or one of its findings, says so; "" if none does.
std::string reason_with(const JobResult& job, std::string_view mark) {
  if (says(job.status, job.reason, mark)) return job.reason;
  for (const Finding& finding : job.findings) {
    if (says(finding.status, finding.reason, mark)) return finding.reason;
  }
  return "";
}

/// Jobs that say so, and the first one's reason.
struct Seen {
  std::vector<std::string> jobs;
  std::string reason;
};

Seen look_for(const DeviceResult& device, std::string_view mark) {
  Seen seen;
  for (const auto* jobs : {&device.jobs, &device.again}) {
    for (const JobResult& job : *jobs) {
      const std::string reason = reason_with(job, mark);
      if (reason.empty()) continue;
      if (seen.jobs.empty()) seen.reason = reason;
      if (std::ranges::find(seen.jobs, job.job) == seen.jobs.end()) seen.jobs.push_back(job.job);
    }
  }
  return seen;
}

FleetFinding finding_of(const RunResult& run, std::size_t device, const Failure& failure,
                        const Seen& seen) {
  return {.device = device,
          .node = run.devices[device].node,
          .metric = std::string(failure.metric),
          .severity = Severity::fail,
          .fault = failure.fault,
          .value = fmt::format("{}", fmt::join(seen.jobs, ", ")),
          .reason = fmt::format("in {}: {}", fmt::join(seen.jobs, ", "), seen.reason)};
}

}  // namespace

/// In a sweep a GPU has a row for each setting.
std::vector<FleetFinding> failure_findings(const RunResult& run) {
  std::vector<FleetFinding> all;
  std::set<std::string_view> gpus;
  for (const DeviceResult& device : run.devices) gpus.insert(device.info.uuid);
  for (const Failure& failure : failures) {
    std::vector<FleetFinding> same;
    std::set<std::string_view> same_gpus;
    for (std::size_t device = 0; device < run.devices.size(); ++device) {
      const Seen seen = look_for(run.devices[device], failure.mark);
      if (seen.jobs.empty()) continue;
      same.push_back(finding_of(run, device, failure, seen));
      same_gpus.insert(run.devices[device].info.uuid);
    }
    const bool common =
        gpus.size() >= least_devices_for_majority && 2 * same_gpus.size() > gpus.size();
    for (FleetFinding& finding : same) {
      finding.n = gpus.size();
      if (common) {
        finding.severity = Severity::warn;
        finding.evidence = fmt::format(
            "{} of {} GPUs show it: program or driver are more likely at fault than all of them",
            same_gpus.size(), gpus.size());
      }
      all.push_back(std::move(finding));
    }
  }
  return all;
}

std::string gone_reason(const DeviceResult& device) {
  if (says(Status::failed, device.reason, gone_mark)) return device.reason;
  return look_for(device, gone_mark).reason;
}

}  // namespace sonde
