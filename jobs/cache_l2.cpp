// Job `cache.l2`: the cache in front of the memory, by loads that pass the L1 by (cg). Where it has
// two halves, one SM fills the near one first: its edge is the segment, that of both the size.
// Method: docs/methods/cache.md.
#include "analysis/statistics.hpp"
#include "base/random.hpp"
#include "base/units.hpp"
#include "jobs/cache_measure.hpp"
#include "jobs/cache_report.hpp"
#include "jobs/jobs.hpp"

#include <fmt/format.h>

namespace sonde {
namespace {

// Memory lies at least this far behind the L2 on every GPU published.
constexpr double least_gap_cycles = 16;
// Four times the largest L2 known (B200: 126 MB).
constexpr std::uint64_t largest_l2_bytes = 512_MiB;
// Far hits must be this common at 1.5 times the segment to be a class of their own.
constexpr double least_far_fraction = 0.1;

/// Latencies between those of near hits and those of the memory.
struct FarBand {
  double low_cycles = 0;
  double high_cycles = 0;
  bool holds(double cycles) const { return cycles > low_cycles && cycles < high_cycles; }
};

FarBand between(const std::vector<double>& hits, const std::vector<double>& misses) {
  const double highest_hit = quantile(hits, 0.98);
  const double lowest_miss = quantile(misses, 0.02);
  const double margin_cycles = (lowest_miss - highest_hit) / 10;
  return {highest_hit + margin_cycles, lowest_miss - margin_cycles};
}

/// Lines all over a span that every L2 holds.
std::vector<double> measure_hits(JobRun& run, const ChaseSetup& setup) {
  WalkPlan plan;
  plan.offsets = shuffled_walk(64_KiB, 128, run.seed());
  plan.warmup_passes = 2;
  plan.passes = 8;
  return position_medians(measure_walk(run, setup, "cache.l2 hits", plan));
}

std::vector<double> far_latencies(JobRun& run, const CacheSubject& cache, const FarBand& band,
                                  std::uint64_t span_bytes, std::uint64_t line_bytes,
                                  std::uint64_t& samples) {
  WalkPlan plan;
  plan.offsets = shuffled_walk(span_bytes / line_bytes * line_bytes, line_bytes, cache.seed);
  plan.warmup_passes = 1;
  plan.recorded =
      std::min<std::uint64_t>({plan.offsets.size(), cache.setup.recordable_accesses, 8192});
  const std::string label = fmt::format("cache.l2 far {}", span_bytes);
  const WalkLatencies walk = measure_walk(run, cache.setup, label, plan);
  samples = walk.cycles.size();
  std::vector<double> far;
  for (double cycles : walk.cycles) {
    if (band.holds(cycles)) far.push_back(cycles);
  }
  return far;
}

/// The edge of both halves: far hits vanish. Finer where the memory of the two sides differs.
Edge measure_whole_edge(JobRun& run, const CacheSubject& cache, const FarBand& band,
                        const std::vector<double>& misses, const CacheShape& near_half,
                        double far_fraction) {
  const std::uint64_t line_bytes = near_half.line_bytes;
  const auto ask = [&](std::uint64_t span_bytes) {
    std::uint64_t samples = 0;
    const auto far = far_latencies(run, cache, band, span_bytes, line_bytes, samples);
    return static_cast<double>(far.size()) < far_fraction / 2 * static_cast<double>(samples)
               ? Fit::overflows
               : Fit::fits;
  };
  const std::uint64_t start_bytes = near_half.edge.fitting_bytes / 2 * 3;
  const Edge coarse = find_edge({line_bytes, start_bytes, largest_l2_bytes, 1.0 / 32}, ask);
  const TwoModes sides = split_in_two(misses);
  const bool sides_differ = sides.high.low - sides.low.high > least_gap_cycles;
  if (coarse.overflowing_bytes == 0 || near_half.soft || !sides_differ) return coarse;
  CacheSubject far_lines = cache;
  far_lines.name = "cache.l2 whole";
  far_lines.threshold_cycles = sides.threshold;
  return measure_exact_edge(run, far_lines, coarse, line_bytes);
}

void report_one_part(JobRun& run) {
  const char* reason = "no latency between hit and memory appears beyond the size: one part";
  run.report(not_present("cache.l2.segment_bytes", reason));
  run.report(not_present("cache.l2.far_hit_latency_cycles", reason));
}

/// Looks for far hits beyond the first edge and, if there are, completes the shape.
void characterize_halves(JobRun& run, const CacheSubject& cache, const std::vector<double>& hits,
                         const std::vector<double>& misses, CacheShape& shape) {
  const FarBand band = between(hits, misses);
  std::uint64_t samples = 0;
  const std::uint64_t span_bytes = shape.edge.fitting_bytes / 2 * 3;
  const auto far = far_latencies(run, cache, band, span_bytes, shape.line_bytes, samples);
  const double far_fraction = static_cast<double>(far.size()) / static_cast<double>(samples);
  if (far_fraction < least_far_fraction) {
    report_one_part(run);
    return;
  }
  const Edge whole = measure_whole_edge(run, cache, band, misses, shape, far_fraction);
  shape.whole_bytes = whole.fitting_bytes;
  run.report(found("cache.l2.segment_bytes", static_cast<double>(shape.edge.fitting_bytes),
                   shape.soft ? 0.5 : 1, samples));
  run.report(found("cache.l2.far_hit_latency_cycles", median(far), 1, far.size(),
                   median_absolute_deviation(far)));
}

void report_no_l2(JobRun& run, const std::string& reason) {
  report_absent(run, "cache.l2", reason);
  run.report(not_present("cache.l2.segment_bytes", reason));
  run.report(not_present("cache.l2.far_hit_latency_cycles", reason));
}

}  // namespace

void run_cache_l2(JobRun& run) {
  const ChaseSetup setup = set_up_chase(run, LoadPath::cg, RecordSpace::longest);
  const std::vector<double> hits = measure_hits(run, setup);
  const std::vector<double> misses = measure_memory_latencies(run, setup, "cache.l2 memory");
  const auto classes = separate_hits(hits, misses, least_gap_cycles);
  if (!classes) {
    report_no_l2(run, fmt::format("a second load of a line takes {:.0f} cycles, a first one {:.0f}",
                                  median(hits), median(misses)));
    return;
  }
  const CacheSubject cache{"cache.l2", setup, classes->threshold_cycles,
                           std::min(largest_l2_bytes, run.info().memory_bytes / 4),
                           derive_seed(run.seed(), "cache.l2")};
  report_latencies(run, "cache.l2", hits, misses);
  std::string reason;
  auto shape = measure_cache(run, cache, reason);
  if (!shape) {
    report_shapeless(run, "cache.l2", reason);
    run.report(not_resolvable("cache.l2.segment_bytes", reason));
    run.report(not_resolvable("cache.l2.far_hit_latency_cycles", reason));
    return;
  }
  characterize_halves(run, cache, hits, misses, *shape);
  report_shape(run, "cache.l2", *shape, "");
}

}  // namespace sonde
