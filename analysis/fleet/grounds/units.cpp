// SMs and slices of the L2 that are worse than the others of their device: from maps to charges.
#include "analysis/fleet/grounds/grounds.hpp"

#include "analysis/fleet/tolerance.hpp"
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

/// Positive if worse than the centre.
double badness(double value, double center, Better better) {
  return better == Better::higher ? center - value : value - center;
}

/// Standard deviation of normal values with outliers. If values form two groups (near and far), the
/// median absolute deviation spans both; the outer quantiles then give a smaller scale.
double robust_scale(const std::vector<double>& known) {
  constexpr double end = 0.05;
  constexpr double normal_end =
      1.6449;  // distance of this quantile from the centre of the standard normal distribution
  const double of_ends = (quantile(known, 1 - end) - quantile(known, end)) / (2 * normal_end);
  return std::min(normal_scale * median_absolute_deviation(known), of_ends);
}

/// An SM or a slice that is worse than all others of its device.
struct OutlyingUnit {
  int number = 0;
  double value = 0;
  double deviation_fraction = 0;  // from the median of the map
  double score = 0;
};

/// Limits that a deviation must exceed.
struct Cut {
  double step = 0;  // of a value
  double tolerance = 0;
  double scatter = 0;  // least scatter, as a fraction
};
Cut usual_cut(const Metric& metric) {
  return {resolution_of(metric), metric.warn, scale_floor_fraction};
}
// With this cut one cycle is enough, if all other SMs agree.
constexpr Cut faint_cut{.step = 0.4};

/// Units that deviate for the worse: by more than the cut calibrated for their number, by the
/// tolerance and by 1.5 steps. They must be few (at most 3 % of the units, or two: a TPC), and
/// deviate twice as much as any other: a distant GPC is no finding. None for fewer than 9 units.
std::vector<OutlyingUnit> find_outlying(std::span<const double> values, Better better,
                                        const Cut& cut) {
  const std::vector<double> known = known_values(values);
  if (known.size() < least_scored_devices) return {};
  const double center = median(known);
  const double size = std::abs(center);
  const double tolerated = std::max(cut.tolerance * size, least_steps * cut.step);
  const auto is_beyond = [&](double value) { return badness(value, center, better) >= tolerated; };
  if (!(size > 0) || std::ranges::none_of(known, is_beyond)) return {};
  const double scale = std::max(
      {robust_scale(known), normal_scale * cut.step / std::sqrt(12.0), cut.scatter * size});
  if (!(scale > 0)) return {};
  // One in a thousand healthy devices has such an SM by chance, if its SMs are normal.
  const double least = std::max(calibration_for(known.size()).cut_01_percent * scale, tolerated);
  std::vector<OutlyingUnit> found;
  double worst_of_rest = 0;
  double least_found = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double deviation = badness(values[i], center, better);
    if (deviation >= least) {
      found.push_back({.number = static_cast<int>(i),
                       .value = values[i],
                       .deviation_fraction = (values[i] - center) / size,
                       .score = (values[i] - center) / scale});
      least_found = std::min(least_found, deviation);
    } else {
      worst_of_rest = std::max(worst_of_rest, deviation);
    }
  }
  const auto most = std::max<std::size_t>(2, known.size() * 3 / 100);
  if (found.size() > most || least_found - worst_of_rest < least_found / 2) return {};
  return found;
}

/// "SM 17 (TPC 8, GPC 3) 40 cycle", "slice 46 273 cycle"
std::string name_unit(const DeviceResult& device, const Metric& metric, const OutlyingUnit& unit) {
  const std::string value = format_quantity(unit.value, metric.unit);
  if (is_slice_map(metric)) return fmt::format("slice {} {}", unit.number, value);
  std::vector<std::string> parts;
  for (const auto& [kind, metric_of_kind] :
       {std::pair{"TPC", "topology.tpc_of_sm"}, std::pair{"GPC", "topology.gpc_of_sm"}}) {
    const std::vector<double>* map = vector_of(device, metric_of_kind);
    const auto place = static_cast<std::size_t>(unit.number);
    if (map == nullptr || place >= map->size()) continue;
    parts.push_back(fmt::format("{} {}", kind, (*map)[place]));
  }
  const std::string place = parts.empty() ? "" : fmt::format("({}) ", fmt::join(parts, ", "));
  return fmt::format("SM {} {}{}", unit.number, place, value);
}

Unit::Kind kind_of(const Metric& map) {
  return is_slice_map(map) ? Unit::Kind::slice : Unit::Kind::sm;
}

/// @param out units of this map that are worse than the others
Charge charge_for(const RunResult& run, std::size_t device, const Metric& metric,
                  const std::vector<OutlyingUnit>& out) {
  const bool by_slice = is_slice_map(metric);
  const char* places = by_slice ? "slices" : "SMs";
  const std::vector<double> known = known_values(*vector_of(run.devices[device], metric.name));
  std::vector<std::string> names;
  for (const OutlyingUnit& one : out) names.push_back(name_unit(run.devices[device], metric, one));
  const auto far = [](const OutlyingUnit& one) { return std::abs(one.score); };
  const OutlyingUnit& furthest = *std::ranges::max_element(out, {}, far);
  Charge charge{.device = device,
                .trouble = by_slice ? Trouble::slice : Trouble::sm,
                .unit = {.kind = kind_of(metric), .numbers = {}},
                .metric = std::string(metric.name),
                .value = format_quantity(furthest.value, metric.unit),
                .reference = format_quantity(median(known), metric.unit),
                .size = furthest.deviation_fraction,
                .score = furthest.score,
                .n = known.size()};
  for (const OutlyingUnit& one : out) charge.unit.numbers.push_back(one.number);
  charge.severity = std::abs(charge.size) >= metric.fail ? Severity::fail : Severity::warn;
  charge.reason = fmt::format("{} where the {} {} of this GPU have {} ({} {})",
                              fmt::join(names, ", "), known.size(), places, charge.reference,
                              percent_text(charge.size), charge.size > 0 ? "more" : "less");
  charge.evidence =
      fmt::format("score {:.1f} among the {} of the same GPU; {}", std::abs(charge.score), places,
                  tolerance_text(charge.size, metric.warn));
  return charge;
}

/// Outlying units of one map, for the devices of a group.
struct GroupUnits {
  std::size_t maps = 0;
  std::map<std::size_t, std::vector<OutlyingUnit>> out;  // by device; no empty lists
  std::set<int> built_in;  // units that deviate by design; not in `out`
};

/// True if the same unit deviates by a similar amount on more than two thirds of at least five
/// devices: this is by design.
bool is_built_in(const OutlyingUnit& unit, const GroupUnits& all) {
  constexpr std::size_t least_devices = 5;
  constexpr double same_size = 0.25;  // of the larger deviation
  const auto is_alike = [&](const OutlyingUnit& other) {
    const double one = std::abs(unit.deviation_fraction);
    const double another = std::abs(other.deviation_fraction);
    return other.number == unit.number &&
           std::abs(one - another) <= same_size * std::max(one, another);
  };
  const auto alike = std::ranges::count_if(all.out, [&](const auto& of_device) {
    return std::ranges::any_of(of_device.second, is_alike);
  });
  return all.maps >= least_devices && 3 * static_cast<std::size_t>(alike) > 2 * all.maps;
}

GroupUnits find_units(const RunResult& run, const ComparisonGroup& group, const Metric& metric,
                      const Cut& cut) {
  GroupUnits all;
  for_each_finding(run, group.devices, metric.name,
                   [&](std::size_t device, const Finding& finding) {
                     const std::vector<double>* values = vector_of(finding);
                     if (values == nullptr || values->empty()) return;
                     ++all.maps;
                     auto out = find_outlying(*values, metric.better, cut);
                     if (!out.empty()) all.out[device] = std::move(out);
                   });
  GroupUnits found = all;
  for (auto& [device, units] : found.out) {
    std::erase_if(units, [&](const OutlyingUnit& unit) {
      const bool is_so = is_built_in(unit, all);
      if (is_so) found.built_in.insert(unit.number);
      return is_so;
    });
  }
  std::erase_if(found.out, [](const auto& of_device) { return of_device.second.empty(); });
  return found;
}

void judge_map(const RunResult& run, const ComparisonGroup& group, const Metric& metric,
               std::vector<Charge>& charges) {
  const GroupUnits all = find_units(run, group, metric, usual_cut(metric));
  if (!all.built_in.empty()) {
    charges.push_back(
        {.unit = {.kind = kind_of(metric), .numbers = {all.built_in.begin(), all.built_in.end()}},
         .metric = std::string(metric.name),
         .n = all.maps});
    Charge& note = charges.back();
    note.reason = fmt::format(
        "{} differs from its peers by the same amount on more than two thirds of {} GPUs: this is "
        "by design",
        to_text(note.unit), all.maps);
  }
  for (const auto& [device, units] : all.out) {
    charges.push_back(charge_for(run, device, metric, units));
  }
}

/// The part that a map is about: "l1", "l2". Near and far lines of the L2 are one part.
std::string_view part_of(const Metric& metric) {
  const std::string_view name = metric.name.substr(metric.name.find('.') + 1);
  return name.substr(0, name.find('_'));
}

/// A cycle or two in one map is too little for a verdict; but an SM that deviates even slightly in
/// maps of two parts does not do so by chance. Leaves out SMs that already have a charge or
/// deviate by design.
/// @param charges of judge_map; adds to them
void judge_faint_sms(const RunResult& run, const ComparisonGroup& group,
                     std::span<const Metric> registry, std::vector<Charge>& charges) {
  using FaintSm = std::pair<const Metric*, OutlyingUnit>;
  std::map<std::pair<std::size_t, int>, std::vector<FaintSm>> faint;  // by device and SM
  for (const Metric& metric : registry) {
    if (!is_unit_map(metric) || is_slice_map(metric) || metric.unit != "cycle") continue;
    const GroupUnits all = find_units(run, group, metric, faint_cut);
    for (const auto& [device, units] : all.out) {
      for (const OutlyingUnit& unit : units)
        faint[{device, unit.number}].emplace_back(&metric, unit);
    }
  }
  for (const Charge& plain : charges) {
    if (plain.unit.kind != Unit::Kind::sm) continue;
    const bool built_in = plain.device == Charge::no_device;
    std::erase_if(faint, [&](const auto& of_place) {
      const auto& [device, sm] = of_place.first;
      return (built_in || device == plain.device) &&
             std::ranges::find(plain.unit.numbers, sm) != plain.unit.numbers.end();
    });
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
