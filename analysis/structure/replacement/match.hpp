// Finds the replacement policy of one isolated set from chases over its lines, by elimination; and
// that of a cache from several sets.
#pragma once

#include "analysis/structure/replacement/policies.hpp"
#include "analysis/structure/replacement/policy_trace.hpp"

#include <cstdint>
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

/// The policy that explains the records. Plays each deterministic policy and compares access by
/// access: it must explain at least 0.99 of all accesses and 0.95 of the misses that it predicts,
/// and leave hardly any miss unexplained. Else tries random replacement, by the victims of the
/// cyclic chases. Method: docs/methods/replacement.md.
/// @param policy_records chases by policy_trace, equal or different ones
/// @param cyclic_records many short chases by cyclic_trace; may be empty. About 2500 victims in all
/// give probabilities to 0.03.
/// @throws Error if there are no ways, or if a record is not as described
ReplacementFit match_replacement(std::uint32_t ways,
                                 const std::vector<AccessRecord>& policy_records,
                                 const std::vector<AccessRecord>& cyclic_records);

/// Random replacement or weighted ways, if the victims of cyclic chases show it and the other
/// chases miss as often. Adds scores to `fit`; returns it with a reason if neither holds. A part of
/// match_replacement (random_policies.cpp).
ReplacementFit match_random(std::uint32_t ways, const std::vector<AccessRecord>& policy_records,
                            const std::vector<AccessRecord>& cyclic_records, ReplacementFit fit);

/// The policy of a cache: the one that at least 0.8 of its sets allow, else none.
ReplacementFit combine_sets(const std::vector<ReplacementFit>& sets);

}  // namespace sonde
