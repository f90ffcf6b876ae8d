// Combines the fits of several sets.
#include "analysis/structure/replacement/replacement_fit.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sonde {
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
