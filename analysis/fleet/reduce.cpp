// The steps of the reduction: groups of devices that may be compared; charges on the grounds of the
// device itself, of its peers, of its past and of reference values; a second look; the verdicts.
#include "analysis/fleet/reduce.hpp"

#include "analysis/fleet/causes.hpp"
#include "analysis/fleet/conditions.hpp"
#include "analysis/fleet/decide.hpp"
#include "analysis/fleet/failures.hpp"
#include "analysis/fleet/gaps.hpp"
#include "analysis/fleet/health.hpp"
#include "analysis/fleet/links.hpp"
#include "analysis/fleet/majority.hpp"
#include "analysis/fleet/peers.hpp"
#include "analysis/fleet/quorum.hpp"
#include "analysis/fleet/references.hpp"
#include "analysis/fleet/series.hpp"
#include "analysis/fleet/suspects.hpp"
#include "analysis/fleet/units.hpp"
#include "analysis/fleet/value_text.hpp"
#include "base/units.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <future>
#include <iterator>
#include <map>
#include <ranges>
#include <set>
#include <span>
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

std::string conditions_text(const DeviceConditions& conditions, double clock_deviation) {
  std::vector<std::string> parts;
  if (conditions.sm_clock_hz > 0) {
    parts.push_back(fmt::format("SM clock {}{}", format_quantity(conditions.sm_clock_hz, "Hz"),
                                std::abs(clock_deviation) < 0.005
                                    ? ""
                                    : fmt::format(" ({} {} peers)", percent_text(clock_deviation),
                                                  clock_deviation > 0 ? "above" : "below")));
  }
  if (conditions.temperature_c > 0) {
    parts.push_back(fmt::format("{:.0f} C", conditions.temperature_c));
  }
  parts.push_back(conditions.throttle_reasons == 0
                      ? "not throttled"
                      : "throttled: " + throttle_text(conditions.throttle_reasons));
  return fmt::format("{}", fmt::join(parts, ", "));
}

/// Names the cause of each charge, and the conditions under which its device was measured.
void add_causes(const RunResult& run, const std::vector<DeviceConditions>& all,
                const std::map<std::size_t, double>& clock_deviations,
                std::vector<Charge>& charges) {
  for (Charge& charge : charges) {
    if (charge.device == Charge::no_device || !charge.weighs()) continue;
    const auto found = clock_deviations.find(charge.device);
    const double clock_deviation = found == clock_deviations.end() ? 0 : found->second;
    const DeviceConditions& conditions = all[charge.device];
    if (charge.trouble == Trouble::unknown) {
      charge.trouble = likely_trouble(charge, conditions, clock_deviation);
    }
    charge.cause = headline_of(charge, conditions, clock_deviation);
    charge.evidence +=
        (charge.evidence.empty() ? "" : "; ") + conditions_text(conditions, clock_deviation);
    const std::string setting =
        describe_setting(run.provenance, run.devices[charge.device].point_index);
    if (!setting.empty()) charge.evidence += "; with " + setting;
  }
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

/// What is gathered while the findings of each turn are there.
struct Gathered {
  std::vector<MetricStatistics> statistics;
  std::vector<Charge> of_peers;
  std::vector<Charge> of_units;
  std::vector<Charge> of_links;
  std::vector<Charge> of_references;
  StructureVerdicts structure;
  Gaps gaps;
};

void append(std::vector<Charge>& charges, std::vector<Charge> more) {
  std::ranges::move(more, std::back_inserter(charges));
}

const MetricStatistics& add_series(const RunResult& run, const Series& series, Gathered& all) {
  const MetricStatistics& its = all.statistics.emplace_back(describe(series));
  append(all.of_peers, peer_charges(run, series, its));
  return its;
}

/// Series take about as long as all else, which goes on meanwhile.
/// @param job whose findings are there; "": all
void gather(const RunResult& run, const std::vector<ComparisonGroup>& groups, std::string_view job,
            const ReduceOptions& options, Gathered& all) {
  auto series = std::async(std::launch::async, [&] {
    for_each_series(run, groups, options, [&](const Series& one) { add_series(run, one, all); });
  });
  append(all.of_units, unit_charges(run, groups, options));
  compare_structure(run, groups, options, all.structure);
  append(all.of_links, link_charges(run));
  append(all.of_references, reference_charges(run, groups, options));
  add_gaps(run, job, all.gaps);
  series.get();
}

/// @returns distance of each device's SM clock from its peers', as a fraction
std::map<std::size_t, double> add_clocks(const RunResult& run,
                                         const std::vector<ComparisonGroup>& groups,
                                         const std::vector<DeviceConditions>& conditions,
                                         const ReduceOptions& options, Gathered& all) {
  std::map<std::size_t, double> deviations;
  for (const Series& clocks : clock_series(groups, conditions, options)) {
    for (const Standing& standing : standings(clocks, add_series(run, clocks, all))) {
      deviations[standing.device] = standing.deviation_fraction;
    }
  }
  return deviations;
}

/// Calls `work` with the job of each turn ("" for all jobs) and its metrics, while their findings
/// are there.
using Work = std::function<void(std::string_view job, const std::vector<Metric>& metrics)>;
/// Does so for all turns that give one of these metrics; for all turns if there are none.
using Turns = std::function<void(std::span<const Metric> wanted, const Work& work)>;

Turns whole(std::span<const Metric> registry) {
  return [registry](std::span<const Metric> wanted, const Work& work) {
    const std::span<const Metric> metrics = wanted.empty() ? registry : wanted;
    work("", {metrics.begin(), metrics.end()});
  };
}

Turns in_turns(const RunInTurns& source, std::span<const Metric> registry) {
  return [&source, registry](std::span<const Metric> wanted, const Work& work) {
    for (const Turn& turn : source.turns) {
      std::vector<Metric> metrics;
      for (const std::string& name : turn.metrics) {
        const Metric* metric = find_metric(name, wanted.empty() ? registry : wanted);
        if (metric != nullptr) metrics.push_back(*metric);
      }
      if (metrics.empty() && !wanted.empty()) continue;
      source.load(turn);
      work(turn.job, metrics);
      source.drop(turn);
    }
  };
}

void sort_by_registry(std::vector<Charge>& charges, std::span<const Metric> registry) {
  std::ranges::stable_sort(charges, {}, [&](const Charge& charge) {
    return std::pair(find_metric(charge.metric, registry), charge.device);
  });
}

FleetAnalysis reduce(const RunResult& run, const Turns& turns, const ReduceOptions& options);

/// Judges what was measured again as the first values were, and settles the charges by that.
void look_again(const RunResult& run, const Turns& turns, const ReduceOptions& options,
                FleetAnalysis& first) {
  const std::vector<Metric> doubted = doubted_metrics(first, run);
  if (doubted.empty()) return;
  RunResult second;
  turns(doubted, [&](std::string_view, const std::vector<Metric>& metrics) {
    add_second_tries(run, metrics, second);
  });
  ReduceOptions narrow = options;
  narrow.registry = doubted;
  narrow.conditions = {};
  narrow.drifts = {};
  settle_suspects(run, reduce(second, whole(doubted), narrow), first);
}

FleetAnalysis reduce(const RunResult& run, const Turns& turns, const ReduceOptions& options) {
  FleetAnalysis analysis;
  analysis.registry = options.registry;
  analysis.groups = comparison_groups(run, options);
  Gathered all;
  turns({}, [&](std::string_view job, const std::vector<Metric>& metrics) {
    ReduceOptions narrow = options;
    narrow.registry = metrics;
    gather(run, analysis.groups, job, narrow, all);
  });
  const std::vector<DeviceConditions> conditions = conditions_of(run, options.conditions);
  const auto deviations = add_clocks(run, analysis.groups, conditions, options, all);
  analysis.statistics = std::move(all.statistics);
  std::ranges::move(all.structure.statistics, std::back_inserter(analysis.statistics));
  sort_statistics(analysis);
  for (std::vector<Charge>* charges :
       {&all.of_peers, &all.of_units, &all.structure.charges, &all.of_references, &all.of_links}) {
    append(analysis.charges, std::move(*charges));
  }
  sort_by_registry(analysis.charges, options.registry);
  append(analysis.charges, health_charges(run, conditions));
  append(analysis.charges, error_count_charges(run, analysis.groups));
  append(analysis.charges, failure_charges(run));
  append(analysis.charges, node_charges(run));
  drop_explained_summaries(analysis.charges);
  look_again(run, turns, options, analysis);
  append(analysis.charges, {options.drifts.begin(), options.drifts.end()});
  add_causes(run, conditions, deviations, analysis.charges);
  for (auto& [key, gap] : all.gaps) analysis.gaps.push_back(std::move(gap));
  for (const DeviceResult& device : run.devices) {
    analysis.verdicts.emplace_back().missing = count_missing(device);
  }
  decide(run, analysis);
  return analysis;
}

}  // namespace

FleetAnalysis reduce_fleet(const RunResult& run, const ReduceOptions& options) {
  return reduce(run, whole(options.registry), options);
}

FleetAnalysis reduce_fleet(const RunInTurns& source, const ReduceOptions& options) {
  return reduce(source.run, in_turns(source, options.registry), options);
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
