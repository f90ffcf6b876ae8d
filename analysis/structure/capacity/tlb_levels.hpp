// Levels of a TLB from chases over ever more pages: what a translation costs beyond that of a page
// just accessed, and from how much memory on.
#pragma once

#include <cstdint>
#include <vector>

namespace sonde {

/// Cost of each page's translation in a steady cyclic chase over `span_bytes`.
struct PageChaseCosts {
  std::uint64_t span_bytes = 0;
  std::vector<double> cost_cycles;
};

/// One level: its misses cost `penalty_cycles` (hits of the next level); up to `fitting_bytes`
/// nothing misses, at `overflowing_bytes` most entries do.
struct TlbLevel {
  double penalty_cycles = 0;
  double threshold_cycles = 0;  // a cost above it is a miss of this level
  std::uint64_t fitting_bytes = 0;
  std::uint64_t overflowing_bytes = 0;
};

/// Levels from chases over growing spans, ascending, in the order of addresses. In an overflowing
/// LRU level every entry misses once a pass, so a level shows as a higher cost of a notable share
/// of the pages, above what the smallest chases show as noise. Pages that cost more but are few
/// (crossing a page-table window) make no level, nor do those that longer chases do not have; nor
/// does a higher cost that comes with the first misses of the level before (caches of page tables,
/// which some of those find).
/// @param least_step_cycles smaller rises are noise
std::vector<TlbLevel> find_tlb_levels(const std::vector<PageChaseCosts>& chases,
                                      double least_step_cycles);

}  // namespace sonde
