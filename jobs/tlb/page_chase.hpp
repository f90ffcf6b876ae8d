// Page-stride chases, one line of each page: what their translations cost (Mei and Chu 2016,
// section 5). The jobs on TLBs look for levels, capacities and sets in these costs.
#pragma once

#include "analysis/structure/capacity/tlb_levels.hpp"
#include "base/gpu_facts.hpp"
#include "base/units.hpp"
#include "jobs/chase/pointer_chase.hpp"
#include "jobs/tlb/access_pairs.hpp"

#include <functional>

namespace sonde {

/// What all page-stride chases of one load path have in common.
struct PageChaseSetup {
  JobRun& run;
  ChaseSetup chase = {};
  std::uint64_t limit_bytes = 0;  // memory that may be accessed
  std::uint64_t most_pages = 0;   // of one chase
  std::uint64_t kept_pages = 0;   // a line of so many stays in the L2
  // From the memory: both lines of a pair lie within so much.
  std::uint64_t part_bytes = smallest_page_bytes;
  double least_step_cycles = 0;  // smallest rise of a cost that makes a level
  SecondAccess second_access = SecondAccess::same_line;
  Offsets swept = {};  // in every pass over pairs, behind them: pushes them out of data caches
};

/// Any L2 keeps a line of so many pages.
inline constexpr std::uint64_t fewest_pages = 64;

/// Twice as many entries as the largest level of a TLB that is known (2048 on an H200). So many
/// pages are chased even where the L2 keeps fewer lines.
inline constexpr std::uint64_t overfilling_pages = 4096;

/// Smallest rise of a cost that makes a level, where the clock shows every cycle.
inline constexpr double least_tlb_step_cycles = 3;

/// Past the L1, so that no L1 answers before a translation.
PageChaseSetup set_up_page_chases(JobRun& run);

/// The same through a linear texture.
PageChaseSetup set_up_texture_chases(JobRun& run);

/// Lines all over a page, but at most so far from its start: 2048 of 32 bytes.
inline constexpr std::uint64_t widest_spread_bytes = 64_KiB;

/// Pages `page_step_bytes` apart, lines spread over `spread_bytes` of each so that they do not meet
/// in one set of a cache.
PageSpread spread_pages(std::uint64_t page_step_bytes, std::uint64_t spread_bytes);

/// How many lines of each page are tried, one after the other.
struct LinesTried {
  static constexpr std::uint64_t fewest = 3;
  std::uint64_t most = 9;
  /// Whether the costs so far answer what is asked, so that no further lines need be tried.
  std::function<bool(const std::vector<double>& cost_cycles)> is_clear = {};
};

/// That no more than this share of the costs lies between half of the threshold and one and a half:
/// more lines would tell hits from misses hardly better.
std::function<bool(const std::vector<double>& cost_cycles)> clear_of(double threshold_cycles,
                                                                     double unclear_share = 0);

/// Costs of the translations at `firsts`, places of accesses that are repeated at once: the first
/// access less the second, medians over passes and over several lines of each page.
/// @param plan_of gives the chase for a shift, see page_line
std::vector<double> measure_costs(const PageChaseSetup& setup, const std::string& label,
                                  const LinesTried& lines, const std::vector<std::size_t>& firsts,
                                  const std::function<ChasePlan(std::uint64_t shift)>& plan_of);

/// The same for every pair of a steady cyclic chase, three passes timed. From the memory where the
/// pairs are more than `kept_pages`.
/// @pre then they lie in different pages, whatever size those have
/// @param pairs_of gives the list for a shift: each access twice in a row
/// @param lines fewer are tried where the list is long
std::vector<double> measure_steady_costs(const PageChaseSetup& setup, const std::string& label,
                                         const std::function<Offsets(std::uint64_t)>& pairs_of,
                                         LinesTried lines = {});

/// The same for one line of every page of a span.
PageChaseCosts measure_page_costs(const PageChaseSetup& setup, std::uint64_t span_bytes,
                                  const PageSpread& spread, const LinesTried& lines = {});

/// Chases over spans of 1, 2, ... MiB up to the limit, in steps of 256 KiB or, where that
/// would be more than most_pages, in the smallest power of two that is not. Ends early, without the
/// larger ones, if the device cannot give so much memory: the limit is then what it gave.
std::vector<PageChaseCosts> measure_growing_chases(PageChaseSetup& setup);

/// Latencies of the first accesses to pages that nobody accessed since everything was flushed: of
/// several lines of each page the soonest, as the memory of the other L2 partition takes longer.
std::vector<double> measure_cold_pages(const PageChaseSetup& setup, std::uint64_t span_bytes,
                                       std::uint64_t page_step_bytes);

struct PairPasses {
  std::uint64_t warmup = 0;  // from the memory at most most_passes_to_settle
  std::uint64_t timed = 1;
  std::uint64_t most_pairs = ~std::uint64_t{0};  // timed in all
};

/// What the first access of each timed pair cost beyond the second, for each lane in order. All
/// lanes chase at once. For the many chases of a search. From the memory where the pairs of all
/// lanes are more than `kept_pages`.
/// @param lanes with lists of one length: places of pairs, each once; all take the setup's path
std::vector<std::vector<double>> pair_costs(const PageChaseSetup& setup, const std::string& label,
                                            const std::vector<ChaseLane>& lanes,
                                            const PairPasses& passes);

/// What a second access takes to a line of each of these places, its translation at hand: medians
/// of a few passes.
/// @pre second accesses go to the same line
std::vector<double> second_access_cycles(const PageChaseSetup& setup, const std::string& label,
                                         const Offsets& places);

/// What each access of a list takes, each made once and in this order, in one launch.
/// @pre the list can be recorded at once
std::vector<double> single_access_cycles(const PageChaseSetup& setup, const std::string& label,
                                         Offsets places);

}  // namespace sonde
