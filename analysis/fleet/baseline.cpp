// From changes to findings; the verdicts follow as after a comparison with peers.
#include "analysis/fleet/baseline.hpp"

#include "analysis/fleet/conditions.hpp"
#include "analysis/fleet/device_verdict.hpp"
#include "analysis/fleet/value_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace sonde {
namespace {

/// How much slower the clock of the same device ran than in the baseline; 0 if it did not.
double clock_change(const RunComparison& comparison, std::size_t device) {
  for (const Change& change : comparison.changes) {
    const bool of_clock = change.metric.starts_with("clock.") && change.unit == "Hz";
    if (change.device == device && of_clock && change.fraction < 0) return change.fraction;
  }
  return 0;
}

FleetFinding finding_of(const RunResult& run, const RunComparison& comparison,
                        const Change& change) {
  FleetFinding finding;
  finding.device = change.device;
  finding.node = change.node;
  finding.metric = change.metric;
  finding.severity = change.severity;
  finding.value = change.after;
  finding.reference = change.before;
  finding.deviation_fraction = change.fraction;
  const DeviceResult& device = run.devices.at(change.device);
  const double clock = clock_change(comparison, change.device);
  finding.fault = std::isnan(change.fraction)
                      ? FaultClass::structure
                      : likely_fault(finding, device, summarize_conditions(device), clock);
  if (std::isfinite(change.fraction)) {
    finding.cause = fmt::format("changed since the baseline: {} {}", change.metric,
                                signed_percent_text(change.fraction));
  } else {
    finding.cause = fmt::format("changed since the baseline: {}", change.metric);
  }
  finding.reason =
      fmt::format("{} where the baseline has {}: {}", change.after, change.before, change.reason);
  finding.evidence = "the same GPU in an earlier run";
  return finding;
}

}  // namespace

void judge_by_baseline(const RunResult& run, const RunComparison& comparison,
                       FleetAnalysis& analysis) {
  for (const Change& change : comparison.changes) {
    if (change.severity == Severity::info) continue;
    analysis.findings.push_back(finding_of(run, comparison, change));
  }
  assign_verdicts(run, analysis);
}

ExitStatus exit_status(const RunComparison& comparison) {
  const bool fails = std::ranges::any_of(
      comparison.changes, [](const Change& change) { return change.severity == Severity::fail; });
  if (fails) return ExitStatus::verdict;
  return comparison.paired == 0 ? ExitStatus::incomplete : ExitStatus::ok;
}

}  // namespace sonde
