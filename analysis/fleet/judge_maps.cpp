// SMs, or slices of the L2, that stand apart within their own device: from maps to findings.
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
#include <map>
#include <set>
#include <string_view>

namespace sonde {
namespace {

// A whole cycle then passes the cut for 132 SMs of which no other is off.
constexpr double faint_step_cycles = 0.4;

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

/// "slice 46 273 cycle"
std::vector<std::string> name_slices(const std::vector<OutlyingSm>& out, std::string_view unit) {
  std::vector<std::string> names;
  for (const OutlyingSm& slice : out) {
    names.push_back(fmt::format("slice {} {}", slice.sm, format_quantity(slice.value, unit)));
  }
  return names;
}

FleetFinding place_finding(const RunResult& run, std::size_t device, const Metric& metric,
                           const std::vector<double>& values, const std::vector<OutlyingSm>& out,
                           const Tolerance& tolerance) {
  FleetFinding finding;
  finding.device = device;
  finding.node = run.devices[device].node;
  finding.metric = metric.name;
  const bool by_slice = is_slice_map(metric);
  const char* places = by_slice ? "slices" : "SMs";
  finding.fault = by_slice ? FaultClass::memory : FaultClass::sm;
  const std::vector<double> known = known_values(values);
  finding.n = known.size();
  finding.reference = format_quantity(median(known), metric.unit);
  const std::vector<std::string> names =
      by_slice ? name_slices(out, metric.unit) : name_units(run.devices[device], out, metric.unit);
  for (const OutlyingSm& sm : out) {
    (by_slice ? finding.slices : finding.sms).push_back(sm.sm);
    if (std::abs(sm.score) <= std::abs(finding.score)) continue;
    finding.value = format_quantity(sm.value, metric.unit);
    finding.deviation_fraction = sm.deviation_fraction;
    finding.score = sm.score;
  }
  finding.severity =
      std::abs(finding.deviation_fraction) >= tolerance.fail ? Severity::fail : Severity::warn;
  finding.reason =
      fmt::format("{} where the {} {} of this GPU have {} ({} {})", fmt::join(names, ", "),
                  known.size(), places, finding.reference, percent_text(finding.deviation_fraction),
                  finding.deviation_fraction > 0 ? "more" : "less");
  finding.evidence =
      fmt::format("score {:.1f} among the {} of the same GPU; {:.1f} x the tolerance of {:g} %",
                  std::abs(finding.score), places,
                  std::abs(finding.deviation_fraction) / tolerance.warn, 100 * tolerance.warn);
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
    if (!out.empty()) here.push_back(place_finding(run, device, metric, *values, out, tolerance));
  }
  const bool usual = maps >= 3 && 2 * here.size() >= maps;
  for (FleetFinding& finding : here) {
    if (usual) {
      finding.severity = Severity::info;
      finding.evidence += fmt::format("; {} of {} devices show the like", here.size(), maps);
    }
    findings.push_back(std::move(finding));
  }
}

/// What a map is about: "l1", "l2". Near and far lines of the L2 are the same.
std::string part_of(const Metric& metric) {
  const std::string_view name = metric.name.substr(metric.name.find('.') + 1);
  return std::string(name.substr(0, name.find('_')));
}

struct FaintSm {
  const Metric* metric = nullptr;
  const std::vector<double>* values = nullptr;
  OutlyingSm sm;
};

/// Of one device by SM: those that stand apart in maps of cycles, however little.
using FaintSms = std::map<int, std::vector<FaintSm>>;

std::vector<FaintSms> find_faint_sms(const RunResult& run, const ComparisonGroup& group,
                                     const ReduceOptions& options) {
  std::vector<FaintSms> faint(group.devices.size());
  for (const Metric& metric : options.registry) {
    if (!is_compared_map(metric) || is_slice_map(metric) || metric.unit != "cycle") continue;
    FindingFinder finder(metric.name);
    for (std::size_t i = 0; i < group.devices.size(); ++i) {
      const Finding* finding = finder.in(run.devices[group.devices[i]]);
      const std::vector<double>* values = finding != nullptr ? vector_of(*finding) : nullptr;
      if (values == nullptr) continue;
      for (const OutlyingSm& sm : outlying_sms(*values, metric.better, faint_step_cycles, 0, 0)) {
        faint[i][sm.sm].push_back({.metric = &metric, .values = values, .sm = sm});
      }
    }
  }
  return faint;
}

/// A cycle or two is too little for a verdict by one map; an SM that stands apart in maps of two
/// parts is no chance.
void judge_faint_sms(const RunResult& run, const ComparisonGroup& group,
                     const ReduceOptions& options, std::vector<FleetFinding>& findings) {
  std::vector<FleetFinding> here;
  std::set<std::size_t> devices;
  const std::vector<FaintSms> all = find_faint_sms(run, group, options);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::size_t device = group.devices[i];
    for (const auto& [sm, maps] : all[i]) {
      std::set<std::string> parts;
      for (const FaintSm& faint : maps) parts.insert(part_of(*faint.metric));
      const bool is_known = std::ranges::any_of(findings, [&, sm = sm](const FleetFinding& one) {
        return one.device == device && std::ranges::find(one.sms, sm) != one.sms.end();
      });
      if (parts.size() < 2 || is_known) continue;
      devices.insert(device);
      for (const FaintSm& faint : maps) {
        here.push_back(place_finding(run, device, *faint.metric, *faint.values, {faint.sm},
                                     tolerance_for(faint.metric->name, options)));
        here.back().severity = Severity::warn;
        here.back().evidence +=
            fmt::format("; maps of {} agree on this SM", fmt::join(parts, " and "));
      }
    }
  }
  const bool usual = group.devices.size() >= 3 && 2 * devices.size() >= group.devices.size();
  for (FleetFinding& finding : here) {
    if (usual) finding.severity = Severity::info;
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
    judge_faint_sms(run, group, options, findings);
  }
  return findings;
}

}  // namespace sonde
