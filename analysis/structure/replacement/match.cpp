// Plays every deterministic model; if none explains the records, tries random replacement. Combines
// the fits of several sets.
#include "analysis/structure/replacement/match.hpp"

#include "base/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <unordered_set>

namespace sonde {
namespace {

// Two models are distinguished by a net lead of this many accesses (never by chance at 10^-3
// outliers), which are most of the accesses on which they differ.
constexpr std::size_t least_lead = 8;
constexpr double least_lead_share = 0.6;
constexpr double ambiguous_confidence = 0.5;

/// How well a rule explains the records. First accesses miss under every policy, so they count only
/// as accesses. Outliers then cost a good rule little, and a rule that predicts hardly any misses
/// does not profit from the many hits of a large set.
struct OutcomeTally {
  std::uint64_t accesses = 0;
  std::uint64_t explained = 0;
  std::uint64_t predicted_misses = 0;
  std::uint64_t false_alarms = 0;  // predicted misses that were hits
  std::uint64_t seen_misses = 0;
  std::uint64_t surprises = 0;  // seen misses that were predicted as hits

  void count(bool is_first, bool predicted_miss, bool seen_miss) {
    ++accesses;
    explained += predicted_miss == seen_miss;
    if (is_first) return;
    predicted_misses += predicted_miss;
    false_alarms += predicted_miss && !seen_miss;
    seen_misses += seen_miss;
    surprises += seen_miss && !predicted_miss;
  }

  double agreement() const {
    return accesses == 0 ? 0 : static_cast<double>(explained) / static_cast<double>(accesses);
  }

  /// At least 0.99 of the accesses and 0.95 of the predicted misses are right, and unpredicted
  /// misses are as rare as outliers (one in 10^4; 3 in 10^3 are tolerated) plus 0.05 of the misses.
  bool convincing() const {
    constexpr double least_agreement = 0.99;
    constexpr double most_unmet = 0.05;
    constexpr double most_outliers = 3e-3;
    const auto share = [](double part, std::uint64_t whole) {
      return part * static_cast<double>(whole);
    };
    return agreement() >= least_agreement &&
           static_cast<double>(false_alarms) <= share(most_unmet, predicted_misses) &&
           static_cast<double>(surprises) <=
               share(most_outliers, accesses) + share(most_unmet, seen_misses);
  }
};

/// A rule, and its outcomes for all records, one record after the other.
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

/// For each access, whether it is the first one of its line in its record.
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
  const std::vector<bool> first = mark_first_accesses(records);
  std::vector<Candidate> candidates;
  for (const ModelRule& rule : all_model_rules()) {
    Candidate candidate{&rule, {}, {}};
    for (const AccessRecord& record : records) {
      const std::vector<bool> missed = play_trace(rule, ways, record.lines);
      candidate.missed.insert(candidate.missed.end(), missed.begin(), missed.end());
    }
    for (std::size_t i = 0; i < seen.size(); ++i) {
      candidate.tally.count(first[i], candidate.missed[i], seen[i]);
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

/// Of several equally good candidates the first; usual variants stand before others.
const Candidate& simplest(const std::vector<Candidate>& candidates) {
  const Candidate& best = *std::ranges::max_element(
      candidates, {}, [](const Candidate& c) { return c.tally.explained; });
  return *std::ranges::find_if(candidates,
                               [&](const Candidate& c) { return !is_distinguished(best, c); });
}

/// Other policies that explain the records equally well.
std::vector<Policy> policies_alike(const std::vector<Candidate>& candidates,
                                   const Candidate& chosen) {
  std::vector<Policy> alike;
  for (const Candidate& candidate : candidates) {
    const Policy policy = candidate.rule->policy;
    const bool known = std::ranges::find(alike, policy) != alike.end();
    if (policy != chosen.rule->policy && !known && !is_distinguished(chosen, candidate))
      alike.push_back(policy);
  }
  return alike;
}

std::string name_all(const std::vector<Policy>& policies) {
  std::vector<std::string_view> names;
  for (Policy policy : policies) names.push_back(to_text(policy));
  return fmt::format("{}", fmt::join(names, ", "));
}

double confidence_of(double agreement) { return std::clamp(1 - 10 * (1 - agreement), 0.0, 0.99); }

/// With one way, all policies behave the same.
ReplacementFit no_choice() {
  ReplacementFit fit;
  for (const ModelRule& rule : all_model_rules()) {
    if (rule.variant.empty()) fit.alike.push_back(rule.policy);
  }
  fit.alike.insert(fit.alike.end(), {Policy::set_duelling, Policy::random, Policy::weighted_ways});
  fit.agreement = 1;
  fit.reason = "with one way, all policies behave the same";
  return fit;
}

void conclude(ReplacementFit& fit, const std::vector<Candidate>& candidates,
              const Candidate& chosen, std::uint32_t ways) {
  std::vector<Policy> others = policies_alike(candidates, chosen);
  // Set duelling: other sets, or this set at other times, may insert lines at random intervals.
  if (chosen.rule->policy == Policy::srrip) others.push_back(Policy::set_duelling);
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
  if (chosen.tally.convincing()) {
    conclude(fit, candidates, chosen, ways);
    return fit;
  }
  fit.reason = fmt::format("no known rule explains the accesses ({} explains {:.1f} %)",
                           to_text(chosen.rule->policy), 100 * fit.agreement);
  return match_random(ways, policy_records, cyclic_records, std::move(fit));
}

namespace {

// Some sets may be disturbed by another line; this fraction of the sets must agree.
constexpr double least_agreeing_sets = 0.8;

bool enough(std::size_t count, const std::vector<ReplacementFit>& sets) {
  return static_cast<double>(count) >= least_agreeing_sets * static_cast<double>(sets.size());
}

bool allows(const ReplacementFit& fit, Policy policy) {
  if (fit.policy) return fit.policy == policy;
  return std::ranges::find(fit.alike, policy) != fit.alike.end();
}

/// Means over the sets that allow a policy.
void average(ReplacementFit& cache, const std::vector<ReplacementFit>& sets, Policy policy) {
  double agreeing = 0;
  for (const ReplacementFit& fit : sets) {
    if (!allows(fit, policy)) continue;
    ++agreeing;
    cache.agreement += fit.agreement;
    cache.confidence += fit.confidence;
    cache.way_probability.resize(
        std::max(cache.way_probability.size(), fit.way_probability.size()));
    for (std::size_t way = 0; way < fit.way_probability.size(); ++way) {
      cache.way_probability[way] += fit.way_probability[way];
    }
  }
  cache.agreement /= agreeing;
  cache.confidence *= 1 / static_cast<double>(sets.size());  // sets that disagree count as 0
  for (double& share : cache.way_probability) share /= agreeing;
}

/// The policies that most sets allow, if enough do.
std::vector<Policy> common_policies(const std::vector<ReplacementFit>& sets) {
  std::vector<Policy> common;
  std::size_t most = 1;
  for (Policy policy :
       {Policy::lru, Policy::fifo, Policy::tree_plru, Policy::nru, Policy::clock, Policy::srrip,
        Policy::set_duelling, Policy::guarded_lru, Policy::random, Policy::weighted_ways}) {
    const auto count = static_cast<std::size_t>(
        std::ranges::count_if(sets, [&](const auto& fit) { return allows(fit, policy); }));
    if (count < most || !enough(count, sets)) continue;
    if (count > most) common.clear();
    most = count;
    common.push_back(policy);
  }
  return common;
}

}  // namespace

ReplacementFit combine_sets(const std::vector<ReplacementFit>& sets) {
  ReplacementFit cache;
  if (sets.empty()) {
    cache.reason = "no set was chased";
    return cache;
  }
  const std::vector<Policy> common = common_policies(sets);
  if (common.empty()) {
    cache.reason = sets.size() == 1 ? sets.front().reason
                                    : fmt::format("{} sets follow no common policy: {}",
                                                  sets.size(), sets.front().reason);
    return cache;
  }
  average(cache, sets, common.front());
  cache.scores = sets.front().scores;
  const auto told =
      std::ranges::find_if(sets, [&](const auto& fit) { return allows(fit, common.front()); });
  cache.reason = told->reason;
  if (common.size() == 1) {
    cache.policy = common.front();
  } else {
    cache.alike = common;
  }
  return cache;
}

}  // namespace sonde
