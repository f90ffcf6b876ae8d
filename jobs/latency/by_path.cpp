// Latencies of the job `latency` by load path and by who serves the load.
#include "analysis/statistics.hpp"
#include "analysis/structure/latency/hit_classes.hpp"
#include "base/error.hpp"
#include "base/units.hpp"
#include "jobs/cache/geometry.hpp"
#include "jobs/latency/parts.hpp"

#include <algorithm>

namespace sonde {
namespace {

// As in the cache jobs: levels lie outer apart than this, jitter is about one cycle.
constexpr double least_level_gap_cycles = 8;

struct LevelNames {
  std::string plain;
  std::string amortised;
};

LevelNames names_of(LoadPath path, const char* level) {
  const std::string stem = "latency." + std::string(to_text(path)) + "." + level;
  return {stem + "_cycles", stem + "_amortised_cycles"};
}

void report_windows(JobRun& run, const std::string& metric, const std::vector<double>& cycles) {
  run.report(found(metric, median(cycles), 1, cycles.size(), median_absolute_deviation(cycles)));
}

void report_memory(JobRun& run, const std::string& metric, const std::vector<double>& cycles) {
  const MemoryLatency memory = summarize_memory_latency(cycles);
  Finding finding =
      found(metric, memory.cycles, 1, cycles.size(), median_absolute_deviation(cycles));
  if (memory.far_cycles > 0) finding.reason = "the middle between the near and the far side";
  run.report(std::move(finding));
}

void report_level_absent(JobRun& run, LoadPath path, const char* level, const std::string& reason) {
  const LevelNames names = names_of(path, level);
  run.report(not_present(names.plain, reason));
  run.report(not_present(names.amortised, reason));
}

/// A span beyond every first-level cache and well within every L2.
std::uint64_t l2_span_bytes(const JobRun& run) {
  const double l1_bytes = std::max(run.number("cache.l1.size_bytes").value_or(0),
                                   run.number("cache.readonly.size_bytes").value_or(0));
  const double l2_bytes =
      run.number("cache.l2.first_miss_bytes").value_or(static_cast<double>(512_KiB));
  const double span_bytes = std::clamp(4 * l1_bytes, 65536.0, l2_bytes / 2);
  return static_cast<std::uint64_t>(span_bytes) / 4096 * 4096;
}

/// The smallest line of the first-level caches, so that a span fills them.
std::uint64_t first_line_bytes(const JobRun& run) {
  constexpr double usual_line_bytes = 128;
  return static_cast<std::uint64_t>(
      std::min(run.number("cache.l1.line_bytes").value_or(usual_line_bytes),
               run.number("cache.readonly.line_bytes").value_or(usual_line_bytes)));
}

struct PathLatencies {
  std::vector<double> l1;  // empty: no cache before the L2
  std::vector<double> l2;  // empty: no L2
  std::vector<double> dram;
};

/// Cold lines one after the other, their translation at hand except once in 512.
double measure_dram_amortised(JobRun& run, const ChaseSetup& setup, const std::string& label) {
  constexpr std::uint64_t regions = 4;
  constexpr std::uint64_t region_bytes = 2_MiB;
  ChasePlan plan;
  plan.offsets = descending_order(regions * region_bytes, 4096);
  plan.warmup_passes = 0;
  plan.preparation = Preparation::flushed;
  return measure_amortised_cycles(run, setup, label, plan, plan.offsets.size());
}

PathLatencies measure_path(JobRun& run, LoadPath path, const std::vector<double>& passing) {
  const std::string text(to_text(path));
  const ChaseSetup setup = set_up_chase(run, path, RecordSpace::with_largest_l1);
  PathLatencies result;
  const std::vector<double> resident = measure_resident_latencies(run, setup, "latency l1 " + text);
  const auto first = separate_hits(resident, passing, least_level_gap_cycles);
  result.dram = measure_memory_latencies(run, setup, "latency dram " + text);
  if (first) {
    result.l1 = resident;
    report_windows(run, names_of(path, "l1").plain, resident);
    ChasePlan plan;
    plan.offsets = ascending_order(512, 128);
    const double loop_cycles =
        measure_amortised_cycles(run, setup, "latency l1 loop " + text, plan, 4096);
    run.report(found(names_of(path, "l1").amortised, loop_cycles, 1, 4096));
  } else if (path == LoadPath::ca || path == LoadPath::nc) {
    report_level_absent(run, path, "l1", "no cache before the L2 on this path");
  }

  ChasePlan plan;
  plan.offsets = shuffled_order(l2_span_bytes(run), first_line_bytes(run), run.seed());
  plan.warmup_passes = 2;
  plan.recorded = std::min<std::uint64_t>(plan.offsets.size(), setup.recordable_accesses);
  const auto chase = measure_chase(run, setup, "latency l2 " + text, plan);
  for (double cycles : chase.cycles) {
    if (!first || cycles > first->threshold_cycles) result.l2.push_back(cycles);
  }
  if (!separate_hits(result.l2, result.dram, least_level_gap_cycles)) result.l2.clear();
  if (result.l2.empty()) {
    report_level_absent(run, path, "l2", "a second load of a line is as slow as a first one");
  } else {
    const LevelNames names = names_of(path, "l2");
    report_windows(run, names.plain, result.l2);
    if (result.l2.size() == chase.cycles.size()) {
      const std::uint64_t accesses = plan.offsets.size();
      const double loop_cycles =
          measure_amortised_cycles(run, setup, "latency l2 loop " + text, plan, accesses);
      run.report(found(names.amortised, loop_cycles, 1, accesses));
    } else {
      run.report(not_resolvable(names.amortised, "some lines of the walk stay in the first cache"));
    }
  }
  report_memory(run, names_of(path, "dram").plain, result.dram);
  run.report(found(names_of(path, "dram").amortised,
                   measure_dram_amortised(run, setup, "latency dram loop " + text), 1, 2048));
  return result;
}

void report_path_absent(JobRun& run, LoadPath path, const std::string& reason) {
  if (path == LoadPath::ca || path == LoadPath::nc) report_level_absent(run, path, "l1", reason);
  report_level_absent(run, path, "l2", reason);
  report_level_absent(run, path, "dram", reason);
}

/// The main values: L1 through ca, what lies behind it through cg.
void report_main(JobRun& run, const PathLatencies& ca, const PathLatencies& cg) {
  const auto report_or = [&](const char* metric, const std::vector<double>& cycles,
                             const char* reason) {
    if (cycles.empty()) {
      run.report(not_present(metric, reason));
    } else {
      report_windows(run, metric, cycles);
    }
  };
  report_or("latency.l1_cycles", ca.l1, "plain loads meet no L1");
  report_or("latency.l2_cycles", cg.l2, "no L2");
  report_memory(run, "latency.dram_cycles", cg.dram);
}

void report_l2_partitions(JobRun& run, const PathLatencies& cg) {
  const char* one_side = "one latency only: no near and far side";
  const auto far_hit_cycles = run.number("cache.l2.far_hit_latency_cycles");
  if (far_hit_cycles && !cg.l2.empty()) {
    report_windows(run, "latency.l2_near_cycles", cg.l2);
    run.report(found("latency.l2_far_cycles", *far_hit_cycles, 1, 1));
  } else {
    run.report(not_present("latency.l2_near_cycles", one_side));
    run.report(not_present("latency.l2_far_cycles", one_side));
  }
  const MemoryLatency memory = summarize_memory_latency(cg.dram);
  if (memory.far_cycles > 0) {
    run.report(found("latency.dram_near_cycles", memory.near_cycles, 1, cg.dram.size()));
    run.report(found("latency.dram_far_cycles", memory.far_cycles, 1, cg.dram.size()));
  } else {
    run.report(not_present("latency.dram_near_cycles", one_side));
    run.report(not_present("latency.dram_far_cycles", one_side));
  }
}

}  // namespace

void report_level_latencies(JobRun& run) {
  const ChaseSetup passing_by = set_up_chase(run, LoadPath::cg, RecordSpace::with_largest_l1);
  const std::vector<double> passing =
      measure_resident_latencies(run, passing_by, "latency passing");
  const PathLatencies cg = measure_path(run, LoadPath::cg, passing);
  const PathLatencies ca = measure_path(run, LoadPath::ca, passing);
  for (LoadPath path : {LoadPath::nc, LoadPath::cv}) {
    try {
      measure_path(run, path, passing);
    } catch (const DeviceLostError&) {
      throw;
    } catch (const DeviceError& error) {
      report_path_absent(run, path, error.what());
    }
  }
  report_main(run, ca, cg);
  report_l2_partitions(run, cg);
}

}  // namespace sonde
