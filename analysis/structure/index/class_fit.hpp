// The index function of a cache from one of its sets: lines that share it, and lines that do not.
// Method: docs/methods/index-function.md.
#pragma once

#include "analysis/structure/index/index_function.hpp"
#include "analysis/structure/sets/line_pool.hpp"

namespace sonde {

/// A function that explains less of what was seen is none.
inline constexpr double enough_agreement = 0.995;

/// Whether it tells the set of every line, and sets are few enough to be listed.
bool can_number_sets(const IndexFunction& index);

/// The function that puts `members` into one set and `others` into other sets. All sets of a
/// function are assumed to be there: a mask of k bits makes 2^k of them.
IndexFunction fit_class(const Lines& members, const Lines& others, const LinePool& space);

/// Number of the set of a line under a resolved function.
std::uint64_t set_of(const IndexFunction& index, std::uint64_t offset_bytes);

}  // namespace sonde
