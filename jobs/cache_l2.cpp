// Job `cache.l2`: the cache in front of the memory, by loads that pass the L1 by (cg). Where it has
// two partitions, one SM fills the near one first: its bound is the segment, that of both the size.
// Method: docs/methods/cache.md.
#include "analysis/statistics.hpp"
#include "analysis/structure/latency/hit_classes.hpp"
#include "analysis/structure/latency/latency_gaps.hpp"
#include "base/gpu_facts.hpp"
#include "base/random.hpp"
#include "base/units.hpp"
#include "jobs/cache/cache_probe.hpp"
#include "jobs/cache/capacity.hpp"
#include "jobs/cache/geometry.hpp"
#include "jobs/cache/l2_partitions.hpp"
#include "jobs/cache/l2_translations.hpp"
#include "jobs/cache/report.hpp"
#include "jobs/cache/writes_and_prefetch.hpp"
#include "jobs/chase/known_latencies.hpp"
#include "jobs/run/clock_window.hpp"
#include "jobs/sets/search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

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
// So much of what misses in the near partition comes from the far one at most: lines of the near
// home come from the memory. What answers all of it is a cache on the side of the memory.
constexpr double most_far_share = 0.9;

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

/// Lines here and there in a span that every L2 holds: of a large one so wide that lines of all
/// slices, near and far, are among them.
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

void report_replicated_latencies(JobRun& run, const ChaseSetup& setup) {
  const Replicates hits = measure_replicates(run, "hits", [&](const Draw& draw) {
    return measure_hits(run, at_draw(setup, draw), draw.seed, 2);
  });
  const Replicates misses = measure_replicates(run, "misses", [&](const Draw& draw) {
    return measure_memory_latencies(run, at_draw(setup, draw), "cache.l2 memory", draw.seed, 1);
  });
  report_latencies(run, "cache.l2", hits, misses);
}

/// Hits in the far partition, as a chase through 1.5 times the near one shows them.
struct FarHits {
  FarBand band;
  std::vector<double> cycles;
  double fraction = 0;  // of that chase
  double share = 0;     // of its accesses that were no near hits
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
  const auto far_hits = static_cast<double>(far.cycles.size());
  const auto others =
      std::ranges::count_if(sample, [&](double cycles) { return cycles > band.low_cycles; });
  far.fraction = far_hits / static_cast<double>(sample.size());
  far.share = others == 0 ? 0 : far_hits / static_cast<double>(others);
  return far;
}

/// The footprint where far hits vanish, and how finely that can be seen: as the lines of the two
/// partitions are mixed.
struct WholeBound {
  CapacityBound bound;
  std::uint64_t mixing_bytes = 0;
  bool is_step = false;
};

/// To 1/64, and where hits end in a step on the return pass after a fill.
WholeBound measure_whole_bound(const CacheUnderTest& cache, const FarHits& far,
                               const CacheGeometry& segment) {
  const std::uint64_t line_bytes = segment.line_bytes;
  const auto ask = [&](std::uint64_t span_bytes) {
    const FarHits now = look_for_far_hits(cache, line_bytes, far.band, span_bytes);
    return now.fraction < far.fraction / 2 ? Fit::overflows : Fit::fits;
  };
  const CapacityBound coarse =
      find_capacity_bound({.step_bytes = line_bytes,
                           .start_bytes = segment.bound.fitting_bytes / 2 * 3,
                           .limit_bytes = cache.limit_bytes,
                           .relative_precision = 1.0 / 64},
                          ask);
  if (coarse.overflowing_bytes == 0 || segment.gradual) return {coarse, 0, false};
  constexpr double mixing_seen = 0.4;  // homes change every few hundred KB at most
  constexpr double most_hits_behind = 0.002;
  CacheUnderTest far_lines = cache;
  far_lines.name = "cache.l2 whole";
  far_lines.threshold_cycles = far.band.high_cycles;
  const HitBoundary boundary = measure_return_boundary(
      far_lines, coarse, line_bytes, {.hit_density = far.fraction, .seen_before = mixing_seen});
  const std::uint64_t end_bytes = boundary.position * line_bytes;
  return {{end_bytes, end_bytes + line_bytes},
          boundary.longest_gap * line_bytes,
          boundary.hits_behind < most_hits_behind};
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
  cache.run.report(found_replicated(metric, summarize_replicates(hits.samples)));
}

/// Size of both partitions, as a remark on how it was seen. They are equal if the end of far hits
/// is where two equal ones would end; finer than the mixing of the two that end cannot be seen.
/// Under random replacement the rate of far hits decays gradually, far beyond the size.
std::string characterize_partitions(const CacheUnderTest& cache, const FarHits& far,
                                    CacheGeometry& geometry) {
  constexpr double step_tolerance = 0.005;
  constexpr double most_mixing = 1.0 / 4;
  constexpr double decay_tolerance = 1.0 / 8;
  const WholeBound whole = measure_whole_bound(cache, far, geometry);
  const std::uint64_t segment_bytes = geometry.part_bytes();
  const double whole_bytes = static_cast<double>(whole.bound.fitting_bytes);
  const double twice_bytes = 2 * static_cast<double>(segment_bytes);
  const double mixing = static_cast<double>(whole.mixing_bytes) / twice_bytes;
  const double off = std::abs(whole_bytes / twice_bytes - 1);
  const bool equal = whole.is_step && off < std::max(step_tolerance, std::min(mixing, most_mixing));
  geometry.whole_bytes = equal ? 2 * segment_bytes : whole.bound.fitting_bytes;
  if (!whole.is_step && off > decay_tolerance) {
    geometry.no_size = fmt::format(
        "the rate of hits in the far partition decays gradually up to {}, those in the near one "
        "end at {}: replacement seems to be random",
        format_bytes(whole_bytes), format_bytes(twice_bytes / 2));
  }
  Finding segment = found("cache.l2.segment_bytes", static_cast<double>(segment_bytes),
                          geometry.gradual ? 0.5 : 1, segment_bytes / geometry.line_bytes);
  segment.interval = geometry.part_interval();
  segment.replicates = geometry.replicates;
  cache.run.report(std::move(segment));
  report_far_hits(cache, far, geometry);
  return equal ? fmt::format("two partitions of {}: hits in the far one end at {}",
                             format_bytes(twice_bytes / 2), format_bytes(whole_bytes))
               : "the footprint at which hits in the far partition vanish";
}

/// Near hits and misses of the one partition of an L2 that has no other.
void narrow_misses(CacheUnderTest& cache, const FarHits& far, const std::vector<double>& misses) {
  const bool sooner = far.fraction > most_far_fraction;
  const std::vector<double>& memory = sooner ? far.cycles : misses;
  if (!sooner) cache.ceiling_cycles = quantile(memory, 0.99) + band_margin_cycles;
  cache.threshold_cycles = quantile(memory, 0.01) - band_margin_cycles;
}

/// Size, segment and latency of far hits; gives back a remark on how the size was seen.
std::string characterize_size(CacheUnderTest& cache, const std::vector<double>& hits,
                              const std::vector<double>& misses, CacheGeometry& geometry) {
  const FarHits far = look_for_far_hits(cache, geometry.line_bytes, between(hits, misses),
                                        geometry.bound.fitting_bytes / 2 * 3);
  if (far.fraction < least_far_fraction || far.fraction > most_far_fraction) {
    narrow_misses(cache, far, misses);
    measure_size(cache, geometry);
    geometry.no_size = report_undivided_size(cache, geometry.part_bytes());
    geometry.one_side = !geometry.no_size.empty();
    return {};
  }
  cache.threshold_cycles = far.band.low_cycles;
  measure_size(cache, geometry);
  const FarHits beyond =
      look_for_far_hits(cache, geometry.line_bytes, far.band, geometry.part_bytes() / 2 * 3);
  if (beyond.fraction > least_far_fraction && beyond.share > most_far_share) {
    report_one_part(cache.run, fmt::format("all that misses takes {:.0f} cycles, sooner than from "
                                           "the memory: a cache on its side, no other partition",
                                           median(beyond.cycles)));
    return "a cache on the side of the memory answers beyond it";
  }
  const std::string remark = characterize_partitions(cache, far, geometry);
  // Sets are searched with lines of many pages: near hits behind a slow translation are none in
  // the far partition.
  cache.threshold_cycles =
      std::max(cache.threshold_cycles, (quantile(hits, 0.98) + quantile(far.cycles, 0.5)) / 2);
  return remark;
}

/// Whether the capacity at which the memory begins to answer is that of a cache on its side: then
/// half of it is answered by that cache, too, and not by the L2.
bool is_beyond_l2(const CacheUnderTest& cache, const CacheGeometry& geometry, const FarBand& band) {
  constexpr double least_fraction = 0.3;
  const std::uint64_t half_bytes = geometry.bound.fitting_bytes / 2;
  if (half_bytes < 2 * geometry.line_bytes) return false;
  const FarHits beyond = look_for_far_hits(cache, geometry.line_bytes, band, half_bytes);
  return beyond.fraction > least_fraction && beyond.share > most_far_share;
}

/// Sets, and what they tell of the size; gives back why they were not looked for, if they were not.
/// @param cache its near partition, where it has two
std::string report_structure(const CacheUnderTest& cache, CacheGeometry& geometry) {
  if (geometry.one_side) return geometry.no_size;
  if (const std::string too_many = why_too_many_lines(geometry); !too_many.empty()) {
    return too_many + " (cache.l2.slice_ways and slice_sets tell of one slice)";
  }
  CacheProbe probe(cache, geometry.part_bytes(), geometry.line_bytes);
  const SetFindings sets = characterize_sets_of_lines(probe, geometry);
  geometry.filled_bytes = sets.filled_bytes;
  return sets.reason;
}

/// @param cache with a threshold between hits and the memory
void characterize_l2(CacheUnderTest cache, std::vector<double> hits,
                     const std::vector<double>& misses) {
  JobRun& run = cache.run;
  report_replicated_latencies(run, cache.chase);
  std::string reason;
  auto geometry = measure_geometry(cache, reason);
  look_past_translations(cache, hits, misses, geometry, reason);
  if (geometry && is_beyond_l2(cache, *geometry, between(hits, misses))) {
    cache.threshold_cycles = between(hits, misses).low_cycles;
    geometry = measure_geometry(cache, reason);
  }
  if (!geometry) {
    report_l2_partitions(run);
    return run.report_rest("", Status::not_resolvable, reason);
  }
  const std::string remark = characterize_size(cache, hits, misses, *geometry);
  const bool quick = run.level() == SuiteLevel::quick;
  std::string no_sets;
  if (!quick) no_sets = report_structure(cache, *geometry);
  report_geometry(cache, *geometry, {.size = remark, .inner_cache = "cache.l1"});
  report_write_policy(cache, geometry->line_bytes);
  report_prefetch(cache, geometry->fetch.bytes);
  if (quick) return run.skip_rest("");
  report_l2_partitions(run);
  run.report_rest("", Status::not_resolvable, no_sets);
}

}  // namespace

void run_cache_l2(JobRun& run) {
  CacheUnderTest cache{.run = run,
                       .name = "cache.l2",
                       .chase = set_up_chase(run, LoadPath::past_l1, RecordSpace::longest)};
  const std::vector<double> hits = measure_hits(run, cache.chase, run.seed(), 8);
  const std::vector<double> misses =
      measure_memory_latencies(run, cache.chase, "cache.l2 memory", run.seed());
  const auto classes = separate_hits(hits, misses, least_memory_gap_cycles);
  if (!classes) {
    return run.report_rest(
        "", Status::not_present,
        fmt::format("a second load of a line takes {:.0f} cycles, a first one {:.0f}", median(hits),
                    median(misses)));
  }
  cache.threshold_cycles = classes->threshold_cycles;
  cache.limit_bytes = std::min(largest_l2_bytes, run.info().memory_bytes / 4);
  cache.seed = derive_seed(run.seed(), "cache.l2");
  characterize_l2(cache, hits, misses);
}

}  // namespace sonde
