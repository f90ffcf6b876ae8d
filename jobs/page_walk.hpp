// Walks over pages, one line each: what translations cost. Shared by the jobs on TLBs and
// latencies.
#pragma once

#include "analysis/structure/edge.hpp"
#include "analysis/structure/miss_blocks.hpp"
#include "analysis/structure/tlb_levels.hpp"
#include "jobs/chase_walk.hpp"

namespace sonde {

/// What all page walks on one device have in common.
struct PageSetup {
  ChaseSetup chase;
  std::uint64_t limit_bytes = 0;  // memory that may be touched
  std::uint64_t most_pages = 0;   // so many lines stay in the L2 for sure
};

/// Through the path cg, so that no L1 hides a translation.
PageSetup set_up_page_walks(JobRun& run);

/// Pages `page_step_bytes` apart, lines spread over `room_bytes` of each so that they do not meet
/// in one set of a cache.
PageSpread spread_pages(std::uint64_t page_step_bytes, std::uint64_t room_bytes);

/// Cost of each page's translation in a steady cyclic walk: the first visit less the second one
/// right after it, medians over passes.
PageWalkCosts measure_page_costs(JobRun& run, const PageSetup& setup, std::uint64_t span_bytes,
                                 const PageSpread& spread);

/// Walks over spans of 1 MiB, 2 MiB, ... up to the limit, in steps of 256 KiB or, where those would
/// be more than most_pages, in the smallest power of two that is not. Ends early, without the
/// larger ones, if the device cannot give so much memory.
std::vector<PageWalkCosts> measure_growing_walks(JobRun& run, const PageSetup& setup);

/// A level of the TLB with what nearer levels need to be pushed out.
struct TlbSubject {
  std::string name;
  TlbLevel level;
  std::uint64_t nearer_step_bytes = 0;  // largest entry of the nearer levels; 0: it is the nearest
  std::uint64_t nearer_pages = 0;       // so many entries of that size empty them
};

/// Smallest part of memory that is translated anew: the distance between misses of fresh
/// translations in small steps. nullopt if it is larger than the walk could show.
std::optional<BlockSize> measure_granule(JobRun& run, const PageSetup& setup,
                                         const TlbSubject& tlb);

/// Largest power-of-two block with one entry: 1.4 times the reach, one page of each block, misses
/// in most places if each takes an entry. An entry may hold several granules.
std::uint64_t measure_entry(JobRun& run, const PageSetup& setup, const TlbSubject& tlb,
                            std::uint64_t granule_bytes);

/// The edge of the level in steps of `step_bytes`, or coarser where those were too many pages, to
/// `relative_precision`. Lines stay within the first granule of each page, so that the pages are
/// those meant.
/// @param missing_share pages that may miss in a walk that fits
Edge measure_reach(JobRun& run, const PageSetup& setup, const TlbSubject& tlb,
                   std::uint64_t granule_bytes, std::uint64_t step_bytes, double relative_precision,
                   double missing_share = 0);

/// What asking again and again at an edge showed.
struct ReachCheck {
  bool is_steady = true;         // it fits and overflows where the edge says
  double overflowing_share = 0;  // pages that miss in the first walk that does not fit
};
ReachCheck check_reach(JobRun& run, const PageSetup& setup, const TlbSubject& tlb, const Edge& edge,
                       std::uint64_t granule_bytes, std::uint64_t step_bytes);

/// Latencies of the first visits to pages nobody has touched since everything was flushed.
std::vector<double> measure_cold_pages(JobRun& run, const PageSetup& setup,
                                       std::uint64_t span_bytes, std::uint64_t page_step_bytes);

}  // namespace sonde
