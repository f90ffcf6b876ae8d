// Walks over pages, one line each: what translations cost. Shared by the jobs on TLBs and
// latencies.
#pragma once

#include "analysis/structure/edge.hpp"
#include "analysis/structure/miss_blocks.hpp"
#include "analysis/structure/tlb_levels.hpp"
#include "jobs/chase_walk.hpp"

namespace sonde {

/// What the second visit of a pair loads: the same line; or, where a virtually addressed cache
/// would then answer before any TLB, the block beside it. The visits then also go the other way
/// round, so that what the two blocks take cancels.
enum class SecondVisit { same_line, next_block };

/// What all page walks on one device have in common.
struct PageSetup {
  ChaseSetup chase;
  std::uint64_t limit_bytes = 0;  // memory that may be touched
  std::uint64_t most_pages = 0;   // so many lines stay in the L2 for sure
  SecondVisit second_visit = SecondVisit::same_line;
  Offsets swept;  // in every pass over pairs, behind them: pushes them out of nearer data caches
};

/// Through the path cg, so that no L1 hides a translation.
PageSetup set_up_page_walks(JobRun& run);

/// The same through a linear texture.
PageSetup set_up_texture_walks(JobRun& run);

/// The same over one buffer of so many bytes, whatever the list.
PageSetup with_buffer(PageSetup setup, std::uint64_t buffer_bytes);

/// Pages `page_step_bytes` apart, lines spread over `room_bytes` of each so that they do not meet
/// in one set of a cache.
PageSpread spread_pages(std::uint64_t page_step_bytes, std::uint64_t room_bytes);

/// Cost of each page's translation in a steady cyclic walk: the first visit less the second one
/// right after it, medians over passes.
PageWalkCosts measure_page_costs(JobRun& run, const PageSetup& setup, std::uint64_t span_bytes,
                                 const PageSpread& spread);

/// Walks over spans of 1 MiB, 2 MiB, ... up to the limit, in steps of 256 KiB or, where those would
/// be more than most_pages, in the smallest power of two that is not. Ends early, without the
/// larger ones, if the device cannot give so much memory: the limit is then what it gave.
std::vector<PageWalkCosts> measure_growing_walks(JobRun& run, PageSetup& setup);

/// Places of one SM's walk, each visited twice in a row.
struct PairLane {
  int sm = 0;
  Offsets places;
};
struct PairPasses {
  std::uint64_t warmup = 0;
  std::uint64_t timed = 1;
  std::uint64_t most_pairs = ~std::uint64_t{0};  // timed in all
};

/// What the first visit of each timed pair cost beyond the second, for each lane in order. All
/// lanes walk at once. For the many walks of a search.
/// @pre lanes have lists of one length
std::vector<std::vector<double>> pair_costs(JobRun& run, const PageSetup& setup,
                                            const std::string& label,
                                            const std::vector<PairLane>& lanes,
                                            const PairPasses& passes);

/// A level of the TLB with what nearer levels need to be pushed out.
struct TlbSubject {
  std::string name;
  TlbLevel level;
  std::uint64_t nearer_step_bytes = 0;  // largest entry of the nearer levels; 0: it is the nearest
  std::uint64_t nearer_pages = 0;       // so many entries of that size empty them
  std::uint64_t nearer_entries = 0;     // of the largest of them
  double nearer_threshold_cycles = 0;   // a cost above it misses all of them
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

/// Latencies of the first visits to pages nobody has touched since everything was flushed: of
/// several lines of each page the soonest, as the memory of the other half of the L2 takes longer.
std::vector<double> measure_cold_pages(JobRun& run, const PageSetup& setup,
                                       std::uint64_t span_bytes, std::uint64_t page_step_bytes);

}  // namespace sonde
