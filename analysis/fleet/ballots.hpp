// What most devices of a group say about their structure, and who agrees with it.
#pragma once

#include "analysis/results.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace sonde {

struct Ballot {
  std::size_t device = 0;
  std::string text;   // equal texts are equal values
  std::string shown;  // as a person reads it
  double confidence = 1;
  std::optional<double> number = {};  // if it is one
  /// Of a capacity: where its edge lies; no width if that is exact.
  std::optional<Interval> interval = {};
};

struct Quorum {
  std::string text = "";   // "" on a tie, and where there is an interval
  std::string shown = "";  // "" where there is an interval
  std::size_t agreeing = 0;
  bool ambiguous = false;
  double confidence = 1;  // lowest among the agreeing
  std::optional<Interval> interval = {};
};

/// Values that are equal or not: the unique plurality, else ambiguous. @pre ballots not empty
Quorum count_votes(const std::vector<Ballot>& ballots);

/// Whether two capacities agree: exact ones if they are equal, others if their intervals overlap or
/// are no further apart than the tolerance, a fraction of the capacity (half of that if one is
/// exact).
bool capacities_agree(const Interval& a, const Interval& b, double tolerance);

/// Capacities: the place that lies in the most intervals is the reference, as an interval that
/// overlaps what overlaps half of these; ambiguous if two places that do not agree have as many. Of
/// exact values it is the unique plurality. Ballots without an interval ("not present") are values
/// of their own. @pre ballots not empty
Quorum count_capacities(const std::vector<Ballot>& ballots, double tolerance);

/// Whether that device has the value of the quorum. @pre the quorum is not ambiguous
bool agrees(const Ballot& ballot, const Quorum& quorum, double tolerance);

}  // namespace sonde
