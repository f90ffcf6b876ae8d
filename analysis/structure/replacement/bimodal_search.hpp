// BRRIP (Jaleel 2010): most new lines are inserted at the distant interval and few, at random, at
// the long one, one below it. Which ones does not show; it is read back from what it led to.
#pragma once

#include "analysis/structure/replacement/policy_trace.hpp"

#include <cstdint>
#include <vector>

namespace sonde {

struct BimodalFit {
  OutcomeTally tally;            // of the likeliest history
  double near_share = 0;         // of the insertions that mattered: those at the long interval
  std::uint64_t insertions = 0;  // that mattered
};

/// Follows the likeliest histories of a set under BRRIP side by side (beam search): an
/// insertion is decided when a search for a victim first meets it. Gives up early where BRRIP
/// explains little.
BimodalFit fit_bimodal(std::uint32_t ways, const std::vector<AccessRecord>& records);

}  // namespace sonde
