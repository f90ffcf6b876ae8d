// Sets, index function and replacement of a level of a TLB: the searches of analysis/structure on
// entries, and what they found as findings.
#pragma once

#include "jobs/sets/tlb_probe.hpp"

#include <optional>

namespace sonde {

/// The entry of a level, if it is smaller than that of a inner one, which hides neighbours from
/// it: two places lie in one entry if they take the room of one in a full set. nullopt if no set
/// was found to overflow.
/// @param outline as if its entries were those of the inner level
std::optional<std::uint64_t> find_small_entry(JobRun& run, const PageChaseSetup& setup,
                                              const TlbGeometry& outline);

/// Reports `.sets .ways .ways_per_set .tag_reach_bytes .index_function .replacement
/// .way_probability` of the level.
/// @return the number of entries in all sets, if every set was found and checked
std::optional<std::uint64_t> characterize_tlb_sets(JobRun& run, const PageChaseSetup& setup,
                                                   const TlbGeometry& shape);

}  // namespace sonde
