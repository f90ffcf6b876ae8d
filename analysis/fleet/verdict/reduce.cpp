// The steps of the reduction: groups of devices that may be compared; charges on the grounds of the
// device itself, of its peers, of its past and of reference values; a second look; the verdicts.
#include "analysis/fleet/verdict/reduce.hpp"

#include "analysis/fleet/conditions.hpp"
#include "analysis/fleet/fingerprint.hpp"
#include "analysis/fleet/grounds/grounds.hpp"
#include "analysis/fleet/grounds/references.hpp"
#include "analysis/fleet/grounds/series.hpp"
#include "analysis/fleet/verdict/decide.hpp"
#include "analysis/fleet/verdict/suspects.hpp"

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

/// Groups by GPU name, memory size, ECC, MIG, driver major version, and what a sweep set, in the
/// order in which they first appear. Lost devices that left no inventory belong to none, nor do
/// those beside which another process ran: nobody is compared with them.
std::vector<ComparisonGroup> comparison_groups(const RunResult& run, const ReduceOptions& options) {
  std::vector<ComparisonGroup> groups;
  for (std::size_t device = 0; device < run.devices.size(); ++device) {
    if (run.devices[device].info.name.empty() || is_contended(run.devices[device])) continue;
    const std::string setting = describe_setting(run.provenance, run.devices[device].point_index);
    const std::string label =
        group_label(run.devices[device].info) + (setting.empty() ? "" : ", " + setting);
    auto group = std::ranges::find(groups, label, &ComparisonGroup::label);
    if (group == groups.end()) group = groups.insert(groups.end(), {.label = label, .devices = {}});
    group->devices.push_back(device);
  }
  for (ComparisonGroup& group : groups) {
    const ModelReference* reference = reference_of(run, group, options);
    if (reference != nullptr) group.reference_gpus = reference->gpus;
  }
  return groups;
}

/// A named SM or slice says more than the summaries of the map that it moved.
void drop_explained_summaries(std::vector<Charge>& charges) {
  std::set<std::pair<std::size_t, std::string>> named;
  for (const Charge& charge : charges) {
    if (charge.unit.is_named()) named.insert({charge.device, charge.metric});
  }
  std::erase_if(charges, [&](const Charge& charge) {
    const std::size_t end = charge.metric.find(" (");
    return end != std::string::npos &&
           named.contains({charge.device, charge.metric.substr(0, end)});
  });
}

/// Jobs and findings that failed or were not measured.
std::size_t count_missing(const DeviceResult& device) {
  const auto count = [](const auto& all, auto status) {
    return static_cast<std::size_t>(std::ranges::count_if(all, is_missing, status));
  };
  std::size_t missing = count(device.jobs, &JobResult::status);
  for (const JobResult& job : device.jobs) missing += count(job.findings, &Finding::status);
  return missing;
}

/// The order of `sonde list metrics` within each group; extra series follow.
void sort_statistics(FleetAnalysis& analysis) {
  const auto place = [&](const MetricStatistics& statistics) {
    const auto found =
        std::ranges::find(analysis.registry, std::string_view(statistics.metric), &Metric::name);
    return std::pair(statistics.group, found - analysis.registry.begin());
  };
  std::ranges::stable_sort(analysis.statistics, {}, place);
}

/// What has no answer, by job, status and reason: collected while the findings are there, as a
/// large fleet has millions.
using Gaps = std::map<std::tuple<std::string, std::string, std::string>, Gap, std::less<>>;

template <class T>
void insert_sorted(std::vector<T>& all, const T& one) {
  const auto place = std::ranges::lower_bound(all, one);
  if (place == all.end() || *place != one) all.insert(place, one);
}

/// Of all jobs ("") or of one: how they ended and their findings. The same may be added again.
void add_gaps(const RunResult& run, std::string_view only, Gaps& gaps) {
  for (std::size_t device = 0; device < run.devices.size(); ++device) {
    for (const JobResult& job : run.devices[device].jobs) {
      if (!only.empty() && job.job != only) continue;
      const auto add_if_gap = [&](Status status, const std::string& reason,
                                  const std::string& metric) {
        if (status == Status::ok) return;
        const std::tuple key{std::string_view(job.job), to_text(status), std::string_view(reason)};
        auto gap = gaps.find(key);
        if (gap == gaps.end()) {
          gap = gaps.try_emplace({job.job, std::string(to_text(status)), reason}).first;
          gap->second = {job.job, std::string(to_text(status)), reason, {}, {}};
        }
        insert_sorted(gap->second.metrics, metric);
        insert_sorted(gap->second.devices, device);
      };
      add_if_gap(job.status, job.reason, "(the job)");
      for (const Finding& finding : job.findings) {
        add_if_gap(finding.status, finding.reason, finding.metric);
      }
    }
  }
}

template <class T>
void append(std::vector<T>& all, std::vector<T> more) {
  std::ranges::move(more, std::back_inserter(all));
}

/// Series take about as long as all else, which goes on meanwhile.
/// @param job whose findings are there; "": all
void gather(const RunResult& run, const std::vector<ComparisonGroup>& groups, std::string_view job,
            const ReduceOptions& options, Compared& all, Gaps& gaps) {
  auto series = std::async(std::launch::async, [&] {
    Compared compared;
    for_each_series(run, groups, options,
                    [&](const Series& one) { compare_peers(run, one, compared); });
    return compared;
  });
  Compared others;
  append(others.charges, unit_charges(run, groups, options));
  compare_structure(run, groups, options, others);
  append(others.charges, reference_charges(run, groups, options));
  append(others.charges, link_charges(run));
  add_gaps(run, job, gaps);
  Compared of_series = series.get();
  for (Compared* part : {&of_series, &others}) {
    append(all.statistics, std::move(part->statistics));
    append(all.charges, std::move(part->charges));
  }
}

/// @returns distance of each device's SM clock from its peers', as a fraction
std::map<std::size_t, double> add_clocks(const RunResult& run,
                                         const std::vector<ComparisonGroup>& groups,
                                         const std::vector<DeviceConditions>& conditions,
                                         Compared& all) {
  std::map<std::size_t, double> deviations;
  for (const Series& clocks : clock_series(groups, conditions)) {
    for (const Standing& standing : standings(clocks, compare_peers(run, clocks, all))) {
      deviations[standing.device] = standing.deviation_fraction;
    }
    if (clocks.samples.size() != 2) continue;
    for (const int i : {0, 1}) {  // the median of both is no peer's clock
      const Sample& own = clocks.samples[static_cast<std::size_t>(i)];
      const Sample& peer = clocks.samples[static_cast<std::size_t>(1 - i)];
      deviations[own.device] = (own.value - peer.value) / peer.value;
    }
  }
  return deviations;
}

/// Those of these metrics that the turn has.
std::vector<Metric> metrics_of(const Turn& turn, std::span<const Metric> metrics) {
  if (turn.job.empty()) return {metrics.begin(), metrics.end()};
  std::vector<Metric> found;
  for (const std::string& name : turn.metrics) {
    const Metric* metric = find_metric(name, metrics);
    if (metric != nullptr) found.push_back(*metric);
  }
  return found;
}

/// A run that is in memory, in one turn.
RunInTurns whole(const RunResult& run) {
  return {.run = run,
          .turns = {{.job = "", .metrics = {}}},
          .load = [](const Turn&) {},
          .drop = [](const Turn&) {}};
}

void sort_by_registry(std::vector<Charge>& charges, std::span<const Metric> registry) {
  std::ranges::stable_sort(charges, {}, [&](const Charge& charge) {
    return std::pair(find_metric(charge.metric, registry), charge.device);
  });
}

/// Judges what was measured again as the first values were, and settles the charges by that.
void look_again(const RunInTurns& source, const ReduceOptions& options, FleetAnalysis& first) {
  const std::vector<Metric> doubted = doubted_metrics(first, source.run);
  if (doubted.empty()) return;
  RunResult second;
  for (const Turn& turn : source.turns) {
    const std::vector<Metric> metrics = metrics_of(turn, doubted);
    if (metrics.empty()) continue;
    source.load(turn);
    add_second_tries(source.run, metrics, second);
    source.drop(turn);
  }
  ReduceOptions narrow = options;
  narrow.registry = doubted;
  narrow.conditions = {};
  narrow.drifts = {};
  settle_suspects(source.run, reduce_fleet(second, narrow), first);
}

}  // namespace

FleetAnalysis reduce_fleet(const RunInTurns& source, const ReduceOptions& options) {
  const RunResult& run = source.run;
  FleetAnalysis analysis;
  analysis.registry = options.registry;
  analysis.groups = comparison_groups(run, options);
  Compared all;
  Gaps gaps;
  for (const Turn& turn : source.turns) {
    const std::vector<Metric> metrics = metrics_of(turn, options.registry);
    ReduceOptions narrow = options;
    narrow.registry = metrics;
    source.load(turn);
    gather(run, analysis.groups, turn.job, narrow, all, gaps);
    source.drop(turn);
  }
  const std::vector<DeviceConditions> conditions = conditions_of(run, options.conditions);
  const auto deviations = add_clocks(run, analysis.groups, conditions, all);
  analysis.statistics = std::move(all.statistics);
  sort_statistics(analysis);
  sort_by_registry(all.charges, options.registry);
  analysis.charges = std::move(all.charges);
  append(analysis.charges, health_charges(run, analysis.groups, conditions));
  drop_explained_summaries(analysis.charges);
  look_again(source, options, analysis);
  append(analysis.charges, {options.drifts.begin(), options.drifts.end()});
  add_causes(run, conditions, deviations, analysis.charges);
  for (auto& [key, gap] : gaps) analysis.gaps.push_back(std::move(gap));
  for (const DeviceResult& device : run.devices) {
    analysis.verdicts.emplace_back().missing = count_missing(device);
  }
  decide(run, analysis);
  return analysis;
}

FleetAnalysis reduce_fleet(const RunResult& run, const ReduceOptions& options) {
  return reduce_fleet(whole(run), options);
}

ExitStatus exit_status(const FleetAnalysis& analysis) {
  const bool node_failed = std::ranges::any_of(analysis.charges, [](const Charge& charge) {
    return charge.device == Charge::no_device && charge.severity == Severity::fail;
  });
  if (analysis.counts.failed > 0 || node_failed) return ExitStatus::verdict;
  const bool gaps = std::ranges::any_of(
      analysis.verdicts, [](const DeviceVerdict& verdict) { return verdict.missing > 0; });
  const bool whole = !gaps && analysis.counts.lost == 0 && analysis.counts.incomplete == 0;
  return whole ? ExitStatus::ok : ExitStatus::incomplete;
}

}  // namespace sonde
