// Compares every metric that a device has in both runs.
#include "analysis/fleet/grounds/grounds.hpp"

#include "analysis/fleet/tolerance.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <boost/math/distributions/normal.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

namespace sonde {
namespace {

// Structure of lower confidence is treated as a number with scatter (a gradual capacity).
constexpr double sure_confidence = 0.9;

// Of a thousand pairs of healthy maps one shows a change by chance, if values are normal.
constexpr double map_false_alarm = 0.001;

/// Name to pair devices of two runs: UUID and setting, "GPU-1a2b (memory-percent=50)".
std::string name_of(const RunResult& run, const DeviceResult& device) {
  const std::string setting = describe_setting(run.provenance, device.point_index);
  return setting.empty() ? device.info.uuid : fmt::format("{} ({})", device.info.uuid, setting);
}

struct Pair {
  const Metric& metric;
  const Finding& before;
  const Finding& after;
};

/// A change with values, size, severity and reason; nothing if there is none.
using Told = std::optional<Change>;

/// A change that neither the tolerance nor the repeats of both runs explain.
/// @param within standard deviations that chance explains
Told number_change(const Pair& pair, double before, double after, double within) {
  const double repeat = std::hypot(repeat_deviation(pair.before), repeat_deviation(pair.after));
  const double fraction =
      unexplained_fraction(pair.metric, after, {before, before}, pair.metric.warn, within * repeat);
  if (!(std::abs(fraction) > 0)) return {};
  Change change{.before = before, .after = after, .tolerance = pair.metric.warn};
  change.charge.size = fraction;
  if (is_worse(pair.metric.better, fraction)) {
    change.charge.severity =
        std::abs(fraction) >= pair.metric.fail ? Severity::fail : Severity::warn;
  }
  change.charge.reason =
      fmt::format("{} {} than before", percent_text(fraction), fraction > 0 ? "more" : "less");
  return change;
}

/// The place of a per-SM map that changed most; only meaningful for the same die.
Told map_change(const Pair& pair, const std::vector<double>& before,
                const std::vector<double>& after) {
  Told worst;
  if (before.size() != after.size() || pair.metric.better == Better::neither) return worst;
  // Of many places one changes much by chance.
  const double chance = map_false_alarm / static_cast<double>(before.size() + 1);
  const double within =
      std::max(within_factor, -boost::math::quantile(boost::math::normal(), chance / 2));
  for (std::size_t sm = 0; sm < before.size(); ++sm) {
    Told change = number_change(pair, before[sm], after[sm], within);
    if (!change) continue;
    if (worst && std::abs(change->charge.size) <= std::abs(worst->charge.size)) continue;
    change->place = sm;
    change->charge.reason = fmt::format("place {} moved from {:.6g} to {:.6g}, {}", sm, before[sm],
                                        after[sm], change->charge.reason);
    worst = change;
  }
  return worst;
}

Told structure_change(const Pair& pair) {
  const std::string before = ballot_text(pair.before);
  const std::string after = ballot_text(pair.after);
  if (before.empty() || after.empty() || before == after) return {};
  const auto from = number_of(pair.before);
  const auto to = number_of(pair.after);
  const bool is_capacity = pair.metric.kind == MetricKind::capacity;
  if (is_capacity && from && to &&
      capacities_agree(edge_of(pair.before), edge_of(pair.after), pair.metric.warn)) {
    return {};
  }
  if (from && to && std::min(pair.before.confidence, pair.after.confidence) < sure_confidence) {
    return number_change(pair, *from, *to, within_factor);
  }
  return Change{.before = pair.before.value,
                .after = pair.after.value,
                .tolerance = is_capacity ? pair.metric.warn : Charge::no_number,
                .charge = {.ground = Ground::past,
                           .severity = Severity::fail,
                           .reason = "structure does not change: one of the two is wrong"}};
}

Told change_of(const Pair& pair) {
  // Slices and peers get new numbers in each run.
  if (!pair.metric.not_compared.empty() || pair.metric.kind == MetricKind::inventory ||
      is_slice_map(pair.metric) || is_link_list(pair.metric)) {
    return {};
  }
  if (is_structure(pair.metric.kind)) return structure_change(pair);
  const auto* map_before = vector_of(pair.before);
  const auto* map_after = vector_of(pair.after);
  if (map_before && map_after) return map_change(pair, *map_before, *map_after);
  const auto before = number_of(pair.before);
  const auto after = number_of(pair.after);
  if (!before || !after) return {};
  return number_change(pair, *before, *after, within_factor);
}

/// Adds all changes. @param row of the later run
void compare_device(const DeviceResult& before, const RunResult& run, std::size_t row,
                    std::span<const Metric> registry, RunComparison& comparison) {
  const DeviceResult& after = run.devices[row];
  for (const Metric& metric : registry) {
    const Finding* from = find_finding(before, metric.name);
    const Finding* to = find_finding(after, metric.name);
    if (from == nullptr || to == nullptr) continue;
    Told change = change_of({.metric = metric, .before = *from, .after = *to});
    if (!change) continue;
    Charge& charge = change->charge;
    if (!comparison.other_options.empty() && std::isnan(charge.size)) {
      charge.severity = std::min(charge.severity, Severity::warn);
      charge.reason += ", or the suites differ: they measure other things";
    }
    charge.device = row;
    charge.node = after.node;
    charge.metric = metric.name;
    charge.value = value_text(*to, metric.unit);
    charge.reference = value_text(*from, metric.unit);
    change->uuid = after.info.uuid;
    change->setting = describe_setting(run.provenance, after.point_index);
    change->unit = metric.unit;
    comparison.changes.push_back(*std::move(change));
  }
}

/// The value of option "suite" or "jobs", as JSON text. "" if it was not kept, or is an axis of a
/// sweep (by which devices are then paired).
std::string asked(const Provenance& from, const char* option) {
  const bool is_axis = std::ranges::find(from.axes, option, &Axis::option) != from.axes.end();
  const auto config = nlohmann::json::parse(from.config_json, nullptr, false);
  return !is_axis && config.is_object() && config.contains(option) ? config[option].dump() : "";
}

/// "suite "quick" before, "standard" after"; "" if the options are equal.
std::string other_options(const Provenance& before, const Provenance& after) {
  std::vector<std::string> parts;
  for (const char* option : {"suite", "jobs"}) {
    const std::string from = asked(before, option);
    const std::string to = asked(after, option);
    if (from == to || from.empty() || to.empty()) continue;
    parts.push_back(fmt::format("{} {} before, {} after", option, from, to));
  }
  return fmt::format("{}", fmt::join(parts, "; "));
}

}  // namespace

RunComparison compare_runs(const RunResult& before, const RunResult& after,
                           std::span<const Metric> registry) {
  RunComparison comparison;
  comparison.other_options = other_options(before.provenance, after.provenance);
  std::map<std::string, const DeviceResult*> earlier;
  for (const DeviceResult& device : before.devices) {
    earlier.try_emplace(name_of(before, device), &device);
  }
  std::set<std::string_view> gpus;
  std::set<std::string> names;
  for (std::size_t index = 0; index < after.devices.size(); ++index) {
    const DeviceResult& device = after.devices[index];
    const std::string name = name_of(after, device);
    names.insert(name);
    if (!earlier.contains(name)) {
      comparison.only_after.push_back(name);
      continue;
    }
    gpus.insert(device.info.uuid);
    compare_device(*earlier[name], after, index, registry, comparison);
  }
  comparison.paired_gpus = gpus.size();
  for (const DeviceResult& device : before.devices) {
    const std::string name = name_of(before, device);
    if (!names.contains(name)) comparison.only_before.push_back(name);
  }
  std::ranges::stable_sort(comparison.changes, std::greater{}, [](const Change& change) {
    const double size = std::abs(change.charge.size);
    return std::pair(change.charge.severity, std::isnan(size) ? INFINITY : size);
  });
  return comparison;
}

ExitStatus exit_status(const RunComparison& comparison) {
  const bool fails = std::ranges::any_of(comparison.changes, [](const Change& change) {
    return change.charge.severity == Severity::fail;
  });
  if (fails) return ExitStatus::verdict;
  return comparison.paired_gpus == 0 ? ExitStatus::incomplete : ExitStatus::ok;
}

}  // namespace sonde
