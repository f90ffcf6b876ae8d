// Compares every metric that a device has in both runs.
#include "analysis/fleet/history.hpp"

#include "analysis/fleet/ballots.hpp"
#include "analysis/fleet/die.hpp"
#include "analysis/fleet/fingerprint.hpp"
#include "analysis/fleet/tolerance.hpp"
#include "analysis/fleet/value_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <boost/math/distributions/normal.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <string_view>
#include <utility>

namespace sonde {
namespace {

/// Values of the axes by their options: two runs may name these in another order. Empty: no sweep.
using Setting = std::map<std::string_view, std::string_view>;

Setting setting_of(const RunResult& run, const DeviceResult& device) {
  const Provenance& from = run.provenance;
  Setting setting;
  if (device.point_index >= from.points.size()) return setting;
  const std::vector<std::string>& at = from.points[device.point_index].at;
  for (std::size_t i = 0; i < std::min(from.axes.size(), at.size()); ++i) {
    setting.emplace(from.axes[i].option, at[i]);
  }
  return setting;
}

/// The same device, measured with the same setting.
const DeviceResult* find_device(const RunResult& run, const RunResult& other,
                                const DeviceResult& like) {
  const Setting setting = setting_of(other, like);
  const auto found = std::ranges::find_if(run.devices, [&](const DeviceResult& device) {
    return device.info.uuid == like.info.uuid && setting_of(run, device) == setting;
  });
  return found != run.devices.end() ? &*found : nullptr;
}

/// "GPU-1a2b3c4d (memory-percent=50)"; of a plain run the UUID.
std::string name_of(const RunResult& run, const DeviceResult& device) {
  const std::string setting = describe_setting(run.provenance, device.point_index);
  return setting.empty() ? device.info.uuid : fmt::format("{} ({})", device.info.uuid, setting);
}

// Structure that a job is less sure of is a number with a scatter (a cache with a gradual capacity
// transition).
constexpr double sure_confidence = 0.9;

// One pair of healthy maps in a thousand shows a change by chance, were its places normal.
constexpr double map_false_alarm = 0.001;

struct Pair {
  const Metric& metric;
  const Finding& before;
  const Finding& after;
};

/// A change that the tolerance and both days' repeats cannot explain; else fraction 0.
Change number_change(const Pair& pair, double before, double after, const ReduceOptions& options) {
  Change change;
  const double difference = after - before;
  const double fraction = before != 0 ? difference / std::abs(before) : std::nan("");
  const double repeat = std::hypot(repeat_deviation(pair.before), repeat_deviation(pair.after));
  const Tolerance tolerance = tolerance_for(pair.metric, options);
  const double step = pair.metric.unit == "cycle" ? 1.5 : 0;
  if (!(std::abs(fraction) >= tolerance.warn) || std::abs(difference) < step ||
      std::abs(difference) <= options.within_factor * repeat) {
    return change;
  }
  change.fraction = fraction;
  if (is_worse(pair.metric.better, fraction)) {
    change.severity = std::abs(fraction) >= tolerance.fail ? Severity::fail : Severity::warn;
  }
  change.reason =
      fmt::format("{} {} than before", percent_text(fraction), fraction > 0 ? "more" : "less");
  return change;
}

/// The place of a per-SM map that moved most; meaningful only because it is the same die.
Change map_change(const Pair& pair, const std::vector<double>& before,
                  const std::vector<double>& after, const ReduceOptions& options) {
  Change worst;
  if (before.size() != after.size() || pair.metric.better == Better::neither) return worst;
  // Of many places one moves far by chance.
  ReduceOptions of_place = options;
  const boost::math::normal normal;
  const double chance =
      map_false_alarm / static_cast<double>(std::max<std::size_t>(before.size(), 1));
  of_place.within_factor =
      std::max(options.within_factor, -boost::math::quantile(normal, chance / 2));
  for (std::size_t sm = 0; sm < before.size(); ++sm) {
    Change change = number_change(pair, before[sm], after[sm], of_place);
    if (std::abs(change.fraction) <= std::abs(worst.fraction)) continue;
    change.reason = fmt::format("place {} moved from {:.6g} to {:.6g}, {}", sm, before[sm],
                                after[sm], change.reason);
    worst = change;
  }
  return worst;
}

Change change_of(const Pair& pair, const ReduceOptions& options) {
  // Each run numbers slices and peers anew.
  if (!pair.metric.not_compared.empty() || is_slice_map(pair.metric) || is_link_list(pair.metric)) {
    return {};
  }
  if (is_structure(pair.metric.kind)) {
    const std::string before = ballot_text(pair.before);
    const std::string after = ballot_text(pair.after);
    Change change;
    if (before.empty() || after.empty() || before == after) return change;
    const auto from = number_of(pair.before);
    const auto to = number_of(pair.after);
    if (pair.metric.kind == MetricKind::capacity && from && to &&
        capacities_agree(edge_of(pair.before), edge_of(pair.after),
                         tolerance_for(pair.metric, options).warn)) {
      return change;
    }
    if (from && to && std::min(pair.before.confidence, pair.after.confidence) < sure_confidence) {
      return number_change(pair, *from, *to, options);
    }
    change.severity = Severity::fail;
    change.fraction = std::nan("");
    change.reason = "structure does not change: one of the two is wrong";
    return change;
  }
  if (pair.metric.kind == MetricKind::inventory) return {};
  if (const auto* before = vector_of(pair.before), *after = vector_of(pair.after);
      before != nullptr && after != nullptr) {
    return map_change(pair, *before, *after, options);
  }
  const auto before = number_of(pair.before);
  const auto after = number_of(pair.after);
  return before && after ? number_change(pair, *before, *after, options) : Change{};
}

struct DevicePair {
  const DeviceResult& before;
  const DeviceResult& after;
  std::size_t device;   // the later one's place
  std::string setting;  // of both
  bool same_jobs;       // both were asked for the same suite and jobs
};

void compare_device(const DevicePair& pair, const ReduceOptions& options,
                    std::vector<Change>& changes) {
  const auto& [before, after, device, setting, same_jobs] = pair;
  for (const Metric& metric : options.registry) {
    const Finding* old_finding = find_finding(before, metric.name);
    const Finding* new_finding = find_finding(after, metric.name);
    if (old_finding == nullptr || new_finding == nullptr) continue;
    Change change =
        change_of({.metric = metric, .before = *old_finding, .after = *new_finding}, options);
    if (change.fraction == 0) continue;
    if (!same_jobs && std::isnan(change.fraction)) {
      change.severity = std::min(change.severity, Severity::warn);
      change.reason += ", or the suites are: they look at other things";
    }
    change.device = device;
    change.uuid = after.info.uuid;
    change.node = after.node;
    change.setting = setting;
    change.metric = metric.name;
    change.unit = metric.unit;
    change.before = value_text(*old_finding, metric.unit);
    change.after = value_text(*new_finding, metric.unit);
    changes.push_back(std::move(change));
  }
}

/// A UUID that changed its die is as surprising as a slot that kept it: both are said, once for all
/// settings of a sweep.
void compare_die(const DeviceResult& before, const DeviceResult& after,
                 std::vector<OtherDie>& other_dies) {
  const DieLikeness likeness = compare_dies(before, after);
  const bool renamed = before.info.uuid != after.info.uuid;
  OtherDie other{.node = after.node,
                 .pci_bus_id = after.info.pci_bus_id,
                 .uuid_before = before.info.uuid,
                 .uuid_after = after.info.uuid,
                 .reason = likeness.reason};
  if (likeness.same == SameDie::no) {
    other.reason = fmt::format(
        "{}: {}", renamed ? "other die in the same slot" : "other die under the same UUID",
        likeness.reason);
  } else if (renamed) {
    const bool is_alike = likeness.same == SameDie::possible;
    other.reason = fmt::format(
        "another UUID in the same slot: {}{}", likeness.reason,
        is_alike ? ", so it is the same die, or one of which the same parts are switched off" : "");
  } else {
    return;
  }
  const bool is_known = std::ranges::any_of(other_dies, [&](const OtherDie& die) {
    return die.uuid_before == other.uuid_before && die.uuid_after == other.uuid_after;
  });
  if (!is_known) other_dies.push_back(std::move(other));
}

/// What stood in the same slot, measured with the same setting.
const DeviceResult* find_slot(const RunResult& run, const RunResult& other,
                              const DeviceResult& like) {
  const Setting setting = setting_of(other, like);
  const auto found = std::ranges::find_if(run.devices, [&](const DeviceResult& device) {
    return device.node == like.node && device.info.pci_bus_id == like.info.pci_bus_id &&
           setting_of(run, device) == setting;
  });
  return found != run.devices.end() ? &*found : nullptr;
}

/// What was asked for in "suite" or "jobs", as JSON text; "" if it was not kept.
std::string asked(const std::string& config_json, const char* option) {
  const auto config = nlohmann::json::parse(config_json, nullptr, false);
  return config.is_object() && config.contains(option) ? config[option].dump() : "";
}

/// "suite "quick" before, "standard" after"; "" if both were asked for the same.
std::string other_options(const std::string& before, const std::string& after) {
  std::vector<std::string> parts;
  for (const char* option : {"suite", "jobs"}) {
    const std::string from = asked(before, option);
    const std::string to = asked(after, option);
    if (from == to || from.empty() || to.empty()) continue;
    parts.push_back(fmt::format("{} {} before, {} after", option, from, to));
  }
  return fmt::format("{}", fmt::join(parts, "; "));
}

/// What pairs of devices were asked for that is not the same, by their points.
class OtherOptions {
 public:
  OtherOptions(const RunResult& before, const RunResult& after)
      : before_(points_of(before.provenance)), after_(points_of(after.provenance)) {}

  const std::string& of(const DeviceResult& before, const DeviceResult& after) {
    const auto [known, is_new] = texts_.try_emplace({before.point_index, after.point_index});
    if (is_new) {
      known->second = other_options(before_.at(before.point_index).config_json,
                                    after_.at(after.point_index).config_json);
    }
    return known->second;
  }

 private:
  std::vector<Point> before_;
  std::vector<Point> after_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::string> texts_;
};

}  // namespace

RunComparison compare_runs(const RunResult& before, const RunResult& after,
                           const ReduceOptions& options) {
  RunComparison comparison;
  OtherOptions other(before, after);
  std::set<std::string_view> gpus;
  std::set<std::string_view> now;
  for (std::size_t index = 0; index < after.devices.size(); ++index) {
    const DeviceResult& device = after.devices[index];
    now.insert(device.info.uuid);
    const DeviceResult* earlier = find_device(before, after, device);
    if (earlier == nullptr) {
      comparison.only_after.push_back(name_of(after, device));
      const DeviceResult* in_slot = find_slot(before, after, device);
      if (in_slot != nullptr && find_device(after, before, *in_slot) == nullptr) {
        compare_die(*in_slot, device, comparison.other_dies);
      }
      continue;
    }
    ++comparison.paired;
    gpus.insert(device.info.uuid);
    const std::string setting = describe_setting(after.provenance, device.point_index);
    if (!setting.empty() && std::ranges::find(comparison.paired_settings, setting) ==
                                comparison.paired_settings.end()) {
      comparison.paired_settings.push_back(setting);
    }
    const std::string& not_same = other.of(*earlier, device);
    if (comparison.other_options.empty()) comparison.other_options = not_same;
    compare_die(*earlier, device, comparison.other_dies);
    compare_device({.before = *earlier,
                    .after = device,
                    .device = index,
                    .setting = setting,
                    .same_jobs = not_same.empty()},
                   options, comparison.changes);
  }
  comparison.has_common_gpu = std::ranges::any_of(
      before.devices, [&](const DeviceResult& device) { return now.contains(device.info.uuid); });
  for (const DeviceResult& device : before.devices) {
    if (find_device(after, before, device) == nullptr) {
      comparison.only_before.push_back(name_of(before, device));
    }
  }
  comparison.paired_gpus = gpus.size();
  const auto weight = [](const Change& change) {
    return std::pair(change.severity, std::abs(change.fraction));
  };
  std::ranges::stable_sort(comparison.changes, std::greater{}, weight);
  return comparison;
}

}  // namespace sonde
