// The parts of the job `tlb`. jobs/tlb/levels measures the levels of one load path: granularity and
// reach (reach.cpp), sets (level_sets.cpp), and scope.
#pragma once

#include "jobs/sets/sets_probe.hpp"
#include "jobs/tlb/geometry.hpp"

#include <algorithm>
#include <span>
#include <string>

namespace sonde {

struct TlbLevels {
  std::vector<TlbLevel> levels = {};
  std::vector<std::uint64_t> steps_bytes = {};  // of chases that show each level; 0: not resolved
  std::vector<BlockSize> granularities = {};    // of the levels where it was seen
  std::uint64_t largest_entry_bytes = 0;

  /// Whether the step of every level is known.
  bool knows_entries() const {
    return !steps_bytes.empty() && std::ranges::find(steps_bytes, 0U) == steps_bytes.end();
  }
};

/// Finds levels in chases over growing spans, inner levels first, at most as many as there are
/// names. Reports every metric of each level; the other names as not present, or as not resolvable
/// if a further level could go unnoticed.
TlbLevels characterize_tlb_levels(const PageChaseSetup& setup,
                                  const std::vector<PageChaseCosts>& chases,
                                  std::span<const char* const> names);

/// Chases pages through a linear texture. If it costs as much as plain loads where each of their
/// levels fits and overflows, reports texture levels as not present; else measures and reports
/// `tlb.texture_l1` and `tlb.texture_l2`.
/// @param loads the setup that found the levels of plain loads
void report_texture_tlbs(PageChaseSetup loads, const TlbLevels& plain);

struct Reach {
  std::uint64_t bytes = 0;  // 0: not resolvable
  double confidence = 0;
  std::string reason = {};
};

/// The reach: all ways of all sets if they are known; else the bound, if spans at ten other places
/// confirm it. @param bound from measure_reach
Reach settle_reach(const TlbUnderTest& tlb, const CapacityBound& bound, const SetLayout& sets);

/// Largest power-of-two block that one entry covers. Chases one page per block over 1.4 times the
/// reach: an eighth or more miss if each block takes an entry. nullopt if pages at equal distances
/// overflow the level but as many random pages do not (unused sets). @pre the granularity is known
std::optional<std::uint64_t> measure_entry(const TlbUnderTest& tlb);

/// Finds and reports the sets of a level. If sets or policy are not resolved, searches again on
/// other SMs and at other places.
/// @throws DeviceError, DeviceLostError
SetFindings find_sets_in_draws(const TlbUnderTest& tlb);

/// Reports `.scope`: SM 0 and every other SM in turn chase different entries at once, together more
/// than the level holds. The scope is named by the findings of the job topology (analysis/sharing).
/// Returns SMs of which no two share the level; empty if none are known.
/// @pre granularity, entry and entries are known
std::vector<int> report_tlb_scope(const TlbUnderTest& tlb);

}  // namespace sonde
