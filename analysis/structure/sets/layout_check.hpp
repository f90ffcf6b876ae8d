// Further chases against the ways of sets that were found. A part of find_set_layout.
#pragma once

#include "analysis/structure/sets/line_pool.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace sonde {

/// Number of a line's set; none: unknown.
using SetOfLine = std::function<std::optional<std::uint64_t>(std::uint64_t line)>;

struct LayoutCheck {
  std::uint64_t sets = 0;  // in chases that no inference has seen
  double agreement = 0;    // share of them that overflowed as predicted
};

/// Chases random lines of known sets: every set that they overfill must overflow, and no
/// other in every order of the lines.
/// @param fitting_lines a chase is a quarter longer
LayoutCheck check_ways(const std::vector<std::uint32_t>& ways_by_set, const SetOfLine& set_of_line,
                       const LinePool& space, std::size_t fitting_lines, const MissOracle& ask);

}  // namespace sonde
