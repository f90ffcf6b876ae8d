// Finds TLB levels from chases over more and more pages, by the cost of their translations.
#pragma once

#include <cstdint>
#include <vector>

namespace sonde {

/// Cost of each page's translation in a steady cyclic chase, beyond that of a page just accessed.
struct PageChaseCosts {
  std::uint64_t span_bytes = 0;
  std::vector<double> cost_cycles;
};

/// One level. A miss costs `penalty_cycles` (a hit of the next level); up to `fitting_bytes`
/// nothing misses, at `overflowing_bytes` most entries do.
struct TlbLevel {
  double penalty_cycles = 0;
  double threshold_cycles = 0;  // a higher cost is a miss of this level
  std::uint64_t fitting_bytes = 0;
  std::uint64_t overflowing_bytes = 0;
};

/// Levels, from chases over growing spans in ascending order of addresses. In an overflowing LRU
/// level every entry misses in each pass: a notable share of the pages costs more than in the
/// smallest chases. These are no level: a few expensive pages (switches of the page-table window),
/// pages that longer chases do not confirm, and a second cost with the first misses of the level
/// before (caches of page tables).
/// @param least_step_cycles smaller rises are noise
std::vector<TlbLevel> find_tlb_levels(const std::vector<PageChaseCosts>& chases,
                                      double least_step_cycles);

}  // namespace sonde
