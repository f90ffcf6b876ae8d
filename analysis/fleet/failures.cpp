// From the reasons of what failed to charges.
#include "analysis/fleet/failures.hpp"

#include "analysis/fleet/device_charges.hpp"
#include "base/failure_marks.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

namespace sonde {
namespace {

struct Failure {
  std::string_view mark;
  const char* metric;
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

/// Jobs that say so, or one of whose findings does, and the first one's reason.
struct Seen {
  std::vector<std::string> jobs;
  std::string reason;
};

Seen look_for(const DeviceResult& device, std::string_view mark) {
  Seen seen;
  const auto look_at = [&](const std::string& job, Status status, const std::string& reason) {
    if (!says(status, reason, mark)) return;
    if (seen.jobs.empty()) seen.reason = reason;
    if (std::ranges::find(seen.jobs, job) == seen.jobs.end()) seen.jobs.push_back(job);
  };
  for (const auto* jobs : {&device.jobs, &device.again}) {
    for (const JobResult& job : *jobs) {
      look_at(job.job, job.status, job.reason);
      for (const Finding& one : job.findings) look_at(job.job, one.status, one.reason);
    }
  }
  return seen;
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
      const std::string jobs = fmt::format("{}", fmt::join(seen.jobs, ", "));
      ChargesOfDevice(run, device, charges)
          .add(Severity::fail, failure.trouble, failure.metric, jobs,
               fmt::format("in {}: {}", jobs, seen.reason));
    }
    if (gpus.size() < 3 || 2 * failed.size() <= gpus.size()) continue;
    charges.push_back({.ground = Ground::itself,
                       .trouble = failure.trouble,
                       .metric = failure.metric,
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
