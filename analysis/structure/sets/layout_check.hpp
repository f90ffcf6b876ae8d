// A layout put to the test by chases that no inference has seen: a part of find_set_layout.
#pragma once

#include "analysis/structure/sets/set_layout.hpp"

#include <functional>

namespace sonde {

/// Number of a line's set; none: unknown.
using SetOfLine = std::function<std::optional<std::uint64_t>(std::uint64_t line)>;

/// Chases random lines whose sets are known: every set that they overfill must overflow, and no
/// other. Fills in the sets checked and the share of them that did so.
void check_layout(const LinePool& space, const std::vector<std::uint32_t>& ways_by_set,
                  const SetOfLine& set_of_line, const MissOracle& ask, SetLayout& found);

}  // namespace sonde
