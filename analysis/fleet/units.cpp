// SMs, or slices of the L2, that stand apart within their own device: from maps to charges.
#include "analysis/fleet/units.hpp"

#include "analysis/fleet/finding_finder.hpp"
#include "analysis/fleet/fingerprint.hpp"
#include "analysis/fleet/tolerance.hpp"
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

Charge charge_for(const RunResult& run, std::size_t device, const Metric& metric,
                  const std::vector<double>& values, const std::vector<OutlyingSm>& out,
                  const Tolerance& tolerance) {
  const bool by_slice = is_slice_map(metric);
  const char* places = by_slice ? "slices" : "SMs";
  const std::vector<double> known = known_values(values);
  const std::vector<std::string> names =
      by_slice ? name_slices(out, metric.unit) : name_units(run.devices[device], out, metric.unit);
  const auto far = [](const OutlyingSm& one) { return std::abs(one.score); };
  const OutlyingSm& furthest = *std::ranges::max_element(out, {}, far);
  Charge charge{.device = device,
                .node = run.devices[device].node,
                .ground = Ground::itself,
                .trouble = by_slice ? Trouble::slice : Trouble::sm,
                .unit = {.kind = by_slice ? Unit::Kind::slice : Unit::Kind::sm, .numbers = {}},
                .metric = std::string(metric.name),
                .value = format_quantity(furthest.value, metric.unit),
                .reference = format_quantity(median(known), metric.unit),
                .size = furthest.deviation_fraction,
                .score = furthest.score,
                .n = known.size()};
  for (const OutlyingSm& one : out) charge.unit.numbers.push_back(one.sm);
  charge.severity = std::abs(charge.size) >= tolerance.fail ? Severity::fail : Severity::warn;
  charge.reason = fmt::format("{} where the {} {} of this GPU have {} ({} {})",
                              fmt::join(names, ", "), known.size(), places, charge.reference,
                              percent_text(charge.size), charge.size > 0 ? "more" : "less");
  charge.evidence = fmt::format(
      "score {:.1f} among the {} of the same GPU; {:.1f} x the tolerance of {:g} %",
      std::abs(charge.score), places, std::abs(charge.size) / tolerance.warn, 100 * tolerance.warn);
  return charge;
}

/// The outlying units of one map, for each device of a group.
struct OutlyingUnits {
  std::size_t maps = 0;
  std::map<std::size_t, std::vector<OutlyingSm>> of_device;
};

/// Whether the same unit stands apart by the same amount on more than two thirds of five devices
/// or more: then GPUs of this model are built so.
bool is_built_in(const OutlyingSm& unit, const OutlyingUnits& all) {
  constexpr std::size_t least_devices = 5;
  constexpr double same_size = 0.25;  // of the larger deviation
  std::size_t alike = 0;
  for (const auto& [device, units] : all.of_device) {
    alike += std::ranges::any_of(units, [&](const OutlyingSm& other) {
      const double larger =
          std::max(std::abs(other.deviation_fraction), std::abs(unit.deviation_fraction));
      return other.sm == unit.sm &&
             std::abs(other.deviation_fraction - unit.deviation_fraction) <= same_size * larger;
    });
  }
  return all.maps >= least_devices && 3 * alike > 2 * all.maps;
}

/// Takes out the units that are built in. @returns their numbers
std::set<int> take_built_in(OutlyingUnits& all) {
  const OutlyingUnits before = all;
  std::set<int> numbers;
  for (auto& [device, units] : all.of_device) {
    std::erase_if(units, [&](const OutlyingSm& unit) {
      const bool built_in = is_built_in(unit, before);
      if (built_in) numbers.insert(unit.sm);
      return built_in;
    });
  }
  return numbers;
}

Charge note_of_built_in(const Metric& metric, const std::set<int>& numbers, std::size_t maps) {
  const bool by_slice = is_slice_map(metric);
  return {.ground = Ground::itself,
          .metric = std::string(metric.name),
          .n = maps,
          .reason = fmt::format("{} {} stands apart by the same amount on more than two thirds of "
                                "{} GPUs: they are built so",
                                by_slice ? "slice" : "SM", fmt::join(numbers, ", "), maps)};
}

void judge_map(const RunResult& run, const ComparisonGroup& group, const Metric& metric,
               const ReduceOptions& options, std::vector<Charge>& charges) {
  const Tolerance tolerance = tolerance_for(metric, options);
  const double resolution = metric.unit == "cycle" ? 1 : 0;
  OutlyingUnits all;
  std::map<std::size_t, const std::vector<double>*> values_of;
  FindingFinder finder(metric.name);
  for (const std::size_t device : group.devices) {
    const Finding* finding = finder.in(run.devices[device]);
    const std::vector<double>* values = finding != nullptr ? vector_of(*finding) : nullptr;
    if (values == nullptr || values->empty()) continue;
    ++all.maps;
    auto out = outlying_sms(*values, metric.better, resolution, tolerance.warn,
                            options.scale_floor_fraction);
    if (out.empty()) continue;
    values_of[device] = values;
    all.of_device[device] = std::move(out);
  }
  const std::set<int> built_in = take_built_in(all);
  if (!built_in.empty()) charges.push_back(note_of_built_in(metric, built_in, all.maps));
  for (const auto& [device, units] : all.of_device) {
    if (units.empty()) continue;
    charges.push_back(charge_for(run, device, metric, *values_of[device], units, tolerance));
  }
}

/// What a map is about: "l1", "l2". Near and far lines of the L2 are the same.
std::string part_of(const Metric& metric) {
  const std::string_view name = metric.name.substr(metric.name.find('.') + 1);
  return std::string(name.substr(0, name.find('_')));
}

/// An SM that stands apart in a map of cycles, however little.
struct FaintSm {
  const Metric* metric = nullptr;
  const std::vector<double>* values = nullptr;
  OutlyingSm sm;
};

/// By device and SM.
using FaintSms = std::map<std::pair<std::size_t, int>, std::vector<FaintSm>>;

FaintSms find_faint_sms(const RunResult& run, const ComparisonGroup& group,
                        const ReduceOptions& options) {
  FaintSms faint;
  for (const Metric& metric : options.registry) {
    if (!is_unit_map(metric) || is_slice_map(metric) || metric.unit != "cycle") continue;
    OutlyingUnits all;
    std::map<std::size_t, const std::vector<double>*> values_of;
    FindingFinder finder(metric.name);
    for (const std::size_t device : group.devices) {
      const Finding* finding = finder.in(run.devices[device]);
      const std::vector<double>* values = finding != nullptr ? vector_of(*finding) : nullptr;
      if (values == nullptr) continue;
      ++all.maps;
      values_of[device] = values;
      all.of_device[device] = outlying_sms(*values, metric.better, faint_step_cycles, 0, 0);
    }
    take_built_in(all);
    for (const auto& [device, units] : all.of_device) {
      for (const OutlyingSm& unit : units) {
        faint[{device, unit.sm}].push_back(
            {.metric = &metric, .values = values_of[device], .sm = unit});
      }
    }
  }
  return faint;
}

/// A cycle or two is too little for a verdict by one map; an SM that stands apart in maps of two
/// parts is no chance.
void judge_faint_sms(const RunResult& run, const ComparisonGroup& group,
                     const ReduceOptions& options, std::vector<Charge>& charges) {
  const std::vector<Charge> plain = charges;
  for (const auto& [place, maps] : find_faint_sms(run, group, options)) {
    const auto& [device, sm] = place;
    std::set<std::string> parts;
    for (const FaintSm& faint : maps) parts.insert(part_of(*faint.metric));
    const bool is_known =
        std::ranges::any_of(plain, [&, device = device, sm = sm](const Charge& one) {
          return one.device == device &&
                 std::ranges::find(one.unit.numbers, sm) != one.unit.numbers.end();
        });
    if (parts.size() < 2 || is_known) continue;
    for (const FaintSm& faint : maps) {
      charges.push_back(charge_for(run, device, *faint.metric, *faint.values, {faint.sm},
                                   tolerance_for(*faint.metric, options)));
      charges.back().severity = Severity::warn;
      charges.back().evidence +=
          fmt::format("; maps of {} agree on this SM", fmt::join(parts, " and "));
    }
  }
}

}  // namespace

std::vector<Charge> unit_charges(const RunResult& run, const std::vector<ComparisonGroup>& groups,
                                 const ReduceOptions& options) {
  std::vector<Charge> all;
  for (const ComparisonGroup& group : groups) {
    std::vector<Charge> charges;
    for (const Metric& metric : options.registry) {
      if (is_unit_map(metric)) judge_map(run, group, metric, options, charges);
    }
    judge_faint_sms(run, group, options, charges);
    std::ranges::move(charges, std::back_inserter(all));
  }
  return all;
}

}  // namespace sonde
