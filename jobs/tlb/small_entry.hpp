// The entry of a TLB level whose inner levels have larger ones: page-stride chases cannot show it,
// conflicts in a full set can.
#pragma once

#include "jobs/tlb/geometry.hpp"

namespace sonde {

/// The entry of a level, if it is smaller than that of an inner one, which answers for its
/// neighbours: two places lie in one entry if they take the place of one in a full set. nullopt if
/// no set was found to overflow.
/// @param tlb as if its entries were those of the inner level
std::optional<std::uint64_t> find_small_entry(const TlbUnderTest& tlb);

}  // namespace sonde
