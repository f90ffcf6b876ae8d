// What weighs most comes first: a GPU that is gone, then its worst finding, then what is missing.
#include "analysis/fleet/device_verdict.hpp"

#include "analysis/fleet/conditions.hpp"
#include "analysis/fleet/failures.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <ranges>
#include <tuple>
#include <utility>

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

void sort_worst_first(std::vector<FleetFinding>& findings) {
  const auto badness = [](const FleetFinding& finding) {
    const double fraction = std::abs(finding.deviation_fraction);
    return std::tuple(finding.severity, finding.names_part(),
                      std::isfinite(fraction) ? fraction : 0);
  };
  std::ranges::stable_sort(findings, std::greater{}, badness);
}

/// @param verdict with what was counted, and the numbers of the device's findings, worst first
DeviceVerdict verdict_of(const DeviceResult& device, const std::vector<FleetFinding>& findings,
                         DeviceVerdict verdict) {
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
    verdict.reason = fmt::format("{}{}{}: {}", worst.cause, worst.cause.empty() ? "" : "; ",
                                 worst.metric, worst.reason);
    if (weighty > 1) verdict.reason += fmt::format("; and {} more", weighty - 1);
  }
  if (incomplete) {
    if (verdict.verdict < Verdict::incomplete) verdict.verdict = Verdict::incomplete;
    const std::string gap = incomplete_reason(device);
    verdict.reason = verdict.reason.empty() ? gap : verdict.reason + "; incomplete: " + gap;
  }
  return verdict;
}

/// Each device once, by the worst of its verdicts over the settings of a sweep.
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

}  // namespace

bool is_missing(Status status) { return status == Status::failed || status == Status::not_run; }

void assign_verdicts(const RunResult& run, FleetAnalysis& analysis) {
  sort_worst_first(analysis.findings);
  std::vector<DeviceVerdict> verdicts(run.devices.size());
  for (std::size_t i = 0; i < analysis.findings.size(); ++i) {
    const std::size_t device = analysis.findings[i].device;
    if (device != FleetFinding::no_device) verdicts[device].findings.push_back(i);
  }
  for (std::size_t device = 0; device < run.devices.size(); ++device) {
    verdicts[device].missing = analysis.verdicts.at(device).missing;
    verdicts[device] =
        verdict_of(run.devices[device], analysis.findings, std::move(verdicts[device]));
  }
  analysis.verdicts = std::move(verdicts);
  analysis.counts = count_devices(run, analysis.verdicts);
}

}  // namespace sonde
