// What holds for caches and TLBs alike: when sets count as confirmed, and the probe as the oracle
// that the searches of analysis/structure/sets ask.
#include "jobs/sets/sets_probe.hpp"

namespace sonde {

bool SetFindings::confirmed() const {
  constexpr double least_agreement = 0.95;  // sets that other chases contradict more often are none
  return layout.resolved() && layout.agreement >= least_agreement;
}

MissOracle ask_behind(SetsProbe& probe, PassEvictors pass_evictors) {
  return [&probe, pass_evictors = std::move(pass_evictors)](std::span<const Lines> lists) {
    return probe.ask(lists, pass_evictors);
  };
}

}  // namespace sonde
