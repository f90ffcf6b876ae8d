// Counts the votes on every structural metric and names those who disagree.
#include "analysis/fleet/quorum.hpp"

#include "analysis/fleet/ballots.hpp"
#include "analysis/fleet/finding_finder.hpp"
#include "analysis/fleet/judge.hpp"
#include "analysis/fleet/series.hpp"
#include "analysis/fleet/value_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

namespace sonde {
namespace {

// Below this an inference is a hint and no vote; above the other it may fail a device.
constexpr double least_voting_confidence = 0.5;
constexpr double least_failing_confidence = 0.9;

/// Healthy dies of one model may have their SMs spread over 7 or 8 GPCs (H100 PCIe): only a note.
bool differs_by_die(std::string_view metric) { return metric == "topology.gpc_count"; }

/// Most devices of a fleet vote as the one before: a text that is there need not be written again,
/// which takes long for maps.
bool vote_the_same(const Finding& one, const Finding& other) {
  return one.status == other.status && one.value == other.value && !one.interval && !other.interval;
}

std::vector<Ballot> collect_ballots(const RunResult& run, const ComparisonGroup& group,
                                    const Metric& metric) {
  std::vector<Ballot> ballots;
  FindingFinder finder(metric.name);
  const Finding* last = nullptr;  // that of the last ballot
  for (const std::size_t device : group.devices) {
    const Finding* finding = finder.in(run.devices[device]);
    if (finding == nullptr || finding->confidence < least_voting_confidence) continue;
    if (last != nullptr && vote_the_same(*finding, *last)) {
      Ballot same = ballots.back();
      same.device = device;
      same.confidence = finding->confidence;
      ballots.push_back(std::move(same));
      continue;
    }
    std::string text = ballot_text(*finding);
    if (text.empty()) continue;
    const auto number = number_of(*finding);
    const bool is_edge = metric.kind == MetricKind::capacity && number;
    ballots.push_back({.device = device,
                       .text = std::move(text),
                       .shown = value_text(*finding, metric.unit),
                       .confidence = finding->confidence,
                       .interval = is_edge ? std::optional(edge_of(*finding)) : std::nullopt});
    last = finding;
  }
  return ballots;
}

std::vector<double> voted_numbers(const RunResult& run, const Metric& metric,
                                  const std::vector<Ballot>& ballots) {
  std::vector<double> numbers;
  FindingFinder finder(metric.name);
  for (const Ballot& ballot : ballots) {
    const auto number = number_of(*finder.in(run.devices[ballot.device]));
    if (number) numbers.push_back(*number);
  }
  return numbers;
}

FleetFinding structure_finding(const Metric& metric, std::size_t n) {
  const bool of_link = metric.job == "host";
  return {.metric = std::string(metric.name),
          .fault = of_link ? FaultClass::link : FaultClass::structure,
          .n = n};
}

std::string votes_text(const std::vector<Ballot>& ballots) {
  std::map<std::string, std::size_t> votes;
  for (const Ballot& ballot : ballots) ++votes[ballot.shown];
  std::vector<std::string> parts;
  for (const auto& [shown, count] : votes) parts.push_back(fmt::format("{} on {}", shown, count));
  return fmt::format("{}", fmt::join(parts, ", "));
}

void add_tie(const RunResult& run, const Metric& metric, const std::vector<Ballot>& ballots,
             FleetAnalysis& analysis) {
  const bool sure =
      std::ranges::min(ballots, {}, &Ballot::confidence).confidence >= least_failing_confidence;
  FleetFinding finding = structure_finding(metric, ballots.size());
  finding.severity = sure && !differs_by_die(metric.name) ? Severity::warn : Severity::info;
  if (ballots.size() > 2) {
    finding.reason = fmt::format("ambiguous: {}; no value has most votes, n={}: nobody is judged",
                                 votes_text(ballots), ballots.size());
    analysis.findings.push_back(finding);
    return;
  }
  for (std::size_t i = 0; i < 2; ++i) {
    const Ballot& other = ballots[1 - i];
    finding.device = ballots[i].device;
    finding.node = run.devices[ballots[i].device].node;
    finding.value = ballots[i].shown;
    finding.reference = other.shown;
    finding.reason = fmt::format("{}, its only peer has {}, n=2: cannot tell which is wrong",
                                 ballots[i].shown, other.shown);
    analysis.findings.push_back(finding);
  }
}

void add_dissenters(const RunResult& run, const Metric& metric, const std::vector<Ballot>& ballots,
                    const Quorum& quorum, double tolerance, FleetAnalysis& analysis) {
  for (const Ballot& ballot : ballots) {
    if (agrees(ballot, quorum, tolerance)) continue;
    const bool sure = 2 * quorum.agreeing > ballots.size() &&
                      std::min(quorum.confidence, ballot.confidence) >= least_failing_confidence;
    FleetFinding finding = structure_finding(metric, ballots.size());
    finding.device = ballot.device;
    finding.node = run.devices[ballot.device].node;
    finding.severity = differs_by_die(metric.name) ? Severity::info
                       : sure                      ? Severity::fail
                                                   : Severity::warn;
    finding.value = ballot.shown;
    finding.reference = quorum.shown;
    finding.reason = fmt::format("{} where {} of {} devices have {}", ballot.shown, quorum.agreeing,
                                 ballots.size(), quorum.shown);
    finding.evidence = fmt::format("confidence {:.2f} here, {:.2f} or more on the {} others",
                                   ballot.confidence, quorum.confidence, quorum.agreeing);
    analysis.findings.push_back(finding);
  }
}

Quorum count(const Metric& metric, const std::vector<Ballot>& ballots, double tolerance) {
  if (metric.kind != MetricKind::capacity) return count_votes(ballots);
  Quorum quorum = count_capacities(ballots, tolerance);
  if (quorum.interval) quorum.shown = interval_text(*quorum.interval, metric.unit);
  return quorum;
}

void compare_metric(const RunResult& run, const ComparisonGroup& group, std::size_t index,
                    const Metric& metric, const ReduceOptions& options, FleetAnalysis& analysis) {
  const std::vector<Ballot> ballots = collect_ballots(run, group, metric);
  if (ballots.empty()) return;
  const double tolerance = tolerance_for(metric.name, options).warn;
  const Quorum quorum = count(metric, ballots, tolerance);
  MetricStatistics statistics;
  statistics.metric = metric.name;
  statistics.unit = metric.unit;
  statistics.kind = metric.kind;
  statistics.group = index;
  fill_numbers(statistics, voted_numbers(run, metric, ballots));
  statistics.n = ballots.size();
  statistics.consensus = quorum.shown;
  statistics.agreeing = quorum.agreeing;
  statistics.ambiguous = quorum.ambiguous;
  analysis.statistics.push_back(statistics);
  if (!metric.not_compared.empty()) return;
  if (quorum.ambiguous) {
    add_tie(run, metric, ballots, analysis);
  } else {
    add_dissenters(run, metric, ballots, quorum, tolerance, analysis);
  }
}

}  // namespace

void compare_structure(const RunResult& run, const std::vector<ComparisonGroup>& groups,
                       const ReduceOptions& options, FleetAnalysis& analysis) {
  for (std::size_t group = 0; group < groups.size(); ++group) {
    for (const Metric& metric : options.registry) {
      if (!is_structure(metric.kind)) continue;
      compare_metric(run, groups[group], group, metric, options, analysis);
    }
  }
}

}  // namespace sonde
