// Lines of some sets that always miss. Behind them a search sees sets whose level has room besides
// that any overfull set may take: on an H200 nine entries of one set of the second TLB stay, and
// eighteen of two sets miss, as a rule. Method: docs/methods/tlb.md.
#pragma once

#include "analysis/structure/sets/miss_oracle.hpp"

#include <string>

namespace sonde {

struct BusyLines {
  Lines lines;         // all of which miss, in every order; ascending
  Lines others;        // of their sets: they miss beside those; ascending
  std::string reason;  // no lines: why not
};

/// Lines of four sets or more, out of longer and longer parts of the pool, that miss again and
/// again when chased alone, in every one of some orders.
/// @param pool lines in random order
/// @param fitting_lines so many of them were seen to fit
BusyLines find_busy_lines(const Lines& pool, std::size_t fitting_lines, const MissOracle& ask);

}  // namespace sonde
