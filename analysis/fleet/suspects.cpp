// Suspects, their peers, and the second look at what was measured again.
#include "analysis/fleet/suspects.hpp"

#include "analysis/fleet/value_text.hpp"
#include "analysis/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace sonde {
namespace {

/// "placement.l2_latency_cycles (median)" is a summary of the metric before the space.
std::string_view metric_of(const FleetFinding& finding) {
  return std::string_view(finding.metric).substr(0, finding.metric.find(' '));
}

bool is_weighty(const FleetFinding& finding) { return finding.severity != Severity::info; }

/// Numbers of units are read off the device and no second try changes them.
bool rests_on_measurement(const FleetFinding& finding, std::span<const Metric> registry) {
  const Metric* metric = find_metric(metric_of(finding), registry);
  return finding.device != FleetFinding::no_device && metric != nullptr &&
         metric->job != "device" && !metric->name.starts_with("topology.");
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

/// The worst weighty finding of each device and metric.
using Weighty = std::map<std::pair<std::size_t, std::string_view>, const FleetFinding*>;

/// @pre the findings outlive the map
Weighty weighty_findings(const FleetAnalysis& analysis) {
  Weighty all;
  for (const FleetFinding& finding : analysis.findings) {
    if (is_weighty(finding)) all.try_emplace({finding.device, metric_of(finding)}, &finding);
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

/// The metric of a weighty finding whose device was measured again; else nullptr.
const Metric* settled_metric(const FleetFinding& finding, const FleetAnalysis& analysis,
                             const RunResult& run) {
  if (!is_weighty(finding) || !rests_on_measurement(finding, analysis.registry)) return nullptr;
  const Metric* metric = find_metric(metric_of(finding), analysis.registry);
  return find_again(run.devices[finding.device], *metric) != nullptr ? metric : nullptr;
}

void settle(FleetFinding& finding, const FleetFinding* again, bool peer_out,
            const std::string& second_value) {
  const bool stays = again != nullptr && !peer_out;
  finding.severity = stays ? std::min(finding.severity, again->severity) : Severity::info;
  if (stays) {
    finding.evidence +=
        fmt::format("{}measured again: {}", finding.evidence.empty() ? "" : "; ", second_value);
  } else if (peer_out) {
    finding.reason += fmt::format(
        "; measured again {}, but a peer measured beside it was out then too: no verdict",
        second_value);
  } else {
    finding.reason += fmt::format("; did not come back when measured again ({})", second_value);
  }
}

}  // namespace

std::vector<Suspect> find_suspects(const FleetAnalysis& analysis, const RunResult& run) {
  std::vector<Suspect> suspects;
  std::set<std::pair<std::size_t, std::string_view>> seen;
  for (const FleetFinding& finding : analysis.findings) {
    if (!is_weighty(finding) || !rests_on_measurement(finding, analysis.registry)) continue;
    const Metric& metric = *find_metric(metric_of(finding), analysis.registry);
    const DeviceResult& device = run.devices[finding.device];
    const JobResult* job = find_job(device, metric.name);
    if (job == nullptr || find_again(device, metric) != nullptr) continue;
    if (!seen.emplace(finding.device, metric.name).second) continue;
    suspects.push_back({.device = finding.device,
                        .group = group_of(analysis, finding.device),
                        .metric = std::string(metric.name),
                        .job = job->job});
  }
  return suspects;
}

std::optional<std::size_t> median_peer(const FleetAnalysis& analysis, const RunResult& run,
                                       std::size_t group, std::string_view metric) {
  const std::string consensus = consensus_of(analysis, group, metric);
  const std::string unit(find_metric(metric, analysis.registry)->unit);
  const Weighty suspects = weighty_findings(analysis);
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
  for (const FleetFinding& finding : analysis.findings) {
    const Metric* metric = settled_metric(finding, analysis, run);
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
    DeviceResult& copy = second.devices[i];
    copy.info = device.info;
    copy.node = device.node;
    copy.jobs.push_back(std::move(job));
  }
}

void settle_suspects(const RunResult& run, const FleetAnalysis& second, FleetAnalysis& analysis) {
  const FleetAnalysis first = analysis;
  const Weighty at_first = weighty_findings(first);
  const Weighty again = weighty_findings(second);
  for (FleetFinding& finding : analysis.findings) {
    const Metric* metric = settled_metric(finding, analysis, run);
    if (metric == nullptr) continue;
    const auto came_back = again.find({finding.device, metric->name});
    const ComparisonGroup& group = analysis.groups[group_of(analysis, finding.device)];
    settle(finding, came_back != again.end() ? came_back->second : nullptr,
           peer_is_out(run, group, *metric, at_first, again),
           value_text(*find_again(run.devices[finding.device], *metric), metric->unit));
  }
}

}  // namespace sonde
