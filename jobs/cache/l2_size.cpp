// The bound of near hits is the segment; the two partitions are alike.
#include "jobs/cache/l2_size.hpp"

#include "analysis/statistics.hpp"
#include "analysis/structure/latency/latency_gaps.hpp"
#include "base/gpu_facts.hpp"
#include "base/units.hpp"
#include "jobs/cache/l2_partitions.hpp"
#include "jobs/run/clock_window.hpp"
#include "jobs/run/replicates.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sonde {
namespace {

// Beyond 98 of 100 misses; few outliers fall into a band so narrow.
constexpr double band_margin_cycles = 6;
// Far hits must be this common at 1.5 times the segment to be a class of their own.
constexpr double least_far_fraction = 0.1;
// Half of all lines have their home in the near partition: a class of nearly all that miss is the
// memory itself, seen sooner than by lines that each need a translation of their own (pages of
// 4 KB).
constexpr double most_far_fraction = 0.9;

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

/// Hits in the far partition, as a chase through 1.5 times the near one shows them.
struct FarHits {
  FarBand band;
  std::vector<double> cycles;
  double fraction = 0;  // of that chase
};

/// A steady chase through a span, as much of it as is worth keeping.
FarHits look_for_far_hits(const CacheUnderTest& cache, std::uint64_t line_bytes,
                          const FarBand& band, std::uint64_t span_bytes) {
  constexpr std::uint64_t enough = 8192;
  ChasePlan plan = steady_plan(cache.chase, span_bytes / line_bytes * line_bytes, line_bytes,
                               cache.seed, enough);
  plan.warmup_passes = 1;
  const std::vector<double> sample =
      measure_chase(cache, fmt::format("span {}", span_bytes), plan).cycles;
  FarHits far{.band = band, .cycles = sample};
  std::erase_if(far.cycles, [&](double cycles) { return !band.holds(cycles); });
  far.fraction = static_cast<double>(far.cycles.size()) / static_cast<double>(sample.size());
  return far;
}

void report_far_hits(const CacheUnderTest& cache, const FarHits& far,
                     const CacheGeometry& segment) {
  const Replicates hits = measure_replicates(cache.run, "far hits", [&](const Draw& draw) {
    CacheUnderTest elsewhere = cache;
    elsewhere.chase = at_draw(cache.chase, draw);
    elsewhere.seed = draw.seed;
    return look_for_far_hits(elsewhere, segment.line_bytes, far.band,
                             segment.bound.fitting_bytes / 2 * 3)
        .cycles;
  });
  const std::string metric = "cache.l2.far_hit_latency_cycles";
  if (hits.samples.empty()) {
    return cache.run.report(found_median(metric, far.cycles));
  }
  cache.run.report(found_replicated(metric, hits));
}

void report_segment(const CacheUnderTest& cache, const CacheGeometry& geometry) {
  const std::uint64_t segment_bytes = geometry.part_bytes();
  Finding segment = found("cache.l2.segment_bytes", static_cast<double>(segment_bytes),
                          geometry.gradual ? 0.5 : 1, segment_bytes / geometry.line_bytes);
  segment.interval = geometry.part_interval();
  segment.replicates = geometry.replicates;
  cache.run.report(std::move(segment));
}

/// Near hits and misses of the one partition of an L2 that has no other.
void narrow_misses(CacheUnderTest& cache, const FarHits& far, const std::vector<double>& misses) {
  const bool sooner = far.fraction > most_far_fraction;
  const std::vector<double>& memory = sooner ? far.cycles : misses;
  if (!sooner) cache.ceiling_cycles = quantile(memory, 0.99) + band_margin_cycles;
  cache.threshold_cycles = quantile(memory, 0.01) - band_margin_cycles;
}

void report_far_hits_of_sms(JobRun& run, const LoadedElsewhere& parts) {
  run.report(found_replicated("cache.l2.far_hit_latency_cycles", Replicates{parts.far_hits_of_sm}));
}

/// Where no latency between hits and the memory appears.
void report_without_far_hits(const CacheUnderTest& cache, const LoadedElsewhere& parts,
                             CacheGeometry& geometry) {
  if (parts.kind != L2Parts::several) {
    return report_one_part(
        cache.run,
        "no latency between hit and memory appears beyond the size, and all SMs are as near to the "
        "same lines: one part");
  }
  geometry.no_size =
      "lines that another SM loaded are near or far, but a footprint meets no far hits beyond what "
      "one SM fills: that is one partition, or both";
  cache.run.report(not_resolvable("cache.l2.segment_bytes", geometry.no_size));
  report_far_hits_of_sms(cache.run, parts);
}

}  // namespace

void report_parts_alone(const CacheUnderTest& cache, const LoadedElsewhere& parts) {
  if (parts.kind == L2Parts::several) report_far_hits_of_sms(cache.run, parts);
  if (parts.kind == L2Parts::one) {
    report_one_part(cache.run, "lines that another SM has just loaded are as near to all SMs");
  }
}

std::string characterize_l2_size(CacheUnderTest& cache, const LoadedElsewhere& parts,
                                 const std::vector<double>& hits, const std::vector<double>& misses,
                                 CacheGeometry& geometry) {
  const FarHits far = look_for_far_hits(cache, geometry.line_bytes, between(hits, misses),
                                        geometry.bound.fitting_bytes / 2 * 3);
  if (parts.kind == L2Parts::one || far.fraction < least_far_fraction ||
      far.fraction > most_far_fraction) {
    narrow_misses(cache, far, misses);
    measure_size(cache, geometry);
    report_without_far_hits(cache, parts, geometry);
    return {};
  }
  cache.threshold_cycles = far.band.low_cycles;
  measure_size(cache, geometry);
  report_segment(cache, geometry);
  report_far_hits(cache, far, geometry);
  geometry.partitions = 2;
  // Sets are searched with lines of many pages: near hits behind a slow translation are none in
  // the far partition.
  cache.threshold_cycles =
      std::max(cache.threshold_cycles, (quantile(hits, 0.98) + quantile(far.cycles, 0.5)) / 2);
  return fmt::format("2 partitions of {}",
                     format_bytes(static_cast<double>(geometry.part_bytes())));
}

}  // namespace sonde
