// Suspects, their peers, and the second look at what was measured again.
#include "analysis/fleet/suspects.hpp"

#include "analysis/fleet/value_text.hpp"
#include "analysis/statistics.hpp"
#include "base/units.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

namespace sonde {
namespace {

// Findings that a charge against the same device needs as its reference.
constexpr std::array<std::string_view, 2> companions{"host.link_bytes_per_s", "peer.ranks"};

/// "placement.l2_latency_cycles (median)" is a summary of the metric before the space.
std::string_view metric_of(const Charge& charge) {
  return std::string_view(charge.metric).substr(0, charge.metric.find(' '));
}

/// Numbers of units, and the state of links, are what the driver says: no second try changes them.
bool rests_on_measurement(const Charge& charge, std::span<const Metric> registry) {
  const Metric* metric = find_metric(metric_of(charge), registry);
  return charge.device != Charge::no_device && metric != nullptr &&
         charge.trouble != Trouble::pcie_link && charge.trouble != Trouble::nvlink &&
         metric->kind != MetricKind::inventory && metric->job != "device" &&
         !metric->name.starts_with("topology.");
}

/// Of a map its median.
std::optional<double> middle_of(const Finding& finding) {
  const std::vector<double>* values = vector_of(finding);
  return values != nullptr && !values->empty() ? median(*values) : number_of(finding);
}

/// The second finding if it is an answer that can be compared.
const Finding* find_again(const DeviceResult& device, const Metric& metric) {
  for (const JobResult& job : device.again) {
    const Finding* finding = find_finding(job.findings, metric.name);
    if (finding == nullptr) continue;
    const bool answers = is_structure(metric.kind) ? !ballot_text(*finding).empty()
                                                   : middle_of(*finding).has_value();
    return answers ? finding : nullptr;
  }
  return nullptr;
}

/// The job that gave the metric: the registry may name one of which it is a part.
const JobResult* find_job(const DeviceResult& device, std::string_view metric) {
  const auto has = [&](const JobResult& job) {
    return find_finding(job.findings, metric) != nullptr;
  };
  const auto found = std::ranges::find_if(device.jobs, has);
  return found != device.jobs.end() ? &*found : nullptr;
}

/// Devices and metrics of weighty charges.
using Weighty = std::set<std::pair<std::size_t, std::string_view>>;

/// @pre the charges outlive the set
Weighty weighty_charges(const FleetAnalysis& analysis) {
  Weighty all;
  for (const Charge& charge : analysis.charges) {
    if (charge.weighs()) all.insert({charge.device, metric_of(charge)});
  }
  return all;
}

std::size_t group_of(const FleetAnalysis& analysis, std::size_t device) {
  const auto has = [&](const ComparisonGroup& group) {
    return std::ranges::find(group.devices, device) != group.devices.end();
  };
  return static_cast<std::size_t>(std::ranges::find_if(analysis.groups, has) -
                                  analysis.groups.begin());
}

/// What a structural metric reads where most agree; "" for other kinds, and on a tie.
std::string consensus_of(const FleetAnalysis& analysis, std::size_t group,
                         std::string_view metric) {
  for (const MetricStatistics& statistics : analysis.statistics) {
    if (statistics.group == group && statistics.metric == metric) return statistics.consensus;
  }
  return "";
}

/// Whether a device that was measured again, and was well at first, is out now.
bool peer_is_out(const RunResult& run, const ComparisonGroup& group, const Metric& metric,
                 const Weighty& first, const Weighty& second) {
  return std::ranges::any_of(group.devices, [&](std::size_t peer) {
    return find_again(run.devices[peer], metric) != nullptr &&
           !first.contains({peer, metric.name}) && second.contains({peer, metric.name});
  });
}

/// The metric of a weighty charge whose device was measured again; else nullptr.
const Metric* settled_metric(const Charge& charge, const FleetAnalysis& analysis,
                             const RunResult& run) {
  if (!charge.weighs() || !rests_on_measurement(charge, analysis.registry)) return nullptr;
  const Metric* metric = find_metric(metric_of(charge), analysis.registry);
  return find_again(run.devices[charge.device], *metric) != nullptr ? metric : nullptr;
}

/// Numbers of the units that both charges name.
std::vector<int> common_units(const Charge& one, const Charge& other) {
  std::vector<int> common;
  for (const int number : one.unit.numbers) {
    if (std::ranges::find(other.unit.numbers, number) != other.unit.numbers.end()) {
      common.push_back(number);
    }
  }
  return common;
}

/// The same charge in the second look: of a unit one that names it, too.
const Charge* find_same(const Charge& charge, const FleetAnalysis& second) {
  const auto is_same = [&](const Charge& other) {
    return other.weighs() && other.device == charge.device && other.ground == charge.ground &&
           metric_of(other) == metric_of(charge) &&
           (!charge.unit.is_named() || !common_units(charge, other).empty());
  };
  const auto found = std::ranges::find_if(second.charges, is_same);
  return found == second.charges.end() ? nullptr : &*found;
}

/// What the second look read: of a unit its own value, "SM 17: 26 cycle".
std::string second_text(const Charge& charge, const Finding& again, std::string_view unit) {
  const std::vector<double>* map = vector_of(again);
  if (!charge.unit.is_named() || map == nullptr) return value_text(again, unit);
  std::vector<std::string> parts;
  for (const int number : charge.unit.numbers) {
    const auto place = static_cast<std::size_t>(number);
    if (place >= map->size()) continue;
    parts.push_back(fmt::format("{}: {}",
                                to_text(Unit{.kind = charge.unit.kind, .numbers = {number}}),
                                format_quantity((*map)[place], unit)));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

void settle(Charge& charge, const Charge* again, bool peer_out, const std::string& read) {
  if (again != nullptr && !peer_out) {
    charge.severity = std::min(charge.severity, again->severity);
    charge.evidence +=
        fmt::format("{}measured again, {}", charge.evidence.empty() ? "" : "; ", read);
    return;
  }
  charge.severity = Severity::info;
  charge.reason += again == nullptr
                       ? fmt::format("; did not come back when measured again ({})", read)
                       : fmt::format(
                             "; measured again {}, but a peer measured beside it was out "
                             "then too: no verdict",
                             read);
}

}  // namespace

std::vector<Suspect> find_suspects(const FleetAnalysis& analysis, const RunResult& run) {
  std::vector<Suspect> suspects;
  std::set<std::pair<std::size_t, std::string_view>> seen;
  for (const Charge& charge : analysis.charges) {
    if (!charge.weighs() || !rests_on_measurement(charge, analysis.registry)) continue;
    const Metric& metric = *find_metric(metric_of(charge), analysis.registry);
    const DeviceResult& device = run.devices[charge.device];
    const JobResult* job = find_job(device, metric.name);
    if (job == nullptr || find_again(device, metric) != nullptr) continue;
    if (!seen.emplace(charge.device, metric.name).second) continue;
    suspects.push_back({.device = charge.device,
                        .group = group_of(analysis, charge.device),
                        .metric = std::string(metric.name),
                        .job = job->job});
  }
  return suspects;
}

std::optional<std::size_t> median_peer(const FleetAnalysis& analysis, const RunResult& run,
                                       std::size_t group, std::string_view metric) {
  const std::string consensus = consensus_of(analysis, group, metric);
  const std::string unit(find_metric(metric, analysis.registry)->unit);
  const Weighty suspects = weighty_charges(analysis);
  struct Candidate {
    std::size_t device = 0;
    double middle = 0;
  };
  std::vector<Candidate> candidates;
  std::vector<double> middles;
  for (const std::size_t device : analysis.groups[group].devices) {
    const Finding* finding = find_finding(run.devices[device], metric);
    if (finding == nullptr) continue;
    const bool is_suspect = suspects.contains({device, metric});
    if (!is_suspect && !consensus.empty() && value_text(*finding, unit) == consensus) return device;
    const auto middle = middle_of(*finding);
    if (!middle) continue;
    middles.push_back(*middle);
    if (!is_suspect) candidates.push_back({.device = device, .middle = *middle});
  }
  if (candidates.empty()) return {};
  const double center = median(std::move(middles));
  const auto distance = [&](const Candidate& one) { return std::abs(one.middle - center); };
  return std::ranges::min_element(candidates, {}, distance)->device;
}

std::vector<Metric> doubted_metrics(const FleetAnalysis& analysis, const RunResult& run) {
  std::vector<Metric> doubted;
  for (const Charge& charge : analysis.charges) {
    const Metric* metric = settled_metric(charge, analysis, run);
    if (metric == nullptr || find_metric(metric->name, doubted) != nullptr) continue;
    doubted.push_back(*metric);
  }
  return doubted;
}

RunResult second_run(const RunResult& run, const std::vector<Metric>& metrics) {
  RunResult second;
  add_second_tries(run, metrics, second);
  return second;
}

void add_second_tries(const RunResult& run, const std::vector<Metric>& metrics, RunResult& second) {
  second.devices.resize(run.devices.size());
  for (std::size_t i = 0; i < run.devices.size(); ++i) {
    const DeviceResult& device = run.devices[i];
    JobResult job;
    job.status = Status::ok;
    for (const Metric& metric : metrics) {
      const Finding* again = find_again(device, metric);
      const Finding* used = again != nullptr ? again : find_finding(device, metric.name);
      if (used != nullptr) job.findings.push_back(*used);
    }
    for (const std::string_view companion : companions) {
      const Finding* finding = find_finding(device, companion);
      const bool is_there = find_finding(job.findings, companion) != nullptr;
      if (finding != nullptr && !is_there) job.findings.push_back(*finding);
    }
    DeviceResult& copy = second.devices[i];
    copy.info = device.info;
    copy.before = device.before;
    copy.after = device.after;
    copy.node = device.node;
    copy.jobs.push_back(std::move(job));
  }
}

void settle_suspects(const RunResult& run, const FleetAnalysis& second, FleetAnalysis& analysis) {
  const FleetAnalysis first = analysis;
  const Weighty at_first = weighty_charges(first);
  const Weighty again = weighty_charges(second);
  for (Charge& charge : analysis.charges) {
    const Metric* metric = settled_metric(charge, analysis, run);
    if (metric == nullptr) continue;
    const Finding& second_finding = *find_again(run.devices[charge.device], *metric);
    const std::string read = second_text(charge, second_finding, metric->unit);
    const Charge* came_back = find_same(charge, second);
    if (came_back != nullptr && charge.unit.is_named()) {
      charge.unit.numbers = common_units(charge, *came_back);
    }
    const ComparisonGroup& group = analysis.groups[group_of(analysis, charge.device)];
    const bool peer_out =
        charge.ground == Ground::peers && peer_is_out(run, group, *metric, at_first, again);
    settle(charge, came_back, peer_out, read);
  }
}

}  // namespace sonde
