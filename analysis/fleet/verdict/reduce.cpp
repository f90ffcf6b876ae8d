// The steps of the reduction: groups of comparable devices; charges by the device itself, its
// peers, its past and reference values; a second look; the verdicts.
#include "analysis/fleet/verdict/reduce.hpp"

#include "analysis/fleet/conditions.hpp"
#include "analysis/fleet/grounds/grounds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

namespace sonde {
namespace {

std::string group_label(const DeviceInfo& info) {
  const std::string driver = info.driver_version.substr(0, info.driver_version.find('.'));
  return fmt::format("{}, {:.0f} GiB, ECC {}{}{}", info.name,
                     static_cast<double>(info.memory_bytes) / (1ULL << 30), info.ecc ? "on" : "off",
                     info.mig ? ", MIG" : "", driver.empty() ? "" : ", driver " + driver);
}

/// Groups by GPU name, memory size, ECC, MIG, driver major version and setting, in the order in
/// which they first appear. Lost devices without an inventory and devices with another process
/// belong to no group: they are not compared.
std::vector<ComparisonGroup> comparison_groups(const RunResult& run, const ReduceOptions& options) {
  std::vector<ComparisonGroup> groups;
  for (std::size_t index = 0; index < run.devices.size(); ++index) {
    const DeviceResult& device = run.devices[index];
    if (device.info.name.empty() || is_contended(device)) continue;
    const std::string setting = describe_setting(run.provenance, device.point_index);
    const std::string model = group_label(device.info);
    const std::string label = model + (setting.empty() ? "" : ", " + setting);
    auto group = std::ranges::find(groups, label, &ComparisonGroup::label);
    if (group == groups.end())
      group = groups.insert(groups.end(), {.model = model, .label = label, .devices = {}});
    group->devices.push_back(index);
  }
  for (ComparisonGroup& group : groups) {
    group.reference = reference_of(run, group, options.references);
  }
  return groups;
}

/// Drops charges for summaries of a map if a charge names an SM or a slice of this map.
void drop_explained_summaries(std::vector<Charge>& charges) {
  std::set<std::pair<std::size_t, std::string>> named;
  for (const Charge& charge : charges) {
    if (charge.unit.is_named()) named.insert({charge.device, charge.metric});
  }
  std::erase_if(charges, [&](const Charge& charge) {
    const std::string map(charge.base_metric());
    return map != charge.metric && named.contains({charge.device, map});
  });
}

/// Sorts as `sonde list metrics` does, within each group; other series come last.
void sort_by_registry(FleetAnalysis& analysis) {
  std::ranges::stable_sort(analysis.statistics, {}, [&](const MetricStatistics& statistics) {
    const Metric* metric = find_metric(statistics.metric, analysis.registry);
    return std::tuple(statistics.group, metric == nullptr, metric);
  });
  std::ranges::stable_sort(analysis.charges, {}, [&](const Charge& charge) {
    return std::pair(find_metric(charge.metric, analysis.registry), charge.device);
  });
}

/// Every job and finding that is not ok, by job, status and reason.
std::vector<Gap> find_gaps(const RunResult& run) {
  using Texts = std::tuple<std::string_view, std::string_view, std::string_view>;
  std::map<Texts, std::pair<std::set<std::string_view>, std::set<std::size_t>>> found;
  for (std::size_t device = 0; device < run.devices.size(); ++device) {
    for (const JobResult& job : run.devices[device].jobs) {
      const auto add_if_gap = [&](Status status, std::string_view reason, std::string_view metric) {
        if (status == Status::ok) return;
        auto& [metrics, devices] = found[{job.job, to_text(status), reason}];
        metrics.insert(metric);
        devices.insert(devices.end(), device);
      };
      add_if_gap(job.status, job.reason, "(the job)");
      for (const Finding& finding : job.findings) {
        add_if_gap(finding.status, finding.reason, finding.metric);
      }
    }
  }
  std::vector<Gap> gaps;
  for (const auto& [texts, where] : found) {
    const auto& [job, status, reason] = texts;
    const auto& [metrics, devices] = where;
    gaps.push_back({.job = std::string(job),
                    .status = std::string(status),
                    .reason = std::string(reason),
                    .metrics = {metrics.begin(), metrics.end()},
                    .devices = {devices.begin(), devices.end()}});
  }
  return gaps;
}

template <class T>
void append(std::vector<T>& all, std::vector<T> more) {
  std::ranges::move(more, std::back_inserter(all));
}

/// Judges the findings. Series take about half of the time, and run in parallel.
void gather(const RunResult& run, const ReduceOptions& options, FleetAnalysis& analysis) {
  FleetAnalysis of_series;
  of_series.registry = options.registry;
  of_series.groups = analysis.groups;
  FleetAnalysis others = of_series;
  auto series = std::async(std::launch::async, [&] {
    for_each_series(run, of_series, [&](const Series& one) { compare_peers(run, one, of_series); });
  });
  judge_units(run, others);
  compare_structure(run, others);
  judge_by_references(run, options.references, others);
  judge_links(run, others);
  analysis.gaps = find_gaps(run);
  series.get();
  for (FleetAnalysis* part : {&of_series, &others}) {
    append(analysis.statistics, std::move(part->statistics));
    append(analysis.charges, std::move(part->charges));
  }
}

/// Compares the SM clocks that the probes saw.
/// @returns relative deviation of each device's clock from that of its peers
std::map<std::size_t, double> compare_clocks(const RunResult& run,
                                             const std::vector<DeviceConditions>& conditions,
                                             FleetAnalysis& analysis) {
  std::map<std::size_t, double> deviations;
  for (std::size_t group = 0; group < analysis.groups.size(); ++group) {
    Series clocks{.metric = clock_metric, .group = group};
    for (const std::size_t device : analysis.groups[group].devices) {
      const double clock_hz = conditions.at(device).sm_clock_hz;
      if (clock_hz > 0) clocks.samples.push_back({.device = device, .value = clock_hz});
    }
    if (clocks.samples.empty()) continue;
    const double center = compare_peers(run, clocks, analysis).center;
    for (const Sample& own : clocks.samples) {
      const bool is_first = own.device == clocks.samples.front().device;
      // The median of two clocks is no peer's clock.
      const double peers =
          clocks.samples.size() == 2 ? clocks.samples[is_first ? 1 : 0].value : center;
      deviations[own.device] = (own.value - peers) / peers;
    }
  }
  return deviations;
}

}  // namespace

FleetAnalysis reduce_fleet(const RunResult& run, const ReduceOptions& options) {
  FleetAnalysis analysis;
  analysis.registry = options.registry;
  analysis.groups = comparison_groups(run, options);
  gather(run, options, analysis);
  const std::vector<DeviceConditions> conditions =
      options.conditions.empty() ? conditions_of(run) : options.conditions;
  const auto deviations = compare_clocks(run, conditions, analysis);
  sort_by_registry(analysis);
  judge_health(run, conditions, analysis);
  drop_explained_summaries(analysis.charges);
  look_again(run, options, analysis);
  append(analysis.charges, {options.drifts.begin(), options.drifts.end()});
  add_causes(run, conditions, deviations, analysis.charges);
  decide(run, analysis);
  return analysis;
}

ExitStatus exit_status(const FleetAnalysis& analysis) {
  const bool node_failed = std::ranges::any_of(analysis.charges, [](const Charge& charge) {
    return charge.device == Charge::no_device && charge.severity == Severity::fail;
  });
  if (analysis.counts.failed > 0 || node_failed) return ExitStatus::verdict;
  const FleetCounts& counts = analysis.counts;
  return counts.missing + counts.lost + counts.incomplete == 0 ? ExitStatus::ok
                                                               : ExitStatus::incomplete;
}

}  // namespace sonde
