// The replacement policy of one set, from its records; and of a cache, from several sets.
#pragma once

#include "analysis/structure/replacement/policies.hpp"

#include <optional>
#include <string>
#include <vector>

namespace sonde {

/// The fraction of the records that a candidate explains. Random replacement: 1 minus the
/// difference between the seen and the expected fraction of misses.
struct PolicyScore {
  Policy policy = Policy::lru;
  std::string variant;  // empty: the usual one
  double agreement = 0;
};

struct ReplacementFit {
  std::optional<Policy> policy;  // empty: none, or several are alike
  std::vector<Policy>
      alike;             // if there is no single policy: all that explain the records equally well
  double agreement = 0;  // of the policy, or of the best candidate
  std::vector<double> way_probability;  // random, weighted ways: by order of first fill
  double confidence = 0;                // at least 0.95 only if clearly distinguished
  std::string reason;                   // why there is none, or the variant
  std::vector<PolicyScore> scores;      // all candidates
};

/// The policy of a cache: the one that at least 0.8 of its sets allow, else none.
ReplacementFit combine_sets(const std::vector<ReplacementFit>& sets);

}  // namespace sonde
