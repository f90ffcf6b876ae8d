// Summaries of per-SM maps that do not depend on the order of SMs, the SMs that stand apart in
// their own device, and the findings about them, which fleet.cpp turns into verdicts.
#include "analysis/fleet/fingerprint.hpp"

#include "analysis/fleet/calibration.hpp"
#include "analysis/fleet/judge.hpp"
#include "analysis/fleet/value_text.hpp"
#include "analysis/statistics.hpp"
#include "base/units.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace sonde {
namespace {

// One healthy device in a thousand would show such an SM by chance, were its SMs Gaussian.
constexpr double sm_false_alarm = 0.001;

/// Positive where worse.
double badness(double value, double center, Better better) {
  return better == Better::higher ? center - value : value - center;
}

/// " (TPC 8, GPC 3)" where the placement job found out.
std::string place_text(const DeviceResult& device, int sm) {
  std::vector<std::string> parts;
  const auto add = [&](const char* metric, const char* name) {
    const std::vector<double>* map = vector_of(device, metric);
    const auto index = static_cast<std::size_t>(sm);
    if (map == nullptr || index >= map->size() || (*map)[index] < 0) return;
    parts.push_back(fmt::format("{} {:.0f}", name, (*map)[index]));
  };
  add("placement.tpc_of_sm", "TPC");
  add("placement.gpc_of_sm", "GPC");
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

MapSummary summarize_map(std::span<const double> values, Better better) {
  MapSummary summary;
  summary.median = median(std::vector<double>(values.begin(), values.end()));
  double worst = 0;
  for (const double value : values) {
    worst = std::max(worst, badness(value, summary.median, better));
  }
  const double size = std::abs(summary.median);
  summary.worst_over_median = size > 0 ? worst / size : 0;
  return summary;
}

std::vector<double> sorted_profile(std::span<const double> values, std::size_t points) {
  std::vector<double> sorted(values.begin(), values.end());
  std::ranges::sort(sorted);
  const double center = median(sorted);
  std::vector<double> profile;
  for (std::size_t i = 0; i < points; ++i) {
    const double place =
        static_cast<double>(i * (sorted.size() - 1)) / static_cast<double>(points - 1);
    const auto below = static_cast<std::size_t>(place);
    const std::size_t above = std::min(below + 1, sorted.size() - 1);
    const double value =
        std::lerp(sorted[below], sorted[above], place - static_cast<double>(below));
    profile.push_back((value - center) / std::abs(center));
  }
  return profile;
}

std::vector<double> profile_distances(const std::vector<std::vector<double>>& profiles) {
  std::vector<double> distances(profiles.size(), 0);
  if (profiles.empty()) return distances;
  const std::size_t points = profiles.front().size();
  for (std::size_t point = 0; point < points; ++point) {
    std::vector<double> here;
    for (const auto& profile : profiles) here.push_back(profile[point]);
    const double center = median(here);
    for (std::size_t i = 0; i < profiles.size(); ++i) {
      distances[i] += std::abs(here[i] - center) / static_cast<double>(points);
    }
  }
  return distances;
}

std::vector<OutlyingSm> outlying_sms(std::span<const double> values, Better better,
                                     double resolution, double tolerance, double floor_fraction) {
  if (values.size() < least_scored_devices) return {};
  const double center = median(std::vector<double>(values.begin(), values.end()));
  const double size = std::abs(center);
  const double scale = std::max({1.4826 * median_absolute_deviation(values),
                                 1.4826 * resolution / std::sqrt(12.0), floor_fraction * size});
  if (!(size > 0) || !(scale > 0)) return {};
  const double least = std::max(
      {score_cut(values.size(), sm_false_alarm) * scale, tolerance * size, 1.5 * resolution});
  std::vector<OutlyingSm> found;
  double worst_of_rest = 0;
  double least_found = std::numeric_limits<double>::infinity();
  for (std::size_t sm = 0; sm < values.size(); ++sm) {
    const double deviation = badness(values[sm], center, better);
    if (deviation >= least) {
      found.push_back({.sm = static_cast<int>(sm),
                       .value = values[sm],
                       .deviation_fraction = (values[sm] - center) / size,
                       .score = (values[sm] - center) / scale});
      least_found = std::min(least_found, deviation);
    } else {
      worst_of_rest = std::max(worst_of_rest, deviation);
    }
  }
  const auto most = std::max<std::size_t>(2, values.size() * 3 / 100);
  if (found.size() > most || least_found - worst_of_rest < least_found / 2) return {};
  return found;
}

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
