// Walks over pages, one line each: what translations cost. Shared by the jobs on TLBs and
// latencies.
#pragma once

#include "analysis/structure/capacity/capacity_search.hpp"
#include "analysis/structure/capacity/miss_blocks.hpp"
#include "analysis/structure/capacity/tlb_levels.hpp"
#include "jobs/chase/pointer_chase.hpp"

namespace sonde {

/// What the second access of a pair loads: the same line; or, where a virtually addressed cache
/// would then answer before any TLB, the block co_resident it. The accesses then also go the other
/// way round, so that what the two blocks take cancels.
enum class SecondAccess { same_line, next_block };

/// What all page chases on one device have in common.
struct PageChaseSetup {
  ChaseSetup chase;
  std::uint64_t limit_bytes = 0;  // memory that may be touched
  std::uint64_t most_pages = 0;   // so many lines stay in the L2 for sure
  SecondAccess second_access = SecondAccess::same_line;
  Offsets swept;  // in every pass over pairs, behind them: pushes them out of inner data caches
};

/// Through the path cg, so that no L1 hides a translation.
PageChaseSetup set_up_page_chases(JobRun& run);

/// The same through a linear texture.
PageChaseSetup set_up_texture_chases(JobRun& run);

/// The same over one buffer of so many bytes, whatever the list.
PageChaseSetup with_buffer(PageChaseSetup setup, std::uint64_t buffer_bytes);

/// Pages `page_step_bytes` apart, lines spread over `room_bytes` of each so that they do not meet
/// in one set of a cache.
PageSpread spread_pages(std::uint64_t page_step_bytes, std::uint64_t room_bytes);

/// Cost of each page's translation in a steady cyclic chase: the first access less the second one
/// right after it, medians over passes.
PageChaseCosts measure_page_costs(JobRun& run, const PageChaseSetup& setup,
                                  std::uint64_t span_bytes, const PageSpread& spread);

/// Walks over spans of 1 MiB, 2 MiB, ... up to the limit, in steps of 256 KiB or, where those would
/// be more than most_pages, in the smallest power of two that is not. Ends early, without the
/// larger ones, if the device cannot give so much memory: the limit is then what it gave.
std::vector<PageChaseCosts> measure_growing_chases(JobRun& run, PageChaseSetup& setup);

/// Places of one SM's chase, each accessed twice in a row.
struct PairLane {
  int sm = 0;
  Offsets places;
};
struct PairPasses {
  std::uint64_t warmup = 0;
  std::uint64_t timed = 1;
  std::uint64_t most_pairs = ~std::uint64_t{0};  // timed in all
};

/// What the first access of each timed pair cost beyond the second, for each lane in order. All
/// lanes chase at once. For the many chases of a search.
/// @pre lanes have lists of one length
std::vector<std::vector<double>> pair_costs(JobRun& run, const PageChaseSetup& setup,
                                            const std::string& label,
                                            const std::vector<PairLane>& lanes,
                                            const PairPasses& passes);

/// A level of the TLB with what inner levels need to be pushed out.
struct TlbUnderTest {
  std::string name;
  TlbLevel level;
  std::uint64_t inner_step_bytes = 0;  // largest entry of the inner levels; 0: it is the nearest
  std::uint64_t inner_pages = 0;       // so many entries of that size empty them
  std::uint64_t inner_entries = 0;     // of the largest of them
  double inner_threshold_cycles = 0;   // a cost above it misses all of them
};

/// Smallest part of memory that is translated anew: the distance between misses of fresh
/// translations in small steps. nullopt if it is larger than the chase could show.
std::optional<BlockSize> measure_granularity(JobRun& run, const PageChaseSetup& setup,
                                             const TlbUnderTest& tlb);

/// Largest power-of-two block with one entry: 1.4 times the reach, one page of each block, misses
/// in most places if each takes an entry. An entry may hold several granularities.
std::uint64_t measure_entry(JobRun& run, const PageChaseSetup& setup, const TlbUnderTest& tlb,
                            std::uint64_t granularity_bytes);

/// The bound of the level in steps of `step_bytes`, or coarser where those were too many pages, to
/// `relative_precision`. Lines stay within the first granularity of each page, so that the pages
/// are those meant.
/// @param missing_share pages that may miss in a chase that fits
CapacityBound measure_reach(JobRun& run, const PageChaseSetup& setup, const TlbUnderTest& tlb,
                            std::uint64_t granularity_bytes, std::uint64_t step_bytes,
                            double relative_precision, double missing_share = 0);

/// What asking again and again at an bound showed.
struct ReachCheck {
  bool is_steady = true;         // it fits and overflows where the bound says
  double overflowing_share = 0;  // pages that miss in the first chase that does not fit
};
ReachCheck check_reach(JobRun& run, const PageChaseSetup& setup, const TlbUnderTest& tlb,
                       const CapacityBound& bound, std::uint64_t granularity_bytes,
                       std::uint64_t step_bytes);

/// Latencies of the first accesses to pages nobody has touched since everything was flushed: of
/// several lines of each page the soonest, as the memory of the other half of the L2 takes longer.
std::vector<double> measure_cold_pages(JobRun& run, const PageChaseSetup& setup,
                                       std::uint64_t span_bytes, std::uint64_t page_step_bytes);

}  // namespace sonde
