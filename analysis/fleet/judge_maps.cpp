// SMs that stand apart within their own device: from per-SM maps to findings.
#include "analysis/fleet/judge_maps.hpp"

#include "analysis/fleet/fingerprint.hpp"
#include "analysis/fleet/judge.hpp"
#include "analysis/fleet/value_text.hpp"
#include "analysis/statistics.hpp"
#include "base/units.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

namespace sonde {
namespace {

/// " (TPC 8, GPC 3)" where the placement job found out.
std::string place_text(const DeviceResult& device, int sm) {
  std::vector<std::string> parts;
  const auto add = [&](const char* metric, const char* name) {
    const std::vector<double>* map = vector_of(device, metric);
    const auto index = static_cast<std::size_t>(sm);
    if (map == nullptr || index >= map->size() || (*map)[index] < 0) return;
    parts.push_back(fmt::format("{} {:.0f}", name, (*map)[index]));
  };
  add("topology.tpc_of_sm", "TPC");
  add("topology.gpc_of_sm", "GPC");
  return parts.empty() ? "" : fmt::format(" ({})", fmt::join(parts, ", "));
}

FleetFinding sm_finding(const RunResult& run, std::size_t device, const Metric& metric,
                        const std::vector<double>& values, const std::vector<OutlyingSm>& out,
                        const Tolerance& tolerance) {
  FleetFinding finding;
  finding.device = device;
  finding.node = run.devices[device].node;
  finding.metric = metric.name;
  finding.fault = FaultClass::sm;
  finding.n = values.size();
  finding.reference = format_quantity(median(values), metric.unit);
  std::vector<std::string> names;
  for (const OutlyingSm& sm : out) {
    finding.sms.push_back(sm.sm);
    names.push_back(fmt::format("SM {}{} {}", sm.sm, place_text(run.devices[device], sm.sm),
                                format_quantity(sm.value, metric.unit)));
    if (std::abs(sm.score) <= std::abs(finding.score)) continue;
    finding.value = format_quantity(sm.value, metric.unit);
    finding.deviation_fraction = sm.deviation_fraction;
    finding.score = sm.score;
  }
  finding.severity =
      std::abs(finding.deviation_fraction) >= tolerance.fail ? Severity::fail : Severity::warn;
  finding.reason =
      fmt::format("{} where the {} SMs of this GPU have {} ({} {})", fmt::join(names, ", "),
                  values.size(), finding.reference, percent_text(finding.deviation_fraction),
                  finding.deviation_fraction > 0 ? "more" : "less");
  finding.evidence =
      fmt::format("score {:.1f} among the SMs of the same GPU; {:.1f} x the tolerance of {:g} %",
                  std::abs(finding.score), std::abs(finding.deviation_fraction) / tolerance.warn,
                  100 * tolerance.warn);
  return finding;
}

void judge_map(const RunResult& run, const ComparisonGroup& group, const Metric& metric,
               const ReduceOptions& options, std::vector<FleetFinding>& findings) {
  const Tolerance tolerance = tolerance_for(metric.name, options);
  const double resolution = metric.unit == "cycle" ? 1 : 0;
  std::size_t maps = 0;
  std::vector<FleetFinding> here;
  for (const std::size_t device : group.devices) {
    const std::vector<double>* values = vector_of(run.devices[device], metric.name);
    if (values == nullptr || values->empty()) continue;
    ++maps;
    const std::vector<OutlyingSm> out = outlying_sms(*values, metric.better, resolution,
                                                     tolerance.warn, options.scale_floor_fraction);
    if (!out.empty()) here.push_back(sm_finding(run, device, metric, *values, out, tolerance));
  }
  const bool usual = maps >= 3 && 2 * here.size() >= maps;
  for (FleetFinding& finding : here) {
    if (usual) {
      finding.severity = Severity::info;
      finding.evidence += fmt::format("; {} of {} devices show such SMs", here.size(), maps);
    }
    findings.push_back(std::move(finding));
  }
}

}  // namespace

std::vector<FleetFinding> judge_maps(const RunResult& run,
                                     const std::vector<ComparisonGroup>& groups,
                                     const ReduceOptions& options) {
  std::vector<FleetFinding> findings;
  for (const ComparisonGroup& group : groups) {
    for (const Metric& metric : options.registry) {
      if (is_compared_map(metric)) judge_map(run, group, metric, options, findings);
    }
  }
  return findings;
}

}  // namespace sonde
