// Counts which devices agree on every structural metric, and charges the others.
#include "analysis/fleet/grounds/grounds.hpp"

#include "analysis/fleet/tolerance.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>

namespace sonde {
namespace {

// Findings below the first confidence do not vote; below the second they only warn.
constexpr double least_voting_confidence = 0.5;
constexpr double least_sure_confidence = 0.9;

struct Ballot {
  std::size_t device = 0;
  const Finding* finding = nullptr;
  std::optional<double> number = {};
  Interval edge = {};     // of a number; both bounds are equal if it is exact
  std::string text = "";  // of a value that is no number: equal texts are equal values
};

std::vector<Ballot> collect_ballots(const RunResult& run, const ComparisonGroup& group,
                                    const Metric& metric) {
  std::vector<Ballot> ballots;
  const auto add = [&](std::size_t device, const Finding& finding) {
    if (finding.confidence < least_voting_confidence) return;
    Ballot ballot{.device = device, .finding = &finding, .number = number_of(finding)};
    if (ballot.number) {
      const bool may_be_gradual = metric.kind == MetricKind::capacity;
      ballot.edge = may_be_gradual ? edge_of(finding) : Interval{*ballot.number, *ballot.number};
    } else {
      ballot.text = ballot_text(finding);
      if (ballot.text.empty()) return;
    }
    ballots.push_back(std::move(ballot));
  };
  for_each_finding(run, group.devices, metric.name, add);
  return ballots;
}

/// The value of more than half of the devices: in sorted order it is in the middle.
class Quorum {
 public:
  /// @param ballots not empty; must outlive this object
  Quorum(const Metric& metric, const std::vector<Ballot>& ballots)
      : metric_(metric), ballots_(ballots) {
    std::vector<const Ballot*> sorted;
    for (const Ballot& ballot : ballots) sorted.push_back(&ballot);
    const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
    std::ranges::nth_element(sorted, middle, {}, [](const Ballot* one) {
      return std::tuple(one->edge.high, one->edge.low, std::string_view(one->text));
    });
    middle_ = *middle;
    for (const Ballot& ballot : ballots) {
      if (!agrees(ballot)) continue;
      ++agreeing_;
      confidence_ = std::min(confidence_, ballot.finding->confidence);
    }
  }

  MetricStatistics statistics(std::size_t group) const {
    std::vector<double> numbers;
    for (const Ballot& ballot : ballots_) {
      if (ballot.number) numbers.push_back(*ballot.number);
    }
    MetricStatistics statistics = statistics_of(metric_, group, numbers);
    statistics.n = ballots_.size();
    statistics.consensus = is_majority() ? shown(*middle_) : "";
    statistics.agreeing = agreeing_;
    statistics.ambiguous = !is_majority();
    return statistics;
  }

  std::vector<Charge> charges() const {
    if (!is_majority() || dissenters_may_be_right()) return charge_all();
    std::vector<Charge> charges;
    for (const Ballot& ballot : ballots_) {
      if (!agrees(ballot)) charges.push_back(charge_of_dissenter(ballot));
    }
    return charges;
  }

 private:
  bool is_majority() const { return 2 * agreeing_ > ballots_.size(); }
  bool agrees(const Ballot& one) const {
    if (one.number && middle_->number) {
      if (metric_.kind != MetricKind::capacity) return one.number == middle_->number;
      return capacities_agree(one.edge, middle_->edge, metric_.warn);
    }
    return !one.number && !middle_->number && one.text == middle_->text;
  }
  bool is_better(const Ballot& one, const Ballot& other) const {
    return one.number && other.number && is_worse(metric_.better, *other.number - *one.number);
  }
  std::string shown(const Ballot& ballot) const {
    return value_text(*ballot.finding, metric_.unit);
  }
  /// Healthy dies of one model may have their SMs in 7 or 8 GPCs (H100 PCIe): only a note.
  bool differs_by_die() const { return metric_.name == "topology.gpc_count"; }

  /// True if a device that disagrees has a better value than the majority; or, without a better
  /// direction, if two or more, and half as many as the majority, agree on another value.
  bool dissenters_may_be_right() const {
    std::map<std::string, std::size_t> rivals;
    for (const Ballot& ballot : ballots_) {
      if (agrees(ballot)) continue;
      if (metric_.better == Better::neither || !middle_->number) {
        const std::size_t votes = ++rivals[ballot_text(*ballot.finding)];
        if (votes >= 2 && 2 * votes >= agreeing_) return true;
      } else if (is_better(ballot, *middle_)) {
        return true;
      }
    }
    return false;
  }

  Charge charge_of(const Ballot& ballot) const {
    const Trouble trouble = metric_.name.starts_with("host.link")     ? Trouble::pcie_link
                            : metric_.name.starts_with("host.nvlink") ? Trouble::nvlink
                                                                      : Trouble::structure;
    return {.device = ballot.device,
            .ground = Ground::peers,
            .trouble = trouble,
            .metric = std::string(metric_.name),
            .value = shown(ballot),
            .certainty = ballot.finding->confidence,
            .n = ballots_.size()};
  }

  std::vector<Charge> charge_all() const {
    const bool sure = std::ranges::all_of(ballots_, [](const Ballot& one) {
      return one.finding->confidence >= least_sure_confidence;
    });
    const std::string votes = votes_text();
    std::vector<Charge> charges;
    for (const Ballot& ballot : ballots_) {
      Charge& charge = charges.emplace_back(charge_of(ballot));
      charge.undecided = true;
      charge.best =
          ballot.number && metric_.better != Better::neither &&
          std::ranges::none_of(ballots_, [&](const Ballot& one) { return is_better(one, ballot); });
      charge.severity = sure && !differs_by_die() ? Severity::warn : Severity::info;
      charge.reason =
          fmt::format("{}; the group falls into parts, n={}: {}: cannot tell which is wrong",
                      charge.value, ballots_.size(), votes);
      if (ballots_.size() != 2) continue;
      charge.reference = shown(ballots_[&ballot == &ballots_[0] ? 1 : 0]);
      charge.reason = fmt::format("{}, its only peer has {}, n=2: cannot tell which is wrong",
                                  charge.value, charge.reference);
    }
    return charges;
  }

  /// "132 on 5, 130 on 2"
  std::string votes_text() const {
    std::map<std::string, std::size_t> votes;
    for (const Ballot& ballot : ballots_) ++votes[shown(ballot)];
    std::vector<std::string> parts;
    for (const auto& [value, count] : votes) parts.push_back(fmt::format("{} on {}", value, count));
    return fmt::format("{}", fmt::join(parts, ", "));
  }

  Charge charge_of_dissenter(const Ballot& ballot) const {
    Charge charge = charge_of(ballot);
    const bool sure = std::min(confidence_, charge.certainty) >= least_sure_confidence;
    charge.severity = differs_by_die() ? Severity::info : sure ? Severity::fail : Severity::warn;
    charge.reference = shown(*middle_);
    charge.reason = fmt::format("{} where {} of {} devices have {}", charge.value, agreeing_,
                                ballots_.size(), charge.reference);
    charge.evidence = fmt::format("confidence {:.2f} here, {:.2f} or more on the {} others",
                                  charge.certainty, confidence_, agreeing_);
    return charge;
  }

  const Metric& metric_;
  const std::vector<Ballot>& ballots_;
  const Ballot* middle_ = nullptr;
  std::size_t agreeing_ = 0;
  double confidence_ = 1;  // lowest of the devices that agree
};

}  // namespace

void compare_structure(const RunResult& run, FleetAnalysis& analysis) {
  for (std::size_t group = 0; group < analysis.groups.size(); ++group) {
    for (const Metric& metric : analysis.registry) {
      if (!is_structure(metric.kind)) continue;
      const std::vector<Ballot> ballots = collect_ballots(run, analysis.groups[group], metric);
      if (ballots.empty()) continue;
      const Quorum quorum(metric, ballots);
      analysis.statistics.push_back(quorum.statistics(group));
      if (!metric.not_compared.empty()) continue;
      std::ranges::move(quorum.charges(), std::back_inserter(analysis.charges));
    }
  }
}

}  // namespace sonde
