// Page-stride chases (one line of each page) and the costs of their translations (Mei and Chu 2016,
// section 5). The jobs on TLBs infer levels, capacities and sets from these costs.
#pragma once

#include "analysis/structure/capacity/tlb_levels.hpp"
#include "base/gpu_facts.hpp"
#include "base/units.hpp"
#include "jobs/chase/pointer_chase.hpp"
#include "jobs/tlb/access_pairs.hpp"

#include <functional>

namespace sonde {

/// What all page-stride chases on one load path have in common.
struct PageChaseSetup {
  JobRun& run;
  ChaseSetup chase = {};
  std::uint64_t limit_bytes = 0;  // memory that may be accessed
  std::uint64_t most_pages = 0;   // pages of one chase
  std::uint64_t kept_pages = 0;   // the L2 keeps one line of each of this many pages
  // For pairs from the memory: both lines of a pair lie in one part of this size.
  std::uint64_t part_bytes = smallest_page_bytes;
  double least_step_cycles = 0;  // smallest rise of the cost that counts as a level
  SecondAccess second_access = SecondAccess::same_line;
  Offsets swept = {};  // accessed after the pairs of every pass, to empty data caches
};

/// Every L2 keeps one line of each of this many pages.
inline constexpr std::uint64_t fewest_pages = 64;

/// Twice the entries of the largest known TLB level (2048 on an H200). At least this many pages are
/// chased, even if the L2 keeps fewer lines.
inline constexpr std::uint64_t overfilling_pages = 4096;

/// @param path past the L1, so that no L1 hit avoids the translation; or through a linear texture
PageChaseSetup set_up_page_chases(JobRun& run, LoadPath path);

/// The largest distance of a line from the start of its page: room for 2048 lines of 32 bytes.
inline constexpr std::uint64_t widest_spread_bytes = 64_KiB;

/// Pages in steps of `page_step_bytes`, with lines spread over `spread_bytes` of each page so that
/// they use different cache sets.
PageSpread spread_pages(std::uint64_t page_step_bytes, std::uint64_t spread_bytes);

/// How many lines of each page are measured, one after the other.
struct LinesTried {
  static constexpr std::uint64_t fewest = 3;
  std::uint64_t most = 9;
  /// Returns true if the costs so far suffice, so that no further lines are needed.
  std::function<bool(const std::vector<double>& cost_cycles)> is_clear = {};
};

/// Returns a test whether at most this share of the costs lies between half of the threshold and
/// one and a half times the threshold. More lines would then hardly improve the answer.
std::function<bool(const std::vector<double>& cost_cycles)> clear_of(double threshold_cycles,
                                                                     double unclear_share = 0);

/// Costs of the translations at `firsts`, positions of accesses that are repeated immediately:
/// first minus second access, medians over passes and several lines of each page.
/// @param plan_of returns the chase for a shift, see page_line
std::vector<double> measure_costs(const PageChaseSetup& setup, const std::string& label,
                                  const LinesTried& lines, const std::vector<std::size_t>& firsts,
                                  const std::function<ChasePlan(std::uint64_t shift)>& plan_of);

/// The same for every pair of a steady cyclic chase. Uses lines from the memory if there are more
/// than `kept_pages` pairs. @pre the pairs then lie in different pages of any size
/// @param pairs_of returns the list for a shift: each access twice in a row
/// @param lines fewer are used if the list is long
std::vector<double> measure_steady_costs(const PageChaseSetup& setup, const std::string& label,
                                         const std::function<Offsets(std::uint64_t)>& pairs_of,
                                         LinesTried lines = {});

/// The same for one line of every page of a span.
PageChaseCosts measure_page_costs(const PageChaseSetup& setup, std::uint64_t span_bytes,
                                  const PageSpread& spread, const LinesTried& lines = {});

/// Chases over spans of 1, 2, 4, ... MiB up to the limit, in steps of 256 KiB, or of the smallest
/// power of two with at most most_pages. If the device cannot provide the memory, the larger spans
/// are left out and the limit becomes the largest span that it provided.
std::vector<PageChaseCosts> measure_growing_chases(PageChaseSetup& setup);

struct PairPasses {
  std::uint64_t warmup = 0;  // from the memory at most most_passes_to_settle
  std::uint64_t timed = 1;
  std::uint64_t most_pairs = ~std::uint64_t{0};  // timed pairs altogether
};

/// Cost of the translation of each timed pair, for each lane. All lanes are chased at once. Uses
/// lines from the memory if all lanes together have more than `kept_pages` pairs.
/// @param lanes lists of equal length with the place of each pair once; all on the setup's path
std::vector<std::vector<double>> pair_costs(const PageChaseSetup& setup, const std::string& label,
                                            const std::vector<ChaseLane>& lanes,
                                            const PairPasses& passes);

}  // namespace sonde
