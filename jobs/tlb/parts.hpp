// The parts of the job `tlb`: jobs/tlb/levels goes through the levels that one load path meets, and
// asks each for its units and its reach (reach.cpp), its sets (level_sets.cpp), and its scope.
#pragma once

#include "jobs/sets/sets_probe.hpp"
#include "jobs/tlb/geometry.hpp"

#include <algorithm>
#include <span>
#include <string>

namespace sonde {

struct TlbLevels {
  std::vector<TlbLevel> levels = {};
  std::vector<std::uint64_t> steps_bytes = {};  // of chases that show each: its entry, or a larger
                                                // one of an inner level; 0: not resolved
  std::vector<BlockSize> granularities = {};    // of the levels whose granularity was seen
  std::uint64_t largest_entry_bytes = 0;

  /// What an entry covers, of each level.
  bool knows_entries() const {
    return !steps_bytes.empty() && std::ranges::find(steps_bytes, 0U) == steps_bytes.end();
  }
};

/// Finds levels among chases over growing spans, inner ones first, as many as there are names.
/// Measures and reports every metric of each, and those of the other names as not present.
TlbLevels characterize_tlb_levels(const PageChaseSetup& setup,
                                  const std::vector<PageChaseCosts>& chases,
                                  std::span<const char* const> names);

/// Chases the pages through a linear texture: where each level of plain loads fits and overflows,
/// it must cost the same. If it does not, reports the levels `tlb.texture_l1` and `tlb.texture_l2`;
/// else reports them as not present.
/// @param loads the setup of the chases that found the levels of plain loads
void report_texture_tlbs(PageChaseSetup loads, const TlbLevels& plain);

/// Below this share of sets that behave in other chases as predicted, the number of entries is what
/// the reach says.
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

/// The sets of a level. Where sets or policy do not come out, they are looked for again on another
/// SM and at another place. What was found is reported.
/// @throws DeviceError, DeviceLostError
SetFindings find_sets_in_draws(const TlbUnderTest& tlb);

/// Reports `.scope`, from pairs of SM 0 with every other SM that chase different entries at once,
/// together more than the level holds; named by what the job topology found (analysis/sharing).
/// Gives back SMs of which no two share the level; none if none are known.
/// @pre granularity, entry and entries are known
std::vector<int> report_tlb_scope(const TlbUnderTest& tlb);

}  // namespace sonde
