// Counts who agrees on every structural metric and charges those who do not.
#include "analysis/fleet/grounds/grounds.hpp"

#include "analysis/fleet/finding_finder.hpp"
#include "analysis/fleet/tolerance.hpp"
#include "analysis/fleet/value_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace sonde {
namespace {

// Below this an inference is a hint and no vote; above the other it may fail a device.
constexpr double least_voting_confidence = 0.5;
constexpr double least_failing_confidence = 0.9;

struct Ballot {
  std::size_t device = 0;
  const Finding* finding = nullptr;
  std::optional<Interval> edge = {};  // of a number; no width if it is exact
  std::string text = "";              // of what is no number: equal texts are equal values
};

/// What more than half of the devices have. Sorted, it stands in the middle.
struct Quorum {
  Ballot middle;
  std::vector<bool> agrees;  // of each ballot
  std::size_t agreeing = 0;
  double confidence = 1;  // lowest among the agreeing

  bool is_majority() const { return 2 * agreeing > agrees.size(); }
};

/// Healthy dies of one model may have their SMs spread over 7 or 8 GPCs (H100 PCIe): only a note.
bool differs_by_die(std::string_view metric) { return metric == "topology.gpc_count"; }

std::vector<Ballot> collect_ballots(const RunResult& run, const ComparisonGroup& group,
                                    const Metric& metric) {
  std::vector<Ballot> ballots;
  FindingFinder finder(metric.name);
  for (const std::size_t device : group.devices) {
    const Finding* finding = finder.in(run.devices[device]);
    if (finding == nullptr || finding->confidence < least_voting_confidence) continue;
    Ballot ballot{.device = device, .finding = finding};
    if (const auto number = number_of(*finding)) {
      const bool may_be_gradual = metric.kind == MetricKind::capacity;
      ballot.edge = may_be_gradual ? edge_of(*finding) : Interval{.low = *number, .high = *number};
    } else {
      ballot.text = ballot_text(*finding);
      if (ballot.text.empty()) continue;
    }
    ballots.push_back(std::move(ballot));
  }
  return ballots;
}

bool agree(const Ballot& one, const Ballot& other, double tolerance) {
  if (one.edge && other.edge) return capacities_agree(*one.edge, *other.edge, tolerance);
  return !one.edge && !other.edge && one.text == other.text;
}

/// @pre ballots not empty
Quorum count(const std::vector<Ballot>& ballots, double tolerance) {
  std::vector<const Ballot*> sorted;
  for (const Ballot& ballot : ballots) sorted.push_back(&ballot);
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::ranges::nth_element(sorted, middle, {}, [](const Ballot* one) {
    const Interval edge = one->edge.value_or(Interval{});
    return std::tuple(edge.high, edge.low, std::string_view(one->text));
  });
  Quorum quorum{.middle = **middle, .agrees = {}};
  for (const Ballot& ballot : ballots) {
    quorum.agrees.push_back(agree(ballot, quorum.middle, tolerance));
    if (!quorum.agrees.back()) continue;
    ++quorum.agreeing;
    quorum.confidence = std::min(quorum.confidence, ballot.finding->confidence);
  }
  return quorum;
}

std::string shown(const Ballot& ballot, const Metric& metric) {
  return value_text(*ballot.finding, metric.unit);
}

MetricStatistics statistics_of(const Metric& metric, std::size_t group,
                               const std::vector<Ballot>& ballots, const Quorum& quorum) {
  std::vector<double> numbers;
  for (const Ballot& ballot : ballots) {
    if (ballot.edge) numbers.push_back(*number_of(ballot.finding));
  }
  MetricStatistics statistics = statistics_of(metric, group, numbers);
  statistics.n = ballots.size();
  statistics.consensus = quorum.is_majority() ? shown(quorum.middle, metric) : "";
  statistics.agreeing = quorum.agreeing;
  statistics.ambiguous = !quorum.is_majority();
  return statistics;
}

Charge structure_charge(const Metric& metric, const Ballot& ballot, std::size_t n) {
  const Trouble trouble = metric.name.starts_with("host.link")     ? Trouble::pcie_link
                          : metric.name.starts_with("host.nvlink") ? Trouble::nvlink
                                                                   : Trouble::structure;
  return {.device = ballot.device,
          .ground = Ground::peers,
          .trouble = trouble,
          .metric = std::string(metric.name),
          .value = shown(ballot, metric),
          .certainty = ballot.finding->confidence,
          .n = n};
}

/// Whether those who disagree may be the healthy ones: one of them has a better value than the
/// majority, or, where no direction is better, half as many as the majority agree on another value.
bool may_be_right(const Metric& metric, const std::vector<Ballot>& ballots, const Quorum& quorum) {
  const auto usual = number_of(*quorum.middle.finding);
  std::map<std::string, std::size_t> rivals;
  for (std::size_t i = 0; i < ballots.size(); ++i) {
    if (quorum.agrees[i]) continue;
    const auto number = number_of(*ballots[i].finding);
    if (metric.better == Better::neither || !usual) {
      const std::size_t votes = ++rivals[ballot_text(*ballots[i].finding)];
      if (votes >= 2 && 2 * votes >= quorum.agreeing) return true;
    } else if (number && is_worse(metric.better, *usual - *number)) {
      return true;
    }
  }
  return false;
}

/// "132 on 5, 130 on 2"
std::string votes_text(const Metric& metric, const std::vector<Ballot>& ballots) {
  std::map<std::string, std::size_t> votes;
  for (const Ballot& ballot : ballots) ++votes[shown(ballot, metric)];
  std::vector<std::string> parts;
  for (const auto& [value, count] : votes) parts.push_back(fmt::format("{} on {}", value, count));
  return fmt::format("{}", fmt::join(parts, ", "));
}

bool is_best(const Metric& metric, const Ballot& ballot, const std::vector<Ballot>& ballots) {
  const auto own = number_of(*ballot.finding);
  return own && metric.better != Better::neither &&
         std::ranges::none_of(ballots, [&](const Ballot& other) {
           const auto number = number_of(*other.finding);
           return number && is_worse(metric.better, *own - *number);
         });
}

/// Nobody can tell which value is right.
void charge_all(const Metric& metric, const std::vector<Ballot>& ballots,
                std::vector<Charge>& charges) {
  const bool sure = std::ranges::all_of(ballots, [](const Ballot& ballot) {
    return ballot.finding->confidence >= least_failing_confidence;
  });
  const std::string votes = votes_text(metric, ballots);
  for (const Ballot& ballot : ballots) {
    Charge charge = structure_charge(metric, ballot, ballots.size());
    charge.undecided = true;
    charge.best = is_best(metric, ballot, ballots);
    charge.severity = sure && !differs_by_die(metric.name) ? Severity::warn : Severity::info;
    if (ballots.size() == 2) {
      charge.reference = shown(ballots[&ballot == &ballots[0] ? 1 : 0], metric);
      charge.reason = fmt::format("{}, its only peer has {}, n=2: cannot tell which is wrong",
                                  charge.value, charge.reference);
    } else {
      charge.reason =
          fmt::format("{}; the group falls into parts, n={}: {}: cannot tell which is wrong",
                      charge.value, ballots.size(), votes);
    }
    charges.push_back(std::move(charge));
  }
}

void charge_dissenters(const Metric& metric, const std::vector<Ballot>& ballots,
                       const Quorum& quorum, std::vector<Charge>& charges) {
  for (std::size_t i = 0; i < ballots.size(); ++i) {
    if (quorum.agrees[i]) continue;
    Charge charge = structure_charge(metric, ballots[i], ballots.size());
    const bool sure = std::min(quorum.confidence, charge.certainty) >= least_failing_confidence;
    charge.severity = differs_by_die(metric.name) ? Severity::info
                      : sure                      ? Severity::fail
                                                  : Severity::warn;
    charge.reference = shown(quorum.middle, metric);
    charge.reason = fmt::format("{} where {} of {} devices have {}", charge.value, quorum.agreeing,
                                ballots.size(), charge.reference);
    charge.evidence = fmt::format("confidence {:.2f} here, {:.2f} or more on the {} others",
                                  charge.certainty, quorum.confidence, quorum.agreeing);
    charges.push_back(std::move(charge));
  }
}

}  // namespace

void compare_structure(const RunResult& run, const std::vector<ComparisonGroup>& groups,
                       const ReduceOptions& options, Compared& all) {
  for (std::size_t group = 0; group < groups.size(); ++group) {
    for (const Metric& metric : options.registry) {
      if (!is_structure(metric.kind)) continue;
      const std::vector<Ballot> ballots = collect_ballots(run, groups[group], metric);
      if (ballots.empty()) continue;
      const Quorum quorum = count(ballots, metric.warn);
      all.statistics.push_back(statistics_of(metric, group, ballots, quorum));
      if (!metric.not_compared.empty()) continue;
      if (!quorum.is_majority() || may_be_right(metric, ballots, quorum)) {
        charge_all(metric, ballots, all.charges);
      } else {
        charge_dissenters(metric, ballots, quorum, all.charges);
      }
    }
  }
}

}  // namespace sonde
