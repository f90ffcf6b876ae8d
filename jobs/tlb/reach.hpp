// How far all entries of a level of a TLB reach, with what the way it was measured leaves open.
#pragma once

#include "analysis/results.hpp"
#include "analysis/structure/sets/set_layout.hpp"
#include "jobs/tlb/geometry.hpp"

namespace sonde {

// Below this share of sets that behave in other chases as predicted, the number of entries is what
// the reach says.
inline constexpr double sure_agreement = 0.99;

struct Reach {
  std::uint64_t bytes = 0;  // 0: not resolvable
  double confidence = 0;
  std::string reason = {};
};

/// All ways of all sets, if they are known; else the bound, if spans at ten other places bear it
/// out. @param bound as measure_reach found it
Reach settle_reach(const TlbUnderTest& tlb, const CapacityBound& bound, const SetLayout& sets);

/// Largest power-of-two block with one entry: 1.4 times the reach, one page of each block, misses
/// in most places if each takes an entry. nullopt if pages at equal distances overflow the level
/// and as many at random do not: the distance leaves sets alone. @pre the granularity is known
std::optional<std::uint64_t> measure_entry(const TlbUnderTest& tlb);

}  // namespace sonde
