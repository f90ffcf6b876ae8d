// How much memory one entry of a TLB level covers.
#pragma once

#include "jobs/tlb/geometry.hpp"

namespace sonde {

/// Largest power-of-two block with one entry: 1.4 times the reach, one page of each block, misses
/// in most places if each takes an entry. nullopt if pages at equal distances overflow the level
/// and as many at random do not: the distance leaves sets alone. @pre the granularity is known
std::optional<std::uint64_t> measure_entry(const TlbUnderTest& tlb);

}  // namespace sonde
