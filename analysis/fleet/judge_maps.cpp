// SMs that stand apart within their own device: from per-SM maps to findings.
#include "analysis/fleet/judge_maps.hpp"

#include "analysis/fleet/finding_finder.hpp"
#include "analysis/fleet/fingerprint.hpp"
#include "analysis/fleet/judge.hpp"
#include "analysis/fleet/value_text.hpp"
#include "analysis/statistics.hpp"
#include "base/units.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>

namespace sonde {
namespace {

/// Number of the TPC or GPC of an SM by such a map; -1: not known.
int group_of(const std::vector<double>* map, int sm) {
  const auto index = static_cast<std::size_t>(sm);
  return map == nullptr || index >= map->size() ? -1 : static_cast<int>((*map)[index]);
}

/// The SMs that are out with their values: "SM 17 (TPC 8, GPC 3) 40 cycle", or, where all SMs of a
/// TPC are out, "TPC 31 (SM 62, SM 63, GPC 3) 49 byte/cycle" with the worst of them.
std::vector<std::string> name_units(const DeviceResult& device, const std::vector<OutlyingSm>& out,
                                    std::string_view unit) {
  const std::vector<double>* tpcs = vector_of(device, "topology.tpc_of_sm");
  const std::vector<double>* gpcs = vector_of(device, "topology.gpc_of_sm");
  std::vector<std::string> names;
  std::set<int> named_tpcs;
  for (const OutlyingSm& sm : out) {
    const int tpc = group_of(tpcs, sm.sm);
    const int gpc = group_of(gpcs, sm.sm);
    std::vector<OutlyingSm> of_tpc;
    std::ranges::copy_if(out, std::back_inserter(of_tpc), [&](const OutlyingSm& other) {
      return tpc >= 0 && group_of(tpcs, other.sm) == tpc;
    });
    const bool is_whole = of_tpc.size() > 1 && std::ranges::count(*tpcs, tpc) == std::ssize(of_tpc);
    std::vector<std::string> place;
    double value = sm.value;
    if (is_whole) {
      if (!named_tpcs.insert(tpc).second) continue;
      const auto worse = [](const OutlyingSm& one) { return std::abs(one.deviation_fraction); };
      value = std::ranges::max(of_tpc, {}, worse).value;
      for (const OutlyingSm& one : of_tpc) place.push_back(fmt::format("SM {}", one.sm));
    } else if (tpc >= 0) {
      place.push_back(fmt::format("TPC {}", tpc));
    }
    if (gpc >= 0) place.push_back(fmt::format("GPC {}", gpc));
    std::string name = is_whole ? fmt::format("TPC {}", tpc) : fmt::format("SM {}", sm.sm);
    if (!place.empty()) name += fmt::format(" ({})", fmt::join(place, ", "));
    names.push_back(fmt::format("{} {}", name, format_quantity(value, unit)));
  }
  return names;
}

FleetFinding sm_finding(const RunResult& run, std::size_t device, const Metric& metric,
                        const std::vector<double>& values, const std::vector<OutlyingSm>& out,
                        const Tolerance& tolerance) {
  FleetFinding finding;
  finding.device = device;
  finding.node = run.devices[device].node;
  finding.metric = metric.name;
  finding.fault = FaultClass::sm;
  const std::vector<double> known = known_values(values);
  finding.n = known.size();
  finding.reference = format_quantity(median(known), metric.unit);
  const std::vector<std::string> names = name_units(run.devices[device], out, metric.unit);
  for (const OutlyingSm& sm : out) {
    finding.sms.push_back(sm.sm);
    if (std::abs(sm.score) <= std::abs(finding.score)) continue;
    finding.value = format_quantity(sm.value, metric.unit);
    finding.deviation_fraction = sm.deviation_fraction;
    finding.score = sm.score;
  }
  finding.severity =
      std::abs(finding.deviation_fraction) >= tolerance.fail ? Severity::fail : Severity::warn;
  finding.reason =
      fmt::format("{} where the {} SMs of this GPU have {} ({} {})", fmt::join(names, ", "),
                  known.size(), finding.reference, percent_text(finding.deviation_fraction),
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
  FindingFinder finder(metric.name);
  for (const std::size_t device : group.devices) {
    const Finding* finding = finder.in(run.devices[device]);
    const std::vector<double>* values = finding != nullptr ? vector_of(*finding) : nullptr;
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
