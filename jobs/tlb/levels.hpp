// The levels of the TLB that one load path meets, each with everything that is asked of a level.
#pragma once

#include "analysis/structure/capacity/miss_blocks.hpp"
#include "jobs/tlb/page_chase.hpp"

#include <algorithm>
#include <span>
#include <string>

namespace sonde {

struct TlbLevels {
  std::vector<TlbLevel> levels;
  std::vector<std::uint64_t> steps_bytes;  // of chases that show each: its entry, or a larger one
                                           // of an inner level; 0: not resolved
  std::vector<BlockSize> granularities;    // of the levels whose granularity was seen
  std::uint64_t largest_entry_bytes = 0;
  std::uint64_t chased_bytes = 0;

  /// What an entry covers, of each level.
  bool knows_entries() const {
    return !steps_bytes.empty() && std::ranges::find(steps_bytes, 0U) == steps_bytes.end();
  }
};

/// Levels among chases over growing spans, inner ones first, as many as there are names.
TlbLevels find_levels(const PageChaseSetup& setup, const std::vector<PageChaseCosts>& chases,
                      std::size_t most_levels);

/// Measures and reports every metric of each level found, and those of the other names as not
/// present. Fills in all but `levels` and `chased_bytes`.
void characterize_tlb_levels(const PageChaseSetup& setup, const std::vector<PageChaseCosts>& chases,
                             std::span<const char* const> names, TlbLevels& found);

}  // namespace sonde
