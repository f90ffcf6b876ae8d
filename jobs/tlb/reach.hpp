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
  std::uint64_t bytes = 0;
  double confidence = 1;
  std::string remark = {};
  std::optional<Interval> interval = {};  // in bytes, where it depends on the place
  std::uint64_t replicates = 1;
};

/// To the entry, or, where the transition is gradual, less exactly. 0 bytes if no span overflows
/// it.
Reach measure_checked_reach(const TlbUnderTest& tlb);

/// The reach with what the sets say, where only one entry of several could be asked for: those
/// may lie in all sets or in some of them.
Reach account_for_sets(const TlbUnderTest& tlb, Reach reach, const SetLayout& sets);

/// Largest power-of-two block with one entry: 1.4 times the reach, one page of each block, misses
/// in most places if each takes an entry. nullopt if pages at equal distances overflow the level
/// and as many at random do not: the distance leaves sets alone. @pre the granularity is known
std::optional<std::uint64_t> measure_entry(const TlbUnderTest& tlb);

}  // namespace sonde
