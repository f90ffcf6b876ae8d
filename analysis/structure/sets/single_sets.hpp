// Sets looked for one by one, where no function of the address tells them. A part of
// find_set_layout.
#pragma once

#include "analysis/structure/sets/conflict_set.hpp"
#include "analysis/structure/sets/line_pool.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace sonde {

/// By number of the set.
struct SingleSets {
  std::vector<Lines> lines;         // the conflict's first
  std::vector<std::uint32_t> ways;  // left by co-resident lines
  std::string reason;               // why not all are found; empty: all are
};

/// All sets that lines of the pool overflow; or a dozen of them, with the reason, where there must
/// be far more than can be looked for. @param first a conflict found in the pool
SingleSets take_single_sets(const LinePool& space, Lines pool, const EvictionSet& first,
                            const MissOracle& ask);

}  // namespace sonde
