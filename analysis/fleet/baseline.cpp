// From changes to charges on the ground of the past; the verdicts follow anew.
#include "analysis/fleet/baseline.hpp"

#include "analysis/fleet/causes.hpp"
#include "analysis/fleet/conditions.hpp"
#include "analysis/fleet/decide.hpp"
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

Charge charge_of(const RunResult& run, const RunComparison& comparison, const Change& change) {
  Charge charge{.device = change.device,
                .node = change.node,
                .ground = Ground::past,
                .severity = change.severity,
                .metric = change.metric,
                .value = change.after,
                .reference = change.before,
                .size = change.fraction};
  const DeviceResult& device = run.devices.at(change.device);
  charge.trouble = std::isnan(change.fraction)
                       ? Trouble::structure
                       : likely_trouble(charge, summarize_conditions(device),
                                        clock_change(comparison, change.device));
  charge.cause = fmt::format("changed since the baseline: {}", change.metric);
  if (std::isfinite(change.fraction)) charge.cause += " " + signed_percent_text(change.fraction);
  charge.reason =
      fmt::format("{} where the baseline has {}: {}", change.after, change.before, change.reason);
  charge.evidence = "the same GPU in an earlier run";
  return charge;
}

}  // namespace

void judge_by_baseline(const RunResult& run, const RunComparison& comparison,
                       FleetAnalysis& analysis) {
  for (const Change& change : comparison.changes) {
    if (change.severity == Severity::info) continue;
    analysis.charges.push_back(charge_of(run, comparison, change));
  }
  decide(run, analysis);
}

ExitStatus exit_status(const RunComparison& comparison) {
  const bool fails = std::ranges::any_of(
      comparison.changes, [](const Change& change) { return change.severity == Severity::fail; });
  if (fails) return ExitStatus::verdict;
  return comparison.paired == 0 ? ExitStatus::incomplete : ExitStatus::ok;
}

}  // namespace sonde
