// Elimination: every deterministic model is played; what none explains is tried as random
// replacement.
#include "analysis/structure/replacement/match.hpp"

#include "analysis/structure/replacement/bimodal_search.hpp"
#include "analysis/structure/replacement/random_policies.hpp"
#include "base/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <unordered_set>

namespace sonde {
namespace {

// Two models are distinguished by this many accesses net (chance at 10^-3 outliers: none), most of
// those on which they differ.
constexpr std::size_t least_lead = 8;
constexpr double least_lead_share = 0.6;
constexpr double ambiguous_confidence = 0.5;
// Insertions of BRRIP that are not distant: one in 32 (Jaleel 2010), others in use from 1 in 64 to
// 1 in 16.
constexpr double most_near_share = 0.1;

/// A candidate's outcome for every access of all records, one record after the other.
struct Candidate {
  const ModelRule* rule = nullptr;
  std::vector<bool> missed;
  OutcomeTally tally;
};

std::vector<bool> join_outcomes(const std::vector<AccessRecord>& records) {
  std::vector<bool> missed;
  for (const AccessRecord& record : records) {
    missed.insert(missed.end(), record.missed.begin(), record.missed.end());
  }
  return missed;
}

/// Whether each access is its line's first in its record.
std::vector<bool> mark_first_accesses(const std::vector<AccessRecord>& records) {
  std::vector<bool> first;
  for (const AccessRecord& record : records) {
    std::unordered_set<std::uint16_t> accessed;
    for (std::uint16_t line : record.lines) first.push_back(accessed.insert(line).second);
  }
  return first;
}

std::vector<Candidate> play_candidates(std::uint32_t ways, const std::vector<AccessRecord>& records,
                                       const std::vector<bool>& seen) {
  using Access = OutcomeTally::Access;
  const std::vector<bool> first = mark_first_accesses(records);
  std::vector<Candidate> candidates;
  for (const ModelRule& rule : all_model_rules()) {
    Candidate candidate{&rule, {}, {}};
    for (const AccessRecord& record : records) {
      const std::vector<bool> missed = play_trace(rule, ways, record.lines);
      candidate.missed.insert(candidate.missed.end(), missed.begin(), missed.end());
    }
    for (std::size_t i = 0; i < seen.size(); ++i) {
      candidate.tally.count(first[i] ? Access::first : Access::later, candidate.missed[i], seen[i]);
    }
    candidates.push_back(std::move(candidate));
  }
  return candidates;
}

bool is_distinguished(const Candidate& best, const Candidate& rival) {
  std::size_t differing = 0;
  for (std::size_t i = 0; i < best.missed.size(); ++i)
    differing += best.missed[i] != rival.missed[i];
  const std::size_t lead =
      best.tally.explained - std::min(best.tally.explained, rival.tally.explained);
  return lead >= least_lead &&
         static_cast<double>(lead) >= least_lead_share * static_cast<double>(differing);
}

bool usual(const Candidate& candidate) { return candidate.rule->variant.empty(); }

/// Of several candidates alike the one that stands first: usual variants stand before the others.
const Candidate& simplest(const std::vector<Candidate>& candidates) {
  const Candidate& best = *std::ranges::max_element(
      candidates, {}, [](const Candidate& c) { return c.tally.explained; });
  return *std::ranges::find_if(candidates,
                               [&](const Candidate& c) { return !is_distinguished(best, c); });
}

/// Other policies that are as usual and explain the records as well.
std::vector<Policy> policies_alike(const std::vector<Candidate>& candidates,
                                   const Candidate& chosen) {
  std::vector<Policy> alike;
  for (const Candidate& candidate : candidates) {
    const Policy policy = candidate.rule->policy;
    if (policy == chosen.rule->policy || (usual(chosen) && !usual(candidate))) continue;
    const bool known = std::ranges::find(alike, policy) != alike.end();
    if (!known && !is_distinguished(chosen, candidate)) alike.push_back(policy);
  }
  return alike;
}

std::string name_all(const std::vector<Policy>& policies) {
  std::vector<std::string_view> names;
  for (Policy policy : policies) names.push_back(to_text(policy));
  return fmt::format("{}", fmt::join(names, ", "));
}

double confidence_of(double agreement) { return std::clamp(1 - 10 * (1 - agreement), 0.0, 0.99); }

/// One way: every policy does the same.
ReplacementFit no_choice() {
  ReplacementFit fit;
  for (const ModelRule& rule : all_model_rules()) {
    if (rule.variant.empty()) fit.alike.push_back(rule.policy);
  }
  fit.alike.insert(fit.alike.end(), {Policy::brrip, Policy::random, Policy::weighted_ways});
  fit.agreement = 1;
  fit.reason = "one way leaves nothing to choose";
  return fit;
}

void conclude(ReplacementFit& fit, const std::vector<Candidate>& candidates,
              const Candidate& chosen, std::uint32_t ways) {
  std::vector<Policy> others = policies_alike(candidates, chosen);
  if (others.empty()) {
    fit.policy = chosen.rule->policy;
    fit.confidence = confidence_of(fit.agreement);
    fit.reason = chosen.rule->variant;
    return;
  }
  fit.alike = std::move(others);
  fit.alike.insert(fit.alike.begin(), chosen.rule->policy);
  fit.confidence = ambiguous_confidence;
  fit.reason = fmt::format("{} cannot be distinguished with {} ways and these chases",
                           name_all(fit.alike), ways);
}

/// Fills in BRRIP if it explains the records as well as the best rule or better.
bool match_bimodal(std::uint32_t ways, const std::vector<AccessRecord>& records,
                   const Candidate& rule, ReplacementFit& fit) {
  const BimodalFit bimodal = fit_bimodal(ways, records);
  fit.scores.push_back({Policy::brrip, "", bimodal.tally.agreement()});
  if (!bimodal.tally.convincing() || bimodal.near_share > most_near_share) return false;
  const std::uint64_t by_rule = rule.tally.convincing() ? rule.tally.explained : 0;
  if (by_rule >= bimodal.tally.explained + least_lead) return false;
  fit.agreement = bimodal.tally.agreement();
  fit.reason = fmt::format("{:.1f} % of {} insertions were not distant", 100 * bimodal.near_share,
                           bimodal.insertions);
  if (by_rule + least_lead > bimodal.tally.explained) {
    fit.alike = {Policy::brrip, rule.rule->policy};
    fit.confidence = ambiguous_confidence;
    fit.reason += fmt::format("; {} ({}) explains the accesses as well", to_text(rule.rule->policy),
                              rule.rule->variant);
  } else {
    fit.policy = Policy::brrip;
    fit.confidence = confidence_of(fit.agreement);
  }
  return true;
}

}  // namespace

ReplacementFit match_replacement(std::uint32_t ways,
                                 const std::vector<AccessRecord>& policy_records,
                                 const std::vector<AccessRecord>& cyclic_records) {
  require(ways > 0, "a set has no ways (nothing can be replaced) pass the ways that were found");
  std::vector<AccessRecord> records = policy_records;
  records.insert(records.end(), cyclic_records.begin(), cyclic_records.end());
  for (const AccessRecord& record : records) {
    require(record.lines.size() == record.missed.size(),
            "a record of a set has not one outcome for each access (they are read together)");
  }
  if (ways == 1) return no_choice();
  const std::vector<bool> seen = join_outcomes(records);
  ReplacementFit fit;
  if (seen.empty()) {
    fit.reason = "no accesses were recorded";
    return fit;
  }
  const std::vector<Candidate> candidates = play_candidates(ways, records, seen);
  for (const Candidate& c : candidates) {
    fit.scores.push_back({c.rule->policy, std::string(c.rule->variant), c.tally.agreement()});
  }
  const Candidate& chosen = simplest(candidates);
  fit.agreement = chosen.tally.agreement();
  // BRRIP is no rule that can be played; what resembles it must not take its place: variants, and
  // SRRIP where every line is hit before it could be replaced.
  const bool settled =
      chosen.tally.convincing() && usual(chosen) && chosen.rule->policy != Policy::srrip;
  if (!settled && match_bimodal(ways, records, chosen, fit)) return fit;
  if (chosen.tally.convincing()) {
    conclude(fit, candidates, chosen, ways);
    return fit;
  }
  fit.reason = fmt::format("no known rule explains the accesses ({} meets {:.1f} %)",
                           to_text(chosen.rule->policy), 100 * fit.agreement);
  return match_random(ways, policy_records, cyclic_records, std::move(fit));
}

}  // namespace sonde
