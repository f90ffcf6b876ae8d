// Counts votes on values, and on intervals that may overlap.
#include "analysis/fleet/ballots.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace sonde {
namespace {

bool overlap(const Interval& a, const Interval& b) { return a.low <= b.high && b.low <= a.high; }

/// An edge that is gradual comes out a little elsewhere each time; an exact one does not.
Interval widened(const Interval& interval, double tolerance) {
  if (interval.low == interval.high) return interval;
  const double margin = tolerance / 2 * std::abs(interval.high);
  return {.low = interval.low - margin, .high = interval.high + margin};
}

/// From the lower median of the lower ends to the upper median of the upper ends of the intervals
/// that hold this place: what overlaps it overlaps half of them. @pre one of them holds it
Interval typical_interval(const std::vector<Ballot>& ballots, double place, double tolerance) {
  std::vector<double> lows;
  std::vector<double> highs;
  for (const Ballot& ballot : ballots) {
    if (!overlap(widened(*ballot.interval, tolerance), {.low = place, .high = place})) continue;
    lows.push_back(ballot.interval->low);
    highs.push_back(ballot.interval->high);
  }
  std::ranges::sort(lows);
  std::ranges::sort(highs);
  return {.low = lows[(lows.size() - 1) / 2], .high = highs[highs.size() / 2]};
}

struct Densest {
  std::size_t depth = 0;
  double first = 0;  // lowest and highest place with so many intervals
  double last = 0;
};

/// Only at the lower end of an interval can more of them lie than before.
Densest find_densest(const std::vector<Ballot>& ballots, double tolerance) {
  std::vector<double> lows;
  std::vector<double> highs;
  for (const Ballot& ballot : ballots) {
    const Interval interval = widened(*ballot.interval, tolerance);
    lows.push_back(interval.low);
    highs.push_back(interval.high);
  }
  std::ranges::sort(lows);
  std::ranges::sort(highs);
  Densest densest;
  for (const double place : lows) {
    const auto begun = std::ranges::upper_bound(lows, place) - lows.begin();
    const auto ended = std::ranges::lower_bound(highs, place) - highs.begin();
    const auto depth = static_cast<std::size_t>(begun - ended);
    if (depth > densest.depth) densest = {.depth = depth, .first = place, .last = place};
    if (depth == densest.depth) densest.last = place;
  }
  return densest;
}

/// @pre all have an interval
Quorum count_intervals(const std::vector<Ballot>& ballots, double tolerance) {
  const Densest densest = find_densest(ballots, tolerance);
  const Interval reference = typical_interval(ballots, densest.first, tolerance);
  const Interval rival = typical_interval(ballots, densest.last, tolerance);
  Quorum quorum{.interval = reference};
  quorum.ambiguous = !capacities_agree(reference, rival, tolerance);
  for (const Ballot& ballot : ballots) {
    if (!agrees(ballot, quorum, tolerance)) continue;
    ++quorum.agreeing;
    quorum.confidence = std::min(quorum.confidence, ballot.confidence);
  }
  return quorum;
}

constexpr auto nobody_has_most = [] { return Quorum{.ambiguous = true, .confidence = 0}; };

}  // namespace

Quorum count_votes(const std::vector<Ballot>& ballots) {
  std::map<std::string, std::size_t> votes;
  for (const Ballot& ballot : ballots) ++votes[ballot.text];
  Quorum quorum;
  for (const auto& [text, count] : votes) {
    if (count > quorum.agreeing) {
      quorum = {.text = text, .agreeing = count};
    } else if (count == quorum.agreeing) {
      quorum.ambiguous = true;
    }
  }
  if (quorum.ambiguous) return nobody_has_most();
  for (const Ballot& ballot : ballots) {
    if (ballot.text != quorum.text) continue;
    quorum.shown = ballot.shown;
    quorum.confidence = std::min(quorum.confidence, ballot.confidence);
  }
  return quorum;
}

bool capacities_agree(const Interval& a, const Interval& b, double tolerance) {
  return overlap(widened(a, tolerance), widened(b, tolerance));
}

Quorum count_capacities(const std::vector<Ballot>& ballots, double tolerance) {
  std::vector<Ballot> capacities;
  std::vector<Ballot> others;
  for (const Ballot& ballot : ballots) {
    (ballot.interval ? capacities : others).push_back(ballot);
  }
  if (capacities.empty()) return count_votes(others);
  const Quorum among_capacities = count_intervals(capacities, tolerance);
  const Quorum among_others = others.empty() ? Quorum{} : count_votes(others);
  if (among_others.agreeing == among_capacities.agreeing) return nobody_has_most();
  if (among_others.agreeing > among_capacities.agreeing) return among_others;
  return among_capacities.ambiguous ? nobody_has_most() : among_capacities;
}

bool agrees(const Ballot& ballot, const Quorum& quorum, double tolerance) {
  if (quorum.interval.has_value() != ballot.interval.has_value()) return false;
  return quorum.interval ? capacities_agree(*ballot.interval, *quorum.interval, tolerance)
                         : ballot.text == quorum.text;
}

}  // namespace sonde
