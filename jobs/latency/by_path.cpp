// Latencies of loads on each path (ca, cg, nc, cv) from the first cache, the L2 and the memory. The
// footprint determines the level, so that no classes of latency are searched for. These are the
// main numbers of the job `latency`.
#include "analysis/metrics.hpp"
#include "analysis/structure/latency/latency_classes.hpp"
#include "analysis/structure/latency/memory_replicates.hpp"
#include "base/gpu_facts.hpp"
#include "jobs/chase/known_latencies.hpp"
#include "jobs/latency/parts.hpp"
#include "jobs/run/attempt.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <vector>

namespace sonde {
namespace {

/// Lines within this many bytes share one translation: the page as the job tlb found it, else a
/// large page.
std::uint64_t page_bytes(const JobRun& run) {
  const auto found_bytes = run.number("tlb.page_bytes");
  if (!found_bytes) return large_page_bytes;
  return std::min(std::bit_floor(static_cast<std::uint64_t>(*found_bytes)), large_page_bytes);
}

/// Prefix of the metrics of a path: "latency.ca.".
std::string prefix_of(LoadPath path) { return "latency." + std::string(to_text(path)) + "."; }

/// Two groups of memory latencies count as partitions only if the L2 has two partitions. Otherwise
/// the slower group waited for translations, and the faster group is the latency.
MemorySummary summarize_memory(const JobRun& run, const Replicates& cold) {
  const Finding* far_hits = run.answer("cache.l2.far_hit_latency_cycles");
  const bool is_one = far_hits != nullptr && far_hits->status == Status::not_present &&
                      !run.number("cache.l2.atomic_far_cycles");
  MemorySummary memory = summarize_memory_replicates(cold.samples);
  if (memory.partitions && is_one) {
    memory.all = memory.partitions->near;
    memory.partitions.reset();
  }
  return memory;
}

/// Size of the largest cache before the L2; 0 if none is known.
double bytes_before_l2(const JobRun& run) {
  double bytes = 0;
  for (const char* cache : {"cache.l1.size_bytes", "cache.readonly.size_bytes"})
    bytes = std::max(bytes, run.number(cache).value_or(0));
  return bytes;
}

/// A span larger than every cache before the L2 and well within the L2.
std::uint64_t l2_span_bytes(const JobRun& run) {
  const double inner_bytes = bytes_before_l2(run);
  const double l2_bytes =
      run.number("cache.l2.first_miss_bytes").value_or(static_cast<double>(512_KiB));
  // Another job may have measured a wrong size: the span is at least a page.
  const double span_bytes = std::min(std::max(4 * inner_bytes, 65536.0), l2_bytes / 2);
  const std::uint64_t pages = static_cast<std::uint64_t>(span_bytes) / smallest_page_bytes;
  return std::max<std::uint64_t>(pages, 1) * smallest_page_bytes;
}

/// The smallest line of the first-level caches, so that one access per line fills them.
std::uint64_t first_line_bytes(const JobRun& run) {
  constexpr auto usual_bytes = static_cast<double>(common_line_bytes);
  const double found_bytes =
      std::min(run.number("cache.l1.line_bytes").value_or(usual_bytes),
               run.number("cache.readonly.line_bytes").value_or(usual_bytes));
  return std::min(static_cast<std::uint64_t>(found_bytes), longest_line_bytes);
}

/// Measures the loads of one path.
struct PathChase {
  JobRun& run;
  LoadPath path;
  ChaseSetup chase;

  std::string label(const std::string& what) const {
    return "latency " + what + " " + std::string(to_text(path));
  }
  /// Prefix of the metrics of a level: "latency.ca.l1_".
  std::string prefix(const std::string& level) const { return prefix_of(path) + level + "_"; }
  /// @param plan_of returns the chase for a seed
  void report_loop(const std::string& level, const std::function<ChasePlan(std::uint64_t)>& plan_of,
                   std::uint64_t accesses) const {
    const std::string what = label(level + " loop");
    const auto measure = [&](const Draw& draw) {
      const double cycles =
          measure_amortised_cycles(run, at_draw(chase, draw), what, plan_of(draw.seed), accesses);
      return std::vector{cycles};
    };
    // A loop over thousands of accesses already is a mean of many.
    StoppingRule rule = stopping_rule(run.level());
    rule.most = rule.least;
    const Replicates loops = measure_replicates(run, what, measure, rule);
    run.report(found_replicated(prefix(level) + "amortised_cycles", loops));
  }
};

/// Latencies by level; a level without samples does not exist.
struct PathLatencies {
  Replicates l1;
  Replicates l2;
  Replicates dram;
};

void report_l1(const PathChase& path, const Replicates& hits) {
  path.run.report(found_replicated(path.prefix("l1") + "cycles", hits));
  const ChasePlan plan{.offsets = ascending_order(4 * common_line_bytes, common_line_bytes)};
  path.report_loop(
      "l1", [&](std::uint64_t) { return plan; }, 4096);
}

/// Loads over a span larger than the cache before the L2, each after a load that brings its
/// translation. Latencies above the threshold of that cache are L2 hits. Returns nothing if the
/// memory is as fast.
/// @param before threshold of the cache before the L2, if the path has one
Replicates report_l2(const PathChase& path, std::optional<double> before, const Replicates& dram) {
  constexpr std::uint64_t recorded = 2048;
  constexpr double least_overfill = 1.25;  // of the caches before the L2, or they may answer
  const std::string prefix = path.prefix("l2");
  const auto all_bytes = static_cast<double>(l2_span_bytes(path.run));
  if (before && all_bytes < least_overfill * bytes_before_l2(path.run)) {
    path.run.leave_open(prefix, "the L2 is hardly larger than the cache before it");
    return {};
  }
  // Pairs of lines of one page: the first access of a pair brings the translation of the second.
  const auto plan_of = [&](std::uint64_t seed) {
    const std::uint64_t step_bytes = first_line_bytes(path.run);
    ChasePlan plan =
        overflowing_plan(path.chase, l2_span_bytes(path.run), step_bytes, seed, recorded);
    plan.offsets = translated_pairs(l2_span_bytes(path.run), step_bytes, seed);
    plan.recorded = std::min(plan.recorded, plan.offsets.size());
    return plan;
  };
  std::size_t held_before = 0;
  const Replicates hits = measure_replicates(path.run, path.label("l2"), [&](const Draw& draw) {
    ChasePlan plan = plan_of(draw.seed);
    // Without a first cache, the lines that are not recorded have nothing to evict.
    if (!before) plan.offsets.resize(plan.recorded);
    const std::vector<double> of_pairs =
        measure_chase(path.run, at_draw(path.chase, draw), path.label("l2"), plan).cycles;
    std::vector<double> cycles;
    for (std::size_t i = 1; i < of_pairs.size(); i += 2) cycles.push_back(of_pairs[i]);
    held_before +=
        std::erase_if(cycles, [&](double of_load) { return before && of_load <= *before; });
    return cycles;
  });
  if (!separate_hits(hits.pooled(), dram.pooled(), least_first_cache_gap_cycles)) {
    // The path past the L1 is measured first.
    const bool is_there = path.run.number("latency.cg.l2_cycles").has_value();
    path.run.report_rest(prefix, is_there ? Status::not_resolvable : Status::not_present,
                         "a second load of a line is as slow as a first one");
    return {};
  }
  path.run.report(found_replicated(prefix + "cycles", hits));
  if (held_before == 0) {
    path.report_loop("l2", plan_of, plan_of(0).offsets.size());
  } else {
    path.run.leave_open(prefix, "some lines of the chase stay in a cache before it");
  }
  return hits;
}

/// Cold lines in a row; one load in 512 needs a new translation.
void report_dram(const PathChase& path, const Replicates& cold) {
  constexpr std::uint64_t regions = 4;
  const ChasePlan plan{.offsets = descending_order(regions * large_page_bytes, smallest_page_bytes),
                       .warmup_passes = 0,
                       .preparation = Preparation::flushed};
  path.run.report(found_memory(path.prefix("dram") + "cycles", summarize_memory(path.run, cold)));
  path.report_loop(
      "dram", [&](std::uint64_t) { return plan; }, plan.offsets.size());
}

/// @param passing latencies of repeated loads of few lines past the L1
PathLatencies measure_path(JobRun& run, LoadPath load_path, const std::vector<double>& passing) {
  const PathChase path{run, load_path, set_up_chase(run, load_path, RecordSpace::with_largest_l1)};
  PathLatencies result;
  Replicates resident = measure_replicates(run, path.label("l1"), [&](const Draw& draw) {
    return measure_resident_latencies(run, at_draw(path.chase, draw), path.label("l1"));
  });
  // Near hits of a divided L2 are faster than loads past the L1 on average, but are no level.
  const bool may_have_first = find_metric(path.prefix("l1") + "cycles") != nullptr;
  const auto first_threshold =
      may_have_first ? separate_hits(resident.pooled(), passing, least_first_cache_gap_cycles)
                     : std::nullopt;
  result.dram = measure_replicates(run, path.label("dram"), [&](const Draw& draw) {
    return measure_memory_latencies(run, at_draw(path.chase, draw), path.label("dram"), draw.seed,
                                    1, page_bytes(run));
  });
  if (first_threshold) {
    report_l1(path, resident);
    result.l1 = std::move(resident);
  } else {
    run.report_rest(path.prefix("l1"), Status::not_present, "no cache before the L2 on this path");
  }
  result.l2 = report_l2(path, first_threshold, result.dram);
  report_dram(path, result.dram);
  return result;
}

/// Main values: the L1 by loads through all levels, other levels by loads past the L1.
void report_main(JobRun& run, const PathLatencies& ca, const PathLatencies& cg) {
  const auto report_as = [&](const char* metric, const Replicates& hits, const char* of_path) {
    if (!hits.samples.empty()) return run.report(found_replicated(metric, hits));
    const Finding& none = *run.answer(of_path);
    run.report(no_answer(metric, none.status, none.reason));
  };
  report_as("latency.l1_cycles", ca.l1, "latency.ca.l1_cycles");
  report_as("latency.l2_cycles", cg.l2, "latency.cg.l2_cycles");
  run.report(found_memory("latency.dram_cycles", summarize_memory(run, cg.dram)));
}

void report_partitions(JobRun& run, const PathLatencies& cg) {
  const char* one_partition = "one latency only: no near and far partition";
  const Finding* far_hits = run.finding("cache.l2.far_hit_latency_cycles");
  if (far_hits != nullptr && !cg.l2.samples.empty()) {
    // Without copies, near and far hits are mixed.
    const MemorySummary hits = summarize_memory_replicates(cg.l2.samples);
    if (hits.partitions) {
      run.report(found_replicated("latency.l2_near_cycles", hits.partitions->near));
    } else {
      run.report(found_replicated("latency.l2_near_cycles", cg.l2));
    }
    Finding far = *far_hits;
    far.metric = "latency.l2_far_cycles";
    run.report(std::move(far));
  } else {
    run.report_rest("latency.l2_", Status::not_present, one_partition);
  }
  const MemorySummary memory = summarize_memory(run, cg.dram);
  if (memory.partitions) {
    run.report(found_replicated("latency.dram_near_cycles", memory.partitions->near));
    run.report(found_replicated("latency.dram_far_cycles", memory.partitions->far));
  } else {
    run.report_rest("latency.dram_", Status::not_present, one_partition);
  }
}

}  // namespace

void report_level_latencies(JobRun& run) {
  const ChaseSetup passing_by = set_up_chase(run, LoadPath::past_l1, RecordSpace::with_largest_l1);
  const std::vector<double> passing =
      measure_resident_latencies(run, passing_by, "latency passing");
  const PathLatencies cg = measure_path(run, LoadPath::past_l1, passing);
  const PathLatencies ca = measure_path(run, LoadPath::all_levels, passing);
  for (LoadPath path : {LoadPath::read_only, LoadPath::uncached}) {
    const auto refusal = refusal_of([&] { measure_path(run, path, passing); });
    if (refusal) run.report_rest(prefix_of(path), Status::not_present, *refusal);
  }
  report_main(run, ca, cg);
  report_partitions(run, cg);
}

}  // namespace sonde
