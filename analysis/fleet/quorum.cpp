// Counts the votes on every structural metric and charges those who disagree.
#include "analysis/fleet/quorum.hpp"

#include "analysis/fleet/ballots.hpp"
#include "analysis/fleet/finding_finder.hpp"
#include "analysis/fleet/series.hpp"
#include "analysis/fleet/tolerance.hpp"
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
                       .number = number,
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

Charge structure_charge(const RunResult& run, const Metric& metric, const Ballot& ballot,
                        std::size_t n) {
  const Trouble trouble = metric.name.starts_with("host.link")     ? Trouble::pcie_link
                          : metric.name.starts_with("host.nvlink") ? Trouble::nvlink
                                                                   : Trouble::structure;
  return {.device = ballot.device,
          .node = run.devices[ballot.device].node,
          .ground = Ground::peers,
          .trouble = trouble,
          .metric = std::string(metric.name),
          .value = ballot.shown,
          .certainty = ballot.confidence,
          .n = n};
}

/// "132 on 5, 130 on 2"
std::string votes_text(const std::vector<Ballot>& ballots) {
  std::map<std::string, std::size_t> votes;
  for (const Ballot& ballot : ballots) ++votes[ballot.shown];
  std::vector<std::string> parts;
  for (const auto& [shown, count] : votes) parts.push_back(fmt::format("{} on {}", shown, count));
  return fmt::format("{}", fmt::join(parts, ", "));
}

/// Whether those who disagree may be the healthy ones: one of them has a better value than the
/// majority, or, where no direction is better, half as many as the majority agree on another value.
bool may_be_right(const Metric& metric, const std::vector<Ballot>& ballots, const Quorum& quorum,
                  double tolerance) {
  std::map<std::string, std::size_t> rivals;
  std::optional<double> of_majority;
  std::vector<double> of_others;
  for (const Ballot& ballot : ballots) {
    const bool in_majority = agrees(ballot, quorum, tolerance);
    if (in_majority && ballot.number) of_majority = ballot.number;
    if (!in_majority && ballot.number) of_others.push_back(*ballot.number);
    if (!in_majority) ++rivals[ballot.text];
  }
  if (metric.better != Better::neither && of_majority) {
    return std::ranges::any_of(
        of_others, [&](double other) { return is_worse(metric.better, *of_majority - other); });
  }
  return std::ranges::any_of(rivals, [&](const auto& rival) {
    return rival.second >= 2 && 2 * rival.second >= quorum.agreeing;
  });
}

/// Nobody can tell which value is right.
void charge_all(const RunResult& run, const Metric& metric, const std::vector<Ballot>& ballots,
                std::vector<Charge>& charges) {
  const bool sure =
      std::ranges::min(ballots, {}, &Ballot::confidence).confidence >= least_failing_confidence;
  const std::string votes = votes_text(ballots);
  for (const Ballot& ballot : ballots) {
    Charge charge = structure_charge(run, metric, ballot, ballots.size());
    charge.undecided = true;
    charge.severity = sure && !differs_by_die(metric.name) ? Severity::warn : Severity::info;
    if (ballots.size() == 2) {
      charge.reference = ballots[&ballot == &ballots[0] ? 1 : 0].shown;
      charge.reason = fmt::format("{}, its only peer has {}, n=2: cannot tell which is wrong",
                                  charge.value, charge.reference);
    } else {
      charge.reason = fmt::format(
          "{}; the group falls into parts, n={}: {}: cannot tell which is "
          "wrong",
          charge.value, ballots.size(), votes);
    }
    charges.push_back(std::move(charge));
  }
}

void charge_dissenters(const RunResult& run, const Metric& metric,
                       const std::vector<Ballot>& ballots, const Quorum& quorum, double tolerance,
                       std::vector<Charge>& charges) {
  for (const Ballot& ballot : ballots) {
    if (agrees(ballot, quorum, tolerance)) continue;
    Charge charge = structure_charge(run, metric, ballot, ballots.size());
    const bool sure = std::min(quorum.confidence, ballot.confidence) >= least_failing_confidence;
    charge.severity = differs_by_die(metric.name) ? Severity::info
                      : sure                      ? Severity::fail
                                                  : Severity::warn;
    charge.reference = quorum.shown;
    charge.reason = fmt::format("{} where {} of {} devices have {}", charge.value, quorum.agreeing,
                                ballots.size(), quorum.shown);
    charge.evidence = fmt::format("confidence {:.2f} here, {:.2f} or more on the {} others",
                                  ballot.confidence, quorum.confidence, quorum.agreeing);
    charges.push_back(std::move(charge));
  }
}

Quorum count(const Metric& metric, const std::vector<Ballot>& ballots, double tolerance) {
  if (metric.kind != MetricKind::capacity) return count_votes(ballots);
  Quorum quorum = count_capacities(ballots, tolerance);
  if (quorum.interval) quorum.shown = interval_text(*quorum.interval, metric.unit);
  return quorum;
}

void compare_metric(const RunResult& run, const ComparisonGroup& group, std::size_t index,
                    const Metric& metric, const ReduceOptions& options, StructureVerdicts& all) {
  const std::vector<Ballot> ballots = collect_ballots(run, group, metric);
  if (ballots.empty()) return;
  const double tolerance = tolerance_for(metric, options).warn;
  const Quorum quorum = count(metric, ballots, tolerance);
  MetricStatistics statistics;
  statistics.metric = metric.name;
  statistics.unit = metric.unit;
  statistics.kind = metric.kind;
  statistics.group = index;
  fill_numbers(statistics, voted_numbers(run, metric, ballots));
  statistics.n = ballots.size();
  const bool has_majority = !quorum.ambiguous && 2 * quorum.agreeing > ballots.size();
  statistics.consensus = has_majority ? quorum.shown : "";
  statistics.agreeing = quorum.agreeing;
  statistics.ambiguous = !has_majority;
  all.statistics.push_back(statistics);
  if (!metric.not_compared.empty()) return;
  if (!has_majority || may_be_right(metric, ballots, quorum, tolerance)) {
    charge_all(run, metric, ballots, all.charges);
  } else {
    charge_dissenters(run, metric, ballots, quorum, tolerance, all.charges);
  }
}

}  // namespace

void compare_structure(const RunResult& run, const std::vector<ComparisonGroup>& groups,
                       const ReduceOptions& options, StructureVerdicts& all) {
  for (std::size_t group = 0; group < groups.size(); ++group) {
    for (const Metric& metric : options.registry) {
      if (!is_structure(metric.kind)) continue;
      compare_metric(run, groups[group], group, metric, options, all);
    }
  }
}

}  // namespace sonde
