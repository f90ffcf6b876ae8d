// Summaries of per-SM maps that do not depend on the order of SMs, and the SMs, or slices of the
// L2, that stand apart within their own device: from maps to charges.
#include "analysis/fleet/fingerprint.hpp"

#include "analysis/fleet/tolerance.hpp"
#include "analysis/fleet/value_text.hpp"
#include "analysis/statistics.hpp"
#include "base/units.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <string_view>

namespace sonde {
namespace {

/// Positive where worse.
double badness(double value, double center, Better better) {
  return better == Better::higher ? center - value : value - center;
}

/// Standard deviation of normal values, some of them outliers. Of values in two groups, as those of
/// the near and the far, the median absolute deviation reaches from one to the other, and says more
/// than twice what their ends say.
double robust_scale(const std::vector<double>& known) {
  constexpr double end = 0.05;
  constexpr double normal_end = 1.6449;  // of the standard normal distribution, from its centre
  const double of_ends = (quantile(known, 1 - end) - quantile(known, end)) / (2 * normal_end);
  return std::min(normal_scale * median_absolute_deviation(known), of_ends);
}

}  // namespace

std::vector<double> sorted_profile(std::span<const double> values, std::size_t points) {
  std::vector<double> sorted = known_values(values);
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
  const std::vector<double> known = known_values(values);
  if (known.size() < least_scored_devices) return {};
  const double center = median(known);
  const double size = std::abs(center);
  const double tolerated = std::max(tolerance * size, least_steps * resolution);
  const auto is_beyond = [&](double value) { return badness(value, center, better) >= tolerated; };
  if (!(size > 0) || std::ranges::none_of(known, is_beyond)) return {};
  const double scale = std::max(
      {robust_scale(known), normal_scale * resolution / std::sqrt(12.0), floor_fraction * size});
  if (!(scale > 0)) return {};
  // One healthy device in a thousand would show such an SM by chance, were its SMs Gaussian.
  const double least = std::max(calibration_for(known.size()).cut_01_percent * scale, tolerated);
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
  const auto most = std::max<std::size_t>(2, known.size() * 3 / 100);
  if (found.size() > most || least_found - worst_of_rest < least_found / 2) return {};
  return found;
}

namespace {

// A whole cycle then passes the cut for 132 SMs of which no other is off.
constexpr double faint_step_cycles = 0.4;

/// "TPC 8": the part that the SM belongs to by such a map; "" if it is not known.
std::string part_with(const std::vector<double>* map, const char* kind, int sm) {
  const auto place = static_cast<std::size_t>(sm);
  return map == nullptr || place >= map->size() ? "" : fmt::format("{} {}", kind, (*map)[place]);
}

/// "SM 17 (TPC 8, GPC 3) 40 cycle", "slice 46 273 cycle"
std::string name_unit(const DeviceResult& device, const Metric& metric, const OutlyingSm& unit) {
  const std::string value = format_quantity(unit.value, metric.unit);
  if (is_slice_map(metric)) return fmt::format("slice {} {}", unit.sm, value);
  const std::string tpc = part_with(vector_of(device, "topology.tpc_of_sm"), "TPC", unit.sm);
  const std::string gpc = part_with(vector_of(device, "topology.gpc_of_sm"), "GPC", unit.sm);
  const std::string place = tpc + (tpc.empty() || gpc.empty() ? "" : ", ") + gpc;
  return fmt::format("SM {} {}{}", unit.sm, place.empty() ? "" : "(" + place + ") ", value);
}

/// @param out units of that map of the device that stand apart
Charge charge_for(const RunResult& run, std::size_t device, const Metric& metric,
                  const std::vector<OutlyingSm>& out) {
  const bool by_slice = is_slice_map(metric);
  const char* places = by_slice ? "slices" : "SMs";
  const std::vector<double> known = known_values(*vector_of(run.devices[device], metric.name));
  std::vector<std::string> names;
  for (const OutlyingSm& one : out) names.push_back(name_unit(run.devices[device], metric, one));
  const auto far = [](const OutlyingSm& one) { return std::abs(one.score); };
  const OutlyingSm& furthest = *std::ranges::max_element(out, {}, far);
  Charge charge{.device = device,
                .trouble = by_slice ? Trouble::slice : Trouble::sm,
                .unit = {.kind = by_slice ? Unit::Kind::slice : Unit::Kind::sm, .numbers = {}},
                .metric = std::string(metric.name),
                .value = format_quantity(furthest.value, metric.unit),
                .reference = format_quantity(median(known), metric.unit),
                .size = furthest.deviation_fraction,
                .score = furthest.score,
                .n = known.size()};
  for (const OutlyingSm& one : out) charge.unit.numbers.push_back(one.sm);
  charge.severity = std::abs(charge.size) >= metric.fail ? Severity::fail : Severity::warn;
  charge.reason = fmt::format("{} where the {} {} of this GPU have {} ({} {})",
                              fmt::join(names, ", "), known.size(), places, charge.reference,
                              percent_text(charge.size), charge.size > 0 ? "more" : "less");
  charge.evidence =
      fmt::format("score {:.1f} among the {} of the same GPU; {}", std::abs(charge.score), places,
                  tolerance_text(charge.size, metric.warn));
  return charge;
}

/// Units of one map that stand apart on their own die, of a group.
struct GroupUnits {
  std::size_t maps = 0;
  std::map<std::size_t, std::vector<OutlyingSm>> out;  // by device; no empty ones
  std::set<int> built_in;                              // GPUs of this model have these: not in out
};

/// Whether the same unit stands apart by the same amount on more than two thirds of five devices
/// or more: then GPUs of this model are built so.
bool is_built_in(const OutlyingSm& unit, const GroupUnits& all) {
  constexpr std::size_t least_devices = 5;
  constexpr double same_size = 0.25;  // of the larger deviation
  const auto is_alike = [&](const OutlyingSm& other) {
    const double one = std::abs(unit.deviation_fraction);
    const double another = std::abs(other.deviation_fraction);
    return other.sm == unit.sm && std::abs(one - another) <= same_size * std::max(one, another);
  };
  const auto alike = std::ranges::count_if(all.out, [&](const auto& of_device) {
    return std::ranges::any_of(of_device.second, is_alike);
  });
  return all.maps >= least_devices && 3 * static_cast<std::size_t>(alike) > 2 * all.maps;
}

/// @param step,tolerance,floor of outlying_sms
GroupUnits find_units(const RunResult& run, const ComparisonGroup& group, const Metric& metric,
                      double step, double tolerance, double floor) {
  GroupUnits all;
  for_each_finding(run, group.devices, metric.name,
                   [&](std::size_t device, const Finding& finding) {
                     const std::vector<double>* values = vector_of(finding);
                     if (values == nullptr || values->empty()) return;
                     ++all.maps;
                     auto out = outlying_sms(*values, metric.better, step, tolerance, floor);
                     if (!out.empty()) all.out[device] = std::move(out);
                   });
  GroupUnits found = all;
  for (auto& [device, units] : found.out) {
    std::erase_if(units, [&](const OutlyingSm& unit) {
      const bool is_so = is_built_in(unit, all);
      if (is_so) found.built_in.insert(unit.sm);
      return is_so;
    });
  }
  std::erase_if(found.out, [](const auto& of_device) { return of_device.second.empty(); });
  return found;
}

void judge_map(const RunResult& run, const ComparisonGroup& group, const Metric& metric,
               std::vector<Charge>& charges) {
  const GroupUnits all =
      find_units(run, group, metric, resolution_of(metric), metric.warn, scale_floor_fraction);
  if (!all.built_in.empty()) {
    charges.push_back(
        {.metric = std::string(metric.name),
         .n = all.maps,
         .reason = fmt::format("{} {} stands apart by the same amount on more than two thirds of "
                               "{} GPUs: they are built so",
                               is_slice_map(metric) ? "slice" : "SM", fmt::join(all.built_in, ", "),
                               all.maps)});
  }
  for (const auto& [device, units] : all.out) {
    charges.push_back(charge_for(run, device, metric, units));
  }
}

/// What a map is about: "l1", "l2". Near and far lines of the L2 are the same.
std::string_view part_of(const Metric& metric) {
  const std::string_view name = metric.name.substr(metric.name.find('.') + 1);
  return name.substr(0, name.find('_'));
}

/// A cycle or two is too little for a verdict by one map; an SM that stands apart, however little,
/// in maps of two parts is no chance.
/// @param charges of plain verdicts, added to
void judge_faint_sms(const RunResult& run, const ComparisonGroup& group,
                     std::span<const Metric> registry, std::vector<Charge>& charges) {
  using FaintSm = std::pair<const Metric*, OutlyingSm>;
  std::map<std::pair<std::size_t, int>, std::vector<FaintSm>> faint;  // by device and SM
  for (const Metric& metric : registry) {
    if (!is_unit_map(metric) || is_slice_map(metric) || metric.unit != "cycle") continue;
    const GroupUnits all = find_units(run, group, metric, faint_step_cycles, 0, 0);
    for (const auto& [device, units] : all.out) {
      for (const OutlyingSm& unit : units) faint[{device, unit.sm}].emplace_back(&metric, unit);
    }
  }
  for (const Charge& plain : charges) {
    for (const int sm : plain.unit.numbers) faint.erase({plain.device, sm});
  }
  for (const auto& [place, maps] : faint) {
    std::set<std::string_view> parts;
    for (const auto& [metric, sm] : maps) parts.insert(part_of(*metric));
    if (parts.size() < 2) continue;
    for (const auto& [metric, sm] : maps) {
      Charge& charge = charges.emplace_back(charge_for(run, place.first, *metric, {sm}));
      charge.severity = Severity::warn;
      charge.evidence += fmt::format("; maps of {} agree on this SM", fmt::join(parts, " and "));
    }
  }
}

}  // namespace

void judge_units(const RunResult& run, FleetAnalysis& analysis) {
  for (const ComparisonGroup& group : analysis.groups) {
    std::vector<Charge> charges;
    for (const Metric& metric : analysis.registry) {
      if (is_unit_map(metric)) judge_map(run, group, metric, charges);
    }
    judge_faint_sms(run, group, analysis.registry, charges);
    std::ranges::move(charges, std::back_inserter(analysis.charges));
  }
}

}  // namespace sonde
