// From the reasons of what failed to charges.
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
  Trouble trouble;
};

constexpr Failure failures[] = {
    {wrong_data_mark, "health.wrong_data", Trouble::wrong_data},
    {hang_mark, "health.hang", Trouble::hang},
    {sticky_error_mark, "health.sticky_error", Trouble::sticky_error},
};

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

Charge charge_of(const RunResult& run, std::size_t device, const Failure& failure,
                 const Seen& seen) {
  const std::string jobs = fmt::format("{}", fmt::join(seen.jobs, ", "));
  return {.device = device,
          .node = run.devices[device].node,
          .ground = Ground::itself,
          .severity = Severity::fail,
          .trouble = failure.trouble,
          .metric = std::string(failure.metric),
          .value = jobs,
          .reason = fmt::format("in {}: {}", jobs, seen.reason)};
}

}  // namespace

std::vector<Charge> failure_charges(const RunResult& run) {
  std::vector<Charge> charges;
  std::set<std::string_view> gpus;
  for (const DeviceResult& device : run.devices) gpus.insert(device.info.uuid);
  for (const Failure& failure : failures) {
    std::set<std::string_view> failed;
    for (std::size_t device = 0; device < run.devices.size(); ++device) {
      const Seen seen = look_for(run.devices[device], failure.mark);
      if (seen.jobs.empty()) continue;
      failed.insert(run.devices[device].info.uuid);
      charges.push_back(charge_of(run, device, failure, seen));
    }
    if (gpus.size() < 3 || 2 * failed.size() <= gpus.size()) continue;
    charges.push_back({.ground = Ground::itself,
                       .trouble = failure.trouble,
                       .metric = std::string(failure.metric),
                       .n = gpus.size(),
                       .reason = fmt::format("{} of {} GPUs show it: look at program and driver "
                                             "before you replace GPUs",
                                             failed.size(), gpus.size())});
  }
  return charges;
}

std::string gone_reason(const DeviceResult& device) {
  if (says(Status::failed, device.reason, gone_mark)) return device.reason;
  return look_for(device, gone_mark).reason;
}

}  // namespace sonde
