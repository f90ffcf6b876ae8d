// The steps of the reduction: groups of devices that may be compared, statistics and findings from
// the other files of this folder, and from these the verdict of each device.
#include "analysis/fleet/reduce.hpp"

#include "analysis/fleet/conditions.hpp"
#include "analysis/fleet/failures.hpp"
#include "analysis/fleet/judge.hpp"
#include "analysis/fleet/judge_maps.hpp"
#include "analysis/fleet/quorum.hpp"
#include "analysis/fleet/series.hpp"
#include "analysis/fleet/suspects.hpp"
#include "analysis/fleet/value_text.hpp"
#include "base/units.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>
#include <tuple>

namespace sonde {
namespace {

std::string group_label(const DeviceInfo& info) {
  const std::string driver = info.driver_version.substr(0, info.driver_version.find('.'));
  return fmt::format("{}, {:.0f} GiB, ECC {}{}{}", info.name,
                     static_cast<double>(info.memory_bytes) / (1ULL << 30), info.ecc ? "on" : "off",
                     info.mig ? ", MIG" : "", driver.empty() ? "" : ", driver " + driver);
}

/// Groups by GPU name, memory size, ECC, MIG and driver major version, in the order in which they
/// first appear. Lost devices that left no inventory belong to none.
std::vector<ComparisonGroup> comparison_groups(const RunResult& run) {
  std::vector<ComparisonGroup> groups;
  for (std::size_t device = 0; device < run.devices.size(); ++device) {
    if (run.devices[device].info.name.empty()) continue;
    const std::string label = group_label(run.devices[device].info);
    auto group = std::ranges::find(groups, label, &ComparisonGroup::label);
    if (group == groups.end()) group = groups.insert(groups.end(), {.label = label, .devices = {}});
    group->devices.push_back(device);
  }
  return groups;
}

/// Distance of each device's SM clock from its peers', as a fraction.
std::map<std::size_t, double> clock_deviations(const std::vector<Series>& all,
                                               const std::vector<MetricStatistics>& statistics) {
  std::map<std::size_t, double> deviations;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].metric != "conditions.sm_clock_hz") continue;
    for (const Standing& standing : standings(all[i], statistics[i])) {
      deviations[standing.device] = standing.deviation_fraction;
    }
  }
  return deviations;
}

std::string conditions_text(const DeviceConditions& conditions, double clock_deviation) {
  std::vector<std::string> parts;
  if (conditions.sm_clock_hz > 0) {
    parts.push_back(fmt::format("SM clock {}{}", format_quantity(conditions.sm_clock_hz, "Hz"),
                                std::abs(clock_deviation) < 0.005
                                    ? ""
                                    : fmt::format(" ({} {} peers)", percent_text(clock_deviation),
                                                  clock_deviation > 0 ? "above" : "below")));
  }
  if (conditions.temperature_c > 0) {
    parts.push_back(fmt::format("{:.0f} C", conditions.temperature_c));
  }
  parts.push_back(conditions.throttle_reasons == 0
                      ? "not throttled"
                      : "throttled: " + throttle_text(conditions.throttle_reasons));
  return fmt::format("{}", fmt::join(parts, ", "));
}

void add_conditions(const RunResult& run, const std::map<std::size_t, double>& deviations,
                    std::vector<FleetFinding>& findings) {
  for (FleetFinding& finding : findings) {
    if (finding.device == FleetFinding::no_device || finding.severity == Severity::info) continue;
    const DeviceResult& device = run.devices[finding.device];
    const auto found = deviations.find(finding.device);
    const double clock_deviation = found == deviations.end() ? 0 : found->second;
    if (finding.fault == FaultClass::unknown) {
      finding.fault = likely_fault(finding, device, clock_deviation);
    }
    const std::string conditions = conditions_text(summarize_conditions(device), clock_deviation);
    finding.evidence += (finding.evidence.empty() ? "" : "; ") + conditions;
  }
}

/// A named SM says more than the summaries of the map that it moved.
void drop_explained_summaries(std::vector<FleetFinding>& findings) {
  const std::vector<FleetFinding> all = findings;
  std::erase_if(findings, [&](const FleetFinding& finding) {
    return std::ranges::any_of(all, [&](const FleetFinding& named) {
      return !named.sms.empty() && named.device == finding.device &&
             finding.metric.starts_with(named.metric + " (");
    });
  });
}

void sort_worst_first(std::vector<FleetFinding>& findings) {
  const auto badness = [](const FleetFinding& finding) {
    const double fraction = std::abs(finding.deviation_fraction);
    // A named SM says more than the summary of the map that it moved.
    return std::tuple(finding.severity, !finding.sms.empty(),
                      std::isfinite(fraction) ? fraction : 0);
  };
  std::ranges::stable_sort(findings, std::greater{}, badness);
}

bool is_missing(Status status) { return status == Status::failed || status == Status::not_run; }

std::size_t count_missing(const DeviceResult& device) {
  std::size_t missing = 0;
  for (const JobResult& job : device.jobs) {
    if (is_missing(job.status)) ++missing;
    missing +=
        static_cast<std::size_t>(std::ranges::count_if(job.findings, is_missing, &Finding::status));
  }
  return missing;
}

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

DeviceVerdict verdict_of(std::size_t index, const DeviceResult& device,
                         const std::vector<FleetFinding>& findings) {
  DeviceVerdict verdict;
  verdict.missing = count_missing(device);
  std::size_t weighty = 0;
  for (std::size_t i = 0; i < findings.size(); ++i) {
    if (findings[i].device != index) continue;
    verdict.findings.push_back(i);
    if (findings[i].severity != Severity::info) ++weighty;
  }
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
  FleetCounts counts;
  counts.seen = run.devices.size() + run.unaudited.size();
  counts.expected = std::max(counts.seen, usual_device_count(run));
  const auto count = [&](Verdict wanted) {
    return static_cast<std::size_t>(std::ranges::count(verdicts, wanted, &DeviceVerdict::verdict));
  };
  counts.passed = count(Verdict::pass);
  counts.warned = count(Verdict::warn);
  counts.incomplete = count(Verdict::incomplete);
  counts.failed = count(Verdict::fail);
  counts.lost = count(Verdict::lost);
  counts.audited = run.devices.size() - counts.lost;
  counts.flagged = counts.warned + counts.failed;
  return counts;
}

/// The order of `sonde list metrics` within each group; extra series follow.
void sort_statistics(FleetAnalysis& analysis) {
  const auto place = [&](const MetricStatistics& statistics) {
    const auto found =
        std::ranges::find(analysis.registry, std::string_view(statistics.metric), &Metric::name);
    return std::pair(statistics.group, found - analysis.registry.begin());
  };
  std::ranges::stable_sort(analysis.statistics, {}, place);
}

void look_again(const RunResult& run, const ReduceOptions& options, FleetAnalysis& analysis) {
  const std::vector<Metric> doubted = doubted_metrics(analysis, run);
  if (doubted.empty()) return;
  ReduceOptions narrow = options;
  narrow.registry = doubted;
  settle_suspects(run, reduce_fleet(second_run(run, doubted), narrow), analysis);
}

}  // namespace

FleetAnalysis reduce_fleet(const RunResult& run, const ReduceOptions& options) {
  FleetAnalysis analysis;
  analysis.registry = options.registry;
  analysis.groups = comparison_groups(run);
  const std::vector<Series> all = collect_series(run, analysis.groups, options.registry);
  for (const Series& series : all) analysis.statistics.push_back(describe(series, options));
  const auto deviations = clock_deviations(all, analysis.statistics);

  analysis.findings = judge_series(run, all, analysis.statistics, options);
  const auto append = [&](std::vector<FleetFinding> more) {
    std::ranges::move(more, std::back_inserter(analysis.findings));
  };
  append(judge_maps(run, analysis.groups, options));
  compare_structure(run, analysis.groups, options, analysis);
  append(health_findings(run));
  append(failure_findings(run));
  append(node_findings(run));
  drop_explained_summaries(analysis.findings);
  look_again(run, options, analysis);
  add_conditions(run, deviations, analysis.findings);
  sort_worst_first(analysis.findings);
  sort_statistics(analysis);

  for (std::size_t device = 0; device < run.devices.size(); ++device) {
    analysis.verdicts.push_back(verdict_of(device, run.devices[device], analysis.findings));
  }
  analysis.counts = count_devices(run, analysis.verdicts);
  return analysis;
}

ExitStatus exit_status(const FleetAnalysis& analysis) {
  if (analysis.counts.failed > 0) return ExitStatus::verdict;
  const bool gaps = std::ranges::any_of(
      analysis.verdicts, [](const DeviceVerdict& verdict) { return verdict.missing > 0; });
  const bool whole = !gaps && analysis.counts.lost == 0 && analysis.counts.incomplete == 0;
  return whole ? ExitStatus::ok : ExitStatus::incomplete;
}

}  // namespace sonde
