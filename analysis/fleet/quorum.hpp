// Structure is compared exactly: the value that more devices have than any other is the reference
// (unique plurality); a tie is ambiguous and nobody is judged by it.
#pragma once

#include "analysis/fleet/fleet.hpp"

namespace sonde {

struct Ballot {
  std::size_t device = 0;
  std::string text;   // equal texts are equal values
  std::string shown;  // as a person reads it
  double confidence = 1;
};

struct Quorum {
  std::string text = "";  // "" on a tie
  std::string shown = "";
  std::size_t agreeing = 0;
  bool ambiguous = false;
  double confidence = 1;  // lowest among the agreeing
};

/// @pre ballots not empty
Quorum count_votes(const std::vector<Ballot>& ballots);

/// Statistics and findings of every structural metric of every group, appended.
void compare_structure(const RunResult& run, const std::vector<ComparisonGroup>& groups,
                       std::span<const Metric> registry, FleetAnalysis& analysis);

}  // namespace sonde
