// From chases over the lines of one isolated set to its replacement policy, by elimination; and
// from several sets to that of their cache.
#pragma once

#include "analysis/structure/replacement/access_record.hpp"
#include "analysis/structure/replacement/policies.hpp"
#include "analysis/structure/replacement/policy_trace.hpp"

#include <cstdint>
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

/// The policy that explains the records. Deterministic ones are played and compared access by
/// access: at least 0.99 of all and 0.95 of the accesses on which candidates differ; then BRRIP by
/// its likeliest insertions; then random replacement, by the victims in cyclic chases. Method:
/// docs/methods/replacement.md.
/// @param policy_records chases by policy_trace, the same or different ones
/// @param cyclic_records chases by cyclic_trace, many short ones (about 2500 victims in all give
/// probabilities to 0.03); may be empty
/// @throws Error if there are no ways, or a record is not as described
ReplacementFit match_replacement(std::uint32_t ways,
                                 const std::vector<AccessRecord>& policy_records,
                                 const std::vector<AccessRecord>& cyclic_records);

/// The policy of a cache from those of several of its sets: the one that all of them allow, set
/// duelling if some follow SRRIP and some BRRIP, else none.
ReplacementFit combine_sets(const std::vector<ReplacementFit>& sets);

}  // namespace sonde
