// What holds for caches and TLBs alike.
#include "jobs/sets/sets_probe.hpp"

#include <algorithm>

namespace sonde {

bool SetFindings::confirmed() const {
  constexpr double least_agreement = 0.95;  // sets that other chases contradict more often are none
  return layout.resolved() && layout.agreement >= least_agreement;
}

std::optional<PassEvictors> SetsProbe::find_other_pass_evictors(const PassEvictors& /*first*/) {
  return std::nullopt;
}

void SetsProbe::spread_over_sms(const PassEvictors& /*pass_evictors*/) {}

std::optional<LinePool> SetsProbe::widen_pool(const SetFindings& /*found*/) const {
  return std::nullopt;
}

MissOracle ask_behind(SetsProbe& probe, PassEvictors pass_evictors) {
  return [&probe, pass_evictors = std::move(pass_evictors)](std::span<const Lines> lists) {
    return probe.ask(lists, pass_evictors);
  };
}

TracePlan plan_policy_traces(std::size_t accesses, std::size_t longest) {
  constexpr std::size_t fewest_traces = 4;
  constexpr std::size_t most_traces = 64;
  const std::size_t length = std::min(longest, accesses);
  return {
      .policy_accesses = length,
      .policy_traces = std::clamp(fewest_traces * accesses / length, fewest_traces, most_traces)};
}

}  // namespace sonde
