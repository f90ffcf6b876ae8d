// What the records of one set say of its replacement policy; and from several sets to that of their
// cache.
#pragma once

#include "analysis/structure/replacement/policies.hpp"

#include <optional>
#include <string>
#include <vector>

namespace sonde {

/// How much of the records one candidate explains. For random replacement: 1 less the
/// difference between the share of misses seen and expected.
struct PolicyScore {
  Policy policy = Policy::lru;
  std::string variant;  // empty: the usual one
  double agreement = 0;
};

struct ReplacementFit {
  std::optional<Policy> policy;  // empty: none, or not one alone
  std::vector<Policy> alike;     // empty: clear; else all that explain the records equally well
  double agreement = 0;          // of the policy, or of the best one
  std::vector<double> way_probability;  // random, weighted ways: of ways in order of first fill
  double confidence = 0;                // 0.95 and more only if distinguished clearly
  std::string reason;                   // why none, or which variant
  std::vector<PolicyScore> scores;      // every candidate tried: the evidence
};

/// The policy of a cache from those of several of its sets: the one that nearly all of them allow,
/// else none.
ReplacementFit combine_sets(const std::vector<ReplacementFit>& sets);

}  // namespace sonde
