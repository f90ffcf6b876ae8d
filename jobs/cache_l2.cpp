// Job `cache.l2`: the cache before the memory, by loads past the L1 (cg). If it has two partitions,
// one SM first fills the near one: its bound is the segment, and both together are the size.
// Method: docs/methods/cache.md.

#include "analysis/statistics.hpp"
#include "analysis/structure/latency/latency_classes.hpp"
#include "base/gpu_facts.hpp"
#include "base/random.hpp"
#include "base/units.hpp"
#include "jobs/cache/cache_probe.hpp"
#include "jobs/cache/geometry.hpp"
#include "jobs/cache/l2_partitions.hpp"
#include "jobs/cache/report.hpp"
#include "jobs/cache/writes_and_prefetch.hpp"
#include "jobs/chase/known_l2.hpp"
#include "jobs/chase/known_latencies.hpp"
#include "jobs/run/clock_window.hpp"
#include "jobs/run/replicates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <string>
#include <vector>

namespace sonde {
namespace {

// Margin beyond 98 of 100 misses; few outliers fall into so narrow a band.
constexpr double band_margin_cycles = 6;
// Share of far hits, at 1.5 times the segment, above which they are a class of their own.
constexpr double least_far_fraction = 0.1;
// Half of all lines have their home in the near partition. If nearly all misses are in the band,
// they come from the memory, but faster than lines that each need a translation (pages of 4 KB).
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

/// Hits in the far partition, from a chase over 1.5 times the near one.
struct FarHits {
  FarBand band;
  std::vector<double> cycles;
  double fraction = 0;  // of all loads of that chase
};

/// Chases a span until it is steady and records a part of it.
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
  constexpr StoppingRule few{.least = 5, .most = 10};  // each fills the L2, and records thousands
  const auto chase_at = [&](const Draw& draw) {
    CacheUnderTest elsewhere = cache;
    elsewhere.chase = at_draw(cache.chase, draw);
    elsewhere.seed = draw.seed;
    return look_for_far_hits(elsewhere, segment.line_bytes, far.band,
                             segment.bound.fitting_bytes / 2 * 3)
        .cycles;
  };
  const Replicates hits = measure_replicates(cache.run, "far hits", chase_at, few);
  const std::string metric = "cache.l2.far_hit_latency_cycles";
  if (hits.samples.empty()) {
    return cache.run.report(found_median(metric, far.cycles));
  }
  cache.run.report(found_replicated(metric, hits));
}

void report_segment(const CacheUnderTest& cache, const CacheGeometry& geometry) {
  const std::string metric = "cache.l2.segment_bytes";
  if (!geometry.size_is_known())
    return cache.run.report(not_resolvable(metric, explain_no_size(geometry)));
  cache.run.report(found(metric, static_cast<double>(geometry.part_bytes()),
                         geometry.footprints.confidence(),
                         geometry.part_bytes() / geometry.line_bytes));
}

/// Sets the threshold for an L2 with one partition.
void narrow_misses(CacheUnderTest& cache, const FarHits& far, const std::vector<double>& misses) {
  const bool memory_is_in_band = far.fraction > most_far_fraction;
  const std::vector<double>& memory = memory_is_in_band ? far.cycles : misses;
  if (!memory_is_in_band) cache.ceiling_cycles = quantile(memory, 0.99) + band_margin_cycles;
  cache.threshold_cycles = quantile(memory, 0.01) - band_margin_cycles;
}

void report_far_hits_of_sms(JobRun& run, const LoadedElsewhere& parts) {
  run.report(found_replicated("cache.l2.far_hit_latency_cycles", Replicates{parts.far_hits_of_sm}));
}

/// Reports the partitions if no far hits appear.
void report_without_far_hits(const CacheUnderTest& cache, const LoadedElsewhere& parts,
                             CacheGeometry& geometry) {
  if (parts.kind != L2Parts::several) {
    return report_one_part(cache.run,
                           "no latency between hit and memory appears beyond the size, and all SMs "
                           "are equally near to the same lines: one part");
  }
  geometry.no_size =
      "lines that another SM loaded are near or far, but a footprint beyond the measured size has "
      "no far hits: this size is that of one partition, or of both";
  cache.run.report(not_resolvable("cache.l2.segment_bytes", geometry.no_size));
  report_far_hits_of_sms(cache.run, parts);
}

/// Reports partitions and far hits of an L2 whose geometry is not known.
void report_parts_alone(const CacheUnderTest& cache, const LoadedElsewhere& parts) {
  if (parts.kind == L2Parts::several) report_far_hits_of_sms(cache.run, parts);
  if (parts.kind == L2Parts::one) {
    report_one_part(cache.run, "lines that another SM has just loaded are equally near to all SMs");
  }
}

/// Measures size, segment and far hits; returns a remark on how the size was found.
/// @param parts what lines show that another SM has loaded
std::string characterize_l2_size(CacheUnderTest& cache, const LoadedElsewhere& parts,
                                 const std::vector<double>& hits, const std::vector<double>& misses,
                                 CacheGeometry& geometry) {
  const FarHits far = look_for_far_hits(cache, geometry.line_bytes, between(hits, misses),
                                        geometry.bound.fitting_bytes / 2 * 3);
  if (parts.kind == L2Parts::one || far.fraction < least_far_fraction ||
      far.fraction > most_far_fraction) {
    narrow_misses(cache, far, misses);
    geometry = measure_size(cache, geometry);
    report_without_far_hits(cache, parts, geometry);
    return {};
  }
  cache.threshold_cycles = far.band.low_cycles;
  geometry = measure_size(cache, geometry);
  report_segment(cache, geometry);
  report_far_hits(cache, far, geometry);
  geometry.partitions = 2;
  // The search for sets uses lines of many pages: a near hit with a slow translation must not count
  // as a far hit.
  cache.threshold_cycles =
      std::max(cache.threshold_cycles, (quantile(hits, 0.98) + quantile(far.cycles, 0.5)) / 2);
  return fmt::format("2 partitions of {}",
                     format_bytes(static_cast<double>(geometry.part_bytes())));
}

/// Random lines in a span that every L2 holds. For a large L2 the span is so wide that it has lines
/// of all slices, near and far.
Offsets choose_hit_lines(const JobRun& run, std::uint64_t seed) {
  constexpr std::uint64_t lines = 512;
  constexpr std::uint64_t narrow_bytes = lines * common_line_bytes;
  const std::uint64_t span_bytes =
      std::clamp(std::bit_floor(run.info().l2_bytes / 16), narrow_bytes, large_page_bytes);
  Offsets offsets = shuffled_order(span_bytes, span_bytes / lines, seed);
  Random random(derive_seed(seed, "hit lines"));
  const std::uint64_t lines_of_step = span_bytes / lines / common_line_bytes;
  for (std::uint64_t& offset : offsets) offset += random.below(lines_of_step) * common_line_bytes;
  return offsets;
}

std::vector<double> measure_hits(JobRun& run, const ChaseSetup& setup, std::uint64_t seed,
                                 std::uint64_t passes) {
  const ChasePlan plan{
      .offsets = choose_hit_lines(run, seed), .warmup_passes = 2, .passes = passes};
  return position_medians(measure_chase(run, setup, "cache.l2 hits", plan));
}

void report_hits(JobRun& run, const ChaseSetup& setup) {
  report_latency(run, "cache.l2.hit_latency_cycles",
                 measure_replicates(run, "hits", [&](const Draw& draw) {
                   return measure_hits(run, at_draw(setup, draw), draw.seed, 2);
                 }));
}

void report_misses(JobRun& run, const ChaseSetup& setup) {
  report_latency(
      run, "cache.l2.miss_latency_cycles", measure_replicates(run, "misses", [&](const Draw& draw) {
        return measure_memory_latencies(run, at_draw(setup, draw), "cache.l2 memory", draw.seed, 1);
      }));
}

/// Searches for sets, which may refine the size; returns the reason if they are not found.
/// @param cache the near partition if there are two
std::string report_structure(const CacheUnderTest& cache, CacheGeometry& geometry) {
  if (!geometry.no_size.empty()) return geometry.no_size;
  // If lines are lost gradually, the size that the driver reports is a better start.
  const double driver_bytes = geometry.spread ? known_l2_part_bytes(cache.run) : 0;
  const std::uint64_t part_bytes =
      std::max(geometry.part_bytes(), static_cast<std::uint64_t>(driver_bytes));
  const std::string too_many = why_too_many_lines(part_bytes / geometry.line_bytes);
  if (!too_many.empty()) {
    return too_many + " (cache.l2.slice_ways and slice_sets tell of one slice)";
  }
  CacheProbe probe(cache, part_bytes, geometry.line_bytes);
  CacheStructure structure = characterize_sets(probe, geometry);
  geometry = std::move(structure.geometry);
  return structure.sets.reason;
}

/// @param cache with a threshold between hits and the memory
/// @param hits latencies of L2 hits  @param memory latencies of loads from the memory
void characterize_l2(CacheUnderTest cache, const std::vector<double>& hits,
                     const std::vector<double>& memory) {
  JobRun& run = cache.run;
  const LoadedElsewhere parts = look_for_parts(cache);
  report_hits(run, cache.chase);
  std::string reason;
  auto geometry = measure_geometry(cache, reason);
  report_misses(run, cache.chase);
  if (!geometry) {
    report_parts_alone(cache, parts);
    report_l2_partitions(run);
    return run.leave_open("", reason);
  }
  const std::string remark = characterize_l2_size(cache, parts, hits, memory, *geometry);
  const bool quick = run.level() == SuiteLevel::quick;
  std::string no_sets;
  if (!quick) no_sets = report_structure(cache, *geometry);
  report_geometry(cache, *geometry, {.size = remark, .inner_cache = "cache.l1"});
  report_write_policy(cache, geometry->line_bytes);
  report_prefetch(cache, geometry->fetch.bytes);
  if (quick) return run.skip_rest("");
  report_l2_partitions(run);
  run.leave_open("", no_sets);
}

}  // namespace

void run_cache_l2(JobRun& run) {
  CacheUnderTest cache{.run = run,
                       .name = "cache.l2",
                       .chase = set_up_chase(run, LoadPath::past_l1, RecordSpace::longest)};
  const std::vector<double> hits = measure_hits(run, cache.chase, run.seed(), 8);
  const std::vector<double> memory =
      measure_memory_latencies(run, cache.chase, "cache.l2 memory", run.seed());
  const auto threshold_cycles = separate_hits(hits, memory, least_memory_gap_cycles);
  if (!threshold_cycles) {
    return run.report_rest(
        "", Status::not_present,
        fmt::format("a second load of a line takes {:.0f} cycles, a first one {:.0f}", median(hits),
                    median(memory)));
  }
  cache.threshold_cycles = *threshold_cycles;
  cache.limit_bytes = std::min(largest_l2_bytes, run.info().memory_bytes / 4);
  cache.seed = derive_seed(run.seed(), "cache.l2");
  characterize_l2(cache, hits, memory);
}

}  // namespace sonde
