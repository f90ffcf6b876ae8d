// From lines whose sets were seen to the function of the address that chooses the set: who evicts
// whom sorted them, so sets have arbitrary numbers and a few lines a wrong one.
#pragma once

#include "analysis/structure/index/index_function.hpp"

#include <cstdint>
#include <vector>

namespace sonde {

/// The function that puts the lines into sets as they were seen, up to the names of the sets: one
/// set, a field of offset bits, XORs of offset bits (GF(2)-linear), or a modulo.
/// Method: docs/methods/index-function.md.
/// @param lines either of all sets, each with its label, of which about 1 % may be wrong; or the
/// lines of one set, and others labelled `other_set`: then all 2^k sets of k masks are assumed to
/// be there
/// @param line_bytes the smallest granularity of a modulo
/// @param buffer_address of offset 0: sets are chosen by addresses, which are offsets only from a
/// multiple of all that the function looks at on
IndexFunction fit_index_function(const std::vector<PlacedLine>& lines, std::uint64_t line_bytes,
                                 std::uint64_t buffer_address = 0);

}  // namespace sonde
