// The patterns P1 to P6 of the job `latency`: one chase after a flush, recorded from its start.
#include "analysis/statistics.hpp"
#include "analysis/structure/latency/latency_classes.hpp"
#include "analysis/structure/latency/latency_patterns.hpp"
#include "analysis/structure/latency/memory_replicates.hpp"
#include "base/gpu_facts.hpp"
#include "jobs/chase/known_l2.hpp"
#include "jobs/chase/pattern_order.hpp"
#include "jobs/chase/pointer_chase.hpp"
#include "jobs/latency/parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <optional>
#include <span>
#include <utility>

namespace sonde {
namespace {

std::uint64_t number_or(const JobRun& run, std::string_view metric, std::uint64_t otherwise) {
  return static_cast<std::uint64_t>(run.number(metric).value_or(static_cast<double>(otherwise)));
}

/// The first data cache of a path as earlier jobs found it; a small one if they did not run.
struct DataCache {
  std::uint64_t line_bytes = common_line_bytes;
  std::uint64_t lines = 64;  // that it keeps
};

DataCache data_cache(const JobRun& run, LoadPath path) {
  const auto lines_of = [](double size_bytes, double line_bytes) {
    return DataCache{static_cast<std::uint64_t>(line_bytes),
                     static_cast<std::uint64_t>(size_bytes / line_bytes)};
  };
  const auto l1_bytes = run.number("cache.l1.size_bytes");
  const auto l1_line_bytes = run.number("cache.l1.line_bytes");
  if (path != LoadPath::past_l1 && l1_bytes && l1_line_bytes)
    return lines_of(*l1_bytes, *l1_line_bytes);
  const double l2_bytes = known_l2_part_bytes(run);
  const auto l2_line_bytes = run.number("cache.l2.line_bytes");
  return l2_bytes > 0 && l2_line_bytes ? lines_of(l2_bytes, *l2_line_bytes) : DataCache{};
}

/// Hits at least as slow are L2 hits, for which the job tlb saw the cost of translations. nullopt
/// if hits of the first cache are hardly faster. Other caches may lie between the two. For several
/// partitions: of the nearest one.
std::optional<double> least_l2_hit_cycles(const JobRun& run) {
  constexpr double least_share = 0.9;
  const auto l1_cycles = run.number("cache.l1.hit_latency_cycles");
  const Finding* l2 = run.finding("cache.l2.hit_latency_cycles");
  if (l2 == nullptr) return std::nullopt;
  const double l2_cycles =
      l2->modes.empty() ? *run.number("cache.l2.hit_latency_cycles") : std::ranges::min(l2->modes);
  const double least_cycles = least_share * l2_cycles;
  if (l1_cycles && *l1_cycles + least_first_cache_gap_cycles > least_cycles) return std::nullopt;
  return least_cycles;
}

/// What the job tlb reported of its levels, if it ran.
struct SeenTlb {
  KnownTlb known;
  bool knows_last = true;         // the reach of the outermost level, and that no level follows
  bool knows_entries = true;      // the size of an entry of each level that was seen
  std::uint64_t entry_bytes = 0;  // largest of all levels, like the next two
  std::uint64_t reach_bytes = 0;
  std::uint64_t entries = 0;
};

SeenTlb seen_tlb(const JobRun& run) {
  const Finding* first_reach = run.answer("tlb.l1.reach_bytes");
  SeenTlb seen;
  KnownTlb& known = seen.known;
  known.exists = first_reach != nullptr && first_reach->status != Status::not_present;
  bool all_reach = true;
  for (const std::string level : {"tlb.l1", "tlb.l2", "tlb.l3"}) {
    const Finding* reach = run.answer(level + ".reach_bytes");
    const bool is_absent = reach != nullptr && reach->status == Status::not_present;
    // Without a reach, the level may be a cache of page tables.
    const bool is_level = reach != nullptr && reach->status == Status::ok;
    if (all_reach && !is_level) seen.knows_last = is_absent;
    all_reach = all_reach && is_level;
    known.ends |= is_absent;
    const auto miss_cycles = run.number(level + ".miss_penalty_cycles");
    const bool is_seen = level == "tlb.l1" || miss_cycles;
    seen.knows_entries &= !is_seen || run.number(level + ".entry_bytes");
    seen.entry_bytes = std::max(seen.entry_bytes, number_or(run, level + ".entry_bytes", 0));
    seen.reach_bytes = std::max(seen.reach_bytes, number_or(run, level + ".reach_bytes", 0));
    seen.entries = std::max(seen.entries, number_or(run, level + ".entries", 0));
    if (!miss_cycles) continue;
    known.has_outer_level = known.first_miss_cycles.has_value() && is_level;
    if (!known.first_miss_cycles) known.first_miss_cycles = miss_cycles;
    known.last_miss_cycles = miss_cycles;
  }
  known.ends |= seen.knows_last;
  known.translated_cycles = least_l2_hit_cycles(run);
  return seen;
}

/// Distance of P5 and P6 pages if an entry may cover any number of pages: as far as memory allows,
/// but hardly any page of P5 may lie beyond the border of a page-table window. Some memory is left
/// over, as the chase runs at several places.
std::uint64_t distant_pages(const PatternRequest& request) {
  constexpr std::uint64_t pages_of_window = 16;
  constexpr std::uint64_t parts = distant_cold_pages + distant_cold_pages / 3;
  const std::uint64_t window_pages = request.window_bytes / request.page_step_bytes;
  std::uint64_t pages = (request.most_pages - std::min(request.most_pages, window_pages)) / parts;
  if (window_pages > 0) pages = std::min(pages, window_pages / pages_of_window);
  return std::bit_floor(std::max<std::uint64_t>(1, pages));
}

PatternRequest request_patterns(const JobRun& run, LoadPath path, const SeenTlb& tlb) {
  PatternRequest request;
  const std::uint64_t page_bytes = number_or(run, "tlb.page_bytes", large_page_bytes);
  // Without a known page, pages may have any size, or several: then lines of a page lie close.
  const bool knows_page = run.number("tlb.page_bytes").has_value();
  const bool asked = run.answer("tlb.page_bytes") != nullptr;
  request.granularity_bytes = knows_page || !asked ? page_bytes : smallest_page_bytes;
  const DataCache cache = data_cache(run, path);
  request.line_step_bytes = cache.line_bytes;
  request.most_lines = cache.lines;
  request.window_bytes = number_or(run, "tlb.page_window_bytes", 0);
  request.page_step_bytes = std::max(page_bytes, tlb.entry_bytes);
  request.near_entries = number_or(run, "tlb.l1.entries", 0);
  request.next_entries = number_or(run, "tlb.l2.reach_bytes", 0) / request.page_step_bytes;
  // Pages that are several entries apart may still use every set.
  request.all_entries = std::max(tlb.entries, tlb.reach_bytes / request.page_step_bytes);
  request.knows_last = tlb.knows_last;
  request.most_pages = usable_memory_bytes(run.info()) / request.page_step_bytes;
  const bool may_share_entries = tlb.known.exists && !tlb.knows_entries;
  request.cold_distance = may_share_entries ? distant_pages(request) : 1;
  return request;
}

/// Samples of the replicates of a chase, by pattern.
struct PatternReplicates {
  std::array<std::vector<std::vector<double>>, pattern_count> samples;  // [pattern][replicate]
  PatternLatencies pooled;

  /// @return the samples that decide whether there are enough replicates: those of memory, or of
  /// hits if there are none
  std::vector<double> add(PatternLatencies latencies) {
    for (std::size_t i = 0; i < pattern_count; ++i) {
      pooled[i].insert(pooled[i].end(), latencies[i].begin(), latencies[i].end());
      if (!latencies[i].empty()) samples[i].push_back(latencies[i]);
    }
    const auto& [p1, p2, p3, p4, p5, p6] = latencies;
    return p4.empty() ? p1 : p4;
  }
};

/// The samples of each replicate in the group that gave the value.
std::vector<std::vector<double>> within(const PatternFinding& pattern,
                                        std::span<const std::vector<double>> replicates) {
  std::vector<std::vector<double>> kept;
  for (std::vector<double> samples : replicates) {
    std::erase_if(samples, [&](double cycles) {
      return cycles < pattern.low_cycles || cycles > pattern.high_cycles;
    });
    if (!samples.empty()) kept.push_back(std::move(samples));
  }
  return kept;
}

/// Whether two groups of memory latencies differ as much as the partitions of the memory.
bool are_of_partitions(const JobRun& run, const Finding& of_memory) {
  constexpr double most_ratio = 1.5;
  constexpr double most_noise_cycles = 20;
  const auto near_cycles = run.number("latency.dram_near_cycles");
  const auto far_cycles = run.number("latency.dram_far_cycles");
  return near_cycles && far_cycles &&
         of_memory.modes.back() - of_memory.modes.front() <=
             most_ratio * (*far_cycles - *near_cycles) + most_noise_cycles;
}

/// The finding of a pattern that was inferred: the centre of its replicates; for memory patterns as
/// in memory_replicates.hpp. Two groups count as near and far only if the memory has two
/// partitions. The slower group of P5 may be as slow as P6: first accesses beyond the border of a
/// page-table window.
/// @param switch_cycles the latency of P6, for P5, if P6 was seen
Finding as_finding(const JobRun& run, const std::string& metric, const PatternFinding& pattern,
                   Pattern kind, std::span<const std::vector<double>> replicates,
                   std::optional<double> switch_cycles) {
  if (pattern.status != Status::ok) return no_answer(metric, pattern.status, pattern.reason);
  Finding finding = found(metric, pattern.cycles, pattern.confidence, pattern.samples,
                          normal_scale * pattern.spread_cycles);
  finding.reason = pattern.reason;
  if (pattern.is_of_parts) return finding;
  if (kind >= Pattern::p4) {
    const MemorySummary memory = summarize_memory_replicates(replicates);
    Finding of_memory = found_memory(metric, memory);
    if (!of_memory.modes.empty() && !are_of_partitions(run, of_memory)) {
      const bool are_switches = switch_cycles && std::abs(of_memory.modes.back() - *switch_cycles) <
                                                     least_partition_gap_cycles;
      if (are_switches) return found_replicated(metric, memory.partitions->near);
      return not_resolvable(metric,
                            fmt::format("groups of {:.0f} and {:.0f} cycles, which are not the "
                                        "near and the far partition: some accesses hit the TLB",
                                        of_memory.modes.front(), of_memory.modes.back()));
    }
    of_memory.confidence = finding.confidence;
    return of_memory;
  }
  // Groups within a pattern are not reported here: slices of an L2 differ more than two patterns of
  // an L1.
  const ReplicateSummary summary = summarize_replicates(within(pattern, replicates));
  finding.value = summary.center;
  return with_replicates(std::move(finding), summary);
}

void report_path(JobRun& run, LoadPath path, const std::string& prefix) {
  const SeenTlb tlb = seen_tlb(run);
  const PatternRequest request = request_patterns(run, path, tlb);
  const PatternChase chase = plan_patterns(request);
  const auto space =
      path == LoadPath::all_levels ? RecordSpace::with_largest_l1 : RecordSpace::longest;
  const ChasePlan plan{
      .offsets = chase.offsets, .warmup_passes = 0, .preparation = Preparation::flushed};
  const ChaseSetup setup = set_up_chase(run, path, space);
  // On an H200 misses of the TLBs are up to 10 % slower on one SM than on the next: means over 48
  // SMs, a third of all, differ by 1 % from run to run.
  constexpr StoppingRule many_sms{.least = 48, .most = 64};
  const bool is_quick = run.level() == SuiteLevel::quick;
  PatternReplicates replicates;
  measure_replicates(
      run, "patterns " + prefix,
      [&](const Draw& draw) {
        const ChaseLatencies latencies =
            measure_chase(run, at_draw(setup, draw), "patterns " + prefix, plan);
        return replicates.add(sort_by_pattern(chase, latencies.cycles));
      },
      is_quick ? stopping_rule(run.level()) : many_sms);
  const PatternLatencies& by_pattern = replicates.pooled;
  auto patterns = infer_patterns(by_pattern, least_pattern_gap_cycles, tlb.known);
  PatternFinding& p6 = patterns[static_cast<std::size_t>(Pattern::p6)];
  const Finding* window = run.answer("tlb.page_window_bytes");
  if (window != nullptr && window->status == Status::not_present && tlb.known.exists) {
    p6.status = Status::not_present;
    p6.reason = "the job tlb found no page-table window";
  }
  constexpr std::array names{"p1", "p2", "p3", "p4", "p5", "p6"};
  for (std::size_t i = 0; i < pattern_count; ++i) {
    const std::string metric = prefix + names[i] + "_cycles";
    const bool open = patterns[i].status == Status::not_resolvable && by_pattern[i].empty();
    if (open && !tlb.known.exists && run.level() == SuiteLevel::quick) {
      run.skip_rest(metric);  // it needs findings of the job tlb, which the standard suite runs
    } else {
      const bool may_switch = i == static_cast<std::size_t>(Pattern::p5) && p6.status == Status::ok;
      run.report(as_finding(run, metric, patterns[i], static_cast<Pattern>(i),
                            replicates.samples[i],
                            may_switch ? std::optional(p6.cycles) : std::nullopt));
    }
  }
}

}  // namespace

void report_patterns(JobRun& run) {
  report_path(run, LoadPath::all_levels, "latency.");
  report_path(run, LoadPath::past_l1, "latency.cg.");
}

}  // namespace sonde
