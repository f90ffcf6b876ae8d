// Sets, index function and replacement of a level of a TLB: the searches of analysis/structure on
// entries, and what they found as findings.
#pragma once

#include "jobs/tlb_oracle.hpp"

#include <optional>

namespace sonde {

/// Reports `.sets .ways .ways_per_set .tag_reach_bytes .index_function .replacement
/// .way_probability` of the level.
/// @return the number of entries in all sets, if every set was found and checked
std::optional<std::uint64_t> characterize_tlb_sets(JobRun& run, const PageSetup& setup,
                                                   const TlbShape& shape);

}  // namespace sonde
