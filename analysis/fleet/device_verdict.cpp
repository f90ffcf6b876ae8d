// What weighs most comes first: a GPU that is gone, then its worst finding, then what is missing.
#include "analysis/fleet/device_verdict.hpp"

#include "analysis/fleet/conditions.hpp"
#include "analysis/fleet/failures.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <ranges>

namespace sonde {
namespace {

std::string incomplete_reason(const DeviceResult& device) {
  if (!device.reason.empty()) return device.reason;
  std::vector<std::string> parts;
  for (const JobResult& job : device.jobs) {
    if (!is_missing(job.status)) continue;
    parts.push_back(fmt::format("{} {}{}", job.job, to_text(job.status),
                                job.reason.empty() ? "" : " (" + job.reason + ")"));
  }
  return parts.empty() ? "not all jobs were done" : fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace

bool is_missing(Status status) { return status == Status::failed || status == Status::not_run; }

DeviceVerdict verdict_of(const DeviceResult& device, const std::vector<FleetFinding>& findings,
                         DeviceVerdict verdict) {
  verdict.missing +=
      static_cast<std::size_t>(std::ranges::count_if(device.jobs, is_missing, &JobResult::status));
  const auto weighty = std::ranges::count_if(
      verdict.findings, [&](std::size_t i) { return findings[i].severity != Severity::info; });
  const std::string gone = gone_reason(device);
  if (device.status == DeviceOutcome::lost || !gone.empty()) {
    verdict.verdict = Verdict::lost;
    verdict.reason = !gone.empty()           ? gone
                     : device.reason.empty() ? "its rank did not come back"
                                             : device.reason;
    return verdict;
  }
  const bool incomplete = device.status == DeviceOutcome::incomplete;
  if (weighty > 0) {
    const FleetFinding& worst = findings[verdict.findings.front()];
    const bool fail = worst.severity == Severity::fail;
    verdict.verdict = fail ? Verdict::fail : incomplete ? Verdict::incomplete : Verdict::warn;
    verdict.likely = worst.fault;
    verdict.reason = fmt::format("{}: {}", worst.metric, worst.reason);
    if (weighty > 1) verdict.reason += fmt::format("; and {} more", weighty - 1);
  }
  if (incomplete) {
    if (verdict.verdict < Verdict::incomplete) verdict.verdict = Verdict::incomplete;
    const std::string gap = incomplete_reason(device);
    verdict.reason = verdict.reason.empty() ? gap : verdict.reason + "; incomplete: " + gap;
  }
  return verdict;
}

FleetCounts count_devices(const RunResult& run, const std::vector<DeviceVerdict>& verdicts) {
  std::map<std::string, Verdict> worst;  // of each device, over the settings of a sweep
  for (std::size_t i = 0; i < verdicts.size(); ++i) {
    Verdict& verdict = worst.try_emplace(run.devices[i].info.uuid, Verdict::pass).first->second;
    verdict = std::max(verdict, verdicts[i].verdict);
  }
  FleetCounts counts;
  counts.seen = worst.size() + run.unaudited.size();
  counts.expected = std::max(counts.seen, usual_device_count(run));
  const auto count = [&](Verdict wanted) {
    return static_cast<std::size_t>(std::ranges::count(worst | std::views::values, wanted));
  };
  counts.passed = count(Verdict::pass);
  counts.warned = count(Verdict::warn);
  counts.incomplete = count(Verdict::incomplete);
  counts.failed = count(Verdict::fail);
  counts.lost = count(Verdict::lost);
  counts.audited = worst.size() - counts.lost;
  counts.flagged = counts.warned + counts.failed;
  return counts;
}

}  // namespace sonde
