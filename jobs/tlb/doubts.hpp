// What may be something else than it is reported as: such findings keep their values, and lose
// their confidence.
#pragma once

#include "analysis/structure/capacity/tlb_levels.hpp"
#include "jobs/tlb/geometry.hpp"

#include <span>
#include <vector>

namespace sonde {

/// Doubts a reported level behind others of which an entry covers more than any TLB's (16 pages
/// since Turing) of what those translate at once. It may be that of a cache of page tables, if they
/// translate several pages at once.
void doubt_wide_entries(const TlbUnderTest& tlb);

/// Doubts the reported levels behind one that may hide another (level_that_may_hide_another): they
/// may be one further out than they are named.
void doubt_levels_behind(const PageChaseSetup& setup, const std::vector<PageChaseCosts>& chases,
                         std::span<const char* const> names, const std::vector<TlbLevel>& levels);

}  // namespace sonde
