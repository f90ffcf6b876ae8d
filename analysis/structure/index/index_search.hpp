// From lines with known sets to the index function. The sets come from evictions: they have
// arbitrary numbers, and a few lines have a wrong one.
#pragma once

#include "analysis/structure/index/index_function.hpp"

#include <cstdint>
#include <vector>

namespace sonde {

/// The function that puts the lines into these sets, whatever their numbers. Tries XOR folds; then
/// one set, fields of address bits, and free XORs of bits (GF(2)-linear); then remainders. Of equal
/// fits the first counts: a fold also says what a bit does that hardly varies in memory. Method:
/// docs/methods/index-function.md.
/// @param lines either of all sets, each with its label, of which about 1 % may be wrong; or the
/// lines of one set, and others labelled `other_set`: then k masks are taken to give 2^k sets
/// @param line_bytes the smallest granularity of a remainder
/// @param buffer_address address of offset 0: the function depends on addresses, not on offsets
IndexFunction fit_index_function(const std::vector<PlacedLine>& lines, std::uint64_t line_bytes,
                                 std::uint64_t buffer_address = 0);

}  // namespace sonde
