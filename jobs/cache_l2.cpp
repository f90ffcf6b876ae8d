// Job `cache.l2`: the cache in front of the memory, by loads that pass the L1 by (cg). Where it has
// two halves, one SM fills the near one first: its bound is the segment, that of both the size.
// Method: docs/methods/cache.md.
#include "analysis/statistics.hpp"
#include "base/random.hpp"
#include "base/units.hpp"
#include "jobs/cache/geometry.hpp"
#include "jobs/cache/l2_partitions.hpp"
#include "jobs/cache/report.hpp"
#include "jobs/cache/writes_and_prefetch.hpp"
#include "jobs/jobs.hpp"
#include "jobs/sets/cache_probe.hpp"
#include "jobs/sets/search.hpp"

#include <fmt/format.h>

#include <cmath>

namespace sonde {
namespace {

// Memory lies at least this far behind the L2 on every GPU published.
constexpr double least_gap_cycles = 16;
// Four times the largest L2 known (B200: 126 MB).
constexpr std::uint64_t largest_l2_bytes = 512_MiB;
// Beyond 98 of 100 misses; few outliers fall into a band so narrow.
constexpr double band_margin_cycles = 6;
// Far hits must be this common at 1.5 times the segment to be a class of their own.
constexpr double least_far_fraction = 0.1;
// Half of all lines have their home on the near side: a class of nearly all that miss is the memory
// itself, seen sooner than by lines that each need a translation of their own (pages of 4 KB).
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

/// Lines all over a span that every L2 holds.
std::vector<double> measure_hits(JobRun& run, const ChaseSetup& setup) {
  ChasePlan plan;
  plan.offsets = shuffled_order(64_KiB, 128, run.seed());
  plan.warmup_passes = 2;
  plan.passes = 8;
  return position_medians(measure_chase(run, setup, "cache.l2 hits", plan));
}

/// Latencies of a steady chase through a span, as many as are worth keeping.
std::vector<double> sample_walk(JobRun& run, const CacheUnderTest& cache, std::uint64_t span_bytes,
                                std::uint64_t line_bytes) {
  constexpr std::uint64_t enough = 8192;
  ChasePlan plan;
  plan.offsets = shuffled_order(span_bytes / line_bytes * line_bytes, line_bytes, cache.seed);
  plan.recorded =
      std::min<std::uint64_t>({plan.offsets.size(), cache.setup.recordable_accesses, enough});
  return measure_chase(run, cache.setup, fmt::format("cache.l2 span {}", span_bytes), plan).cycles;
}

/// Hits in the other half, as a chase through 1.5 times the near half shows them.
struct FarSide {
  FarBand band;
  std::vector<double> hits_cycles;
  double fraction = 0;  // of that chase
};

FarSide look_for_far_side(JobRun& run, const CacheUnderTest& cache, const CacheGeometry& outline,
                          const FarBand& band, std::uint64_t span_bytes) {
  FarSide side{band, {}, 0};
  const std::vector<double> sample = sample_walk(run, cache, span_bytes, outline.line_bytes);
  for (double cycles : sample) {
    if (band.holds(cycles)) side.hits_cycles.push_back(cycles);
  }
  side.fraction = static_cast<double>(side.hits_cycles.size()) / static_cast<double>(sample.size());
  return side;
}

/// The footprint where far hits vanish, and how finely that can be seen: as the lines of the two
/// sides are mixed.
struct WholeEdge {
  CapacityBound bound;
  std::uint64_t mixing_bytes = 0;
  bool is_step = false;
};

/// To 1/32, and where hits end in a step on the way back after a fill.
WholeEdge measure_whole_edge(JobRun& run, const CacheUnderTest& cache, const FarSide& side,
                             const CacheGeometry& near_half) {
  const auto ask = [&](std::uint64_t span_bytes) {
    const FarSide now = look_for_far_side(run, cache, near_half, side.band, span_bytes);
    return now.fraction < side.fraction / 2 ? Fit::overflows : Fit::fits;
  };
  const std::uint64_t start_bytes = near_half.bound.fitting_bytes / 2 * 3;
  const CapacityBound coarse =
      find_capacity_bound({near_half.line_bytes, start_bytes, cache.limit_bytes, 1.0 / 64}, ask);
  if (coarse.overflowing_bytes == 0 || near_half.soft) return {coarse, 0, false};
  constexpr double mixing_seen = 0.4;  // sides change every few hundred KB at most
  constexpr double most_hits_behind = 0.002;
  CacheUnderTest far_lines = cache;
  far_lines.name = "cache.l2 whole";
  far_lines.threshold_cycles = side.band.high_cycles;
  const HitBoundary boundary = measure_return_boundary(run, far_lines, coarse, near_half.line_bytes,
                                                       side.fraction, mixing_seen);
  const std::uint64_t end_bytes = boundary.position * near_half.line_bytes;
  return {{end_bytes, end_bytes + near_half.line_bytes},
          boundary.longest_gap * near_half.line_bytes,
          boundary.hits_behind < most_hits_behind};
}

void report_one_part(JobRun& run) {
  const char* reason = "no latency between hit and memory appears beyond the size: one part";
  run.report(not_present("cache.l2.segment_bytes", reason));
  run.report(not_present("cache.l2.far_hit_latency_cycles", reason));
}

/// Size of both halves. They are equal if the end of far hits is where two equal ones would end;
/// finer than the mixing of the two sides that end cannot be seen. Where victims are drawn, far
/// hits fade out far beyond the size.
std::string characterize_halves(JobRun& run, const CacheUnderTest& cache, const FarSide& side,
                                CacheGeometry& shape) {
  constexpr double step_tolerance = 0.005;
  constexpr double most_mixing = 1.0 / 4;
  constexpr double fading_tolerance = 1.0 / 8;
  const WholeEdge whole = measure_whole_edge(run, cache, side, shape);
  const std::uint64_t segment_bytes = shape.part_bytes();
  const double whole_bytes = static_cast<double>(whole.bound.fitting_bytes);
  const double twice_bytes = 2 * static_cast<double>(segment_bytes);
  const double mixing = static_cast<double>(whole.mixing_bytes) / twice_bytes;
  const double off = std::abs(whole_bytes / twice_bytes - 1);
  const bool equal = whole.is_step && off < std::max(step_tolerance, std::min(mixing, most_mixing));
  shape.whole_bytes = equal ? 2 * segment_bytes : whole.bound.fitting_bytes;
  if (!whole.is_step && off > fading_tolerance) {
    shape.no_size = fmt::format(
        "hits in the far half fade out at {}, those in the near one at {}: victims seem to be "
        "drawn",
        format_bytes(whole_bytes), format_bytes(twice_bytes / 2));
  }
  run.report(found("cache.l2.segment_bytes", static_cast<double>(segment_bytes),
                   shape.soft ? 0.5 : 1, segment_bytes / shape.line_bytes));
  run.report(found("cache.l2.far_hit_latency_cycles", median(side.hits_cycles), 1,
                   side.hits_cycles.size(), median_absolute_deviation(side.hits_cycles)));
  return equal ? fmt::format("two halves of {}: hits in the far one end at {}",
                             format_bytes(twice_bytes / 2), format_bytes(whole_bytes))
               : "the footprint at which hits in the far half vanish";
}

/// Sets, and what they tell of the size. The memory is an order of magnitude slower than an L1:
/// sets of an L2 with very many lines would take minutes to look for.
/// @param cache its near half, where it has two
/// @return why metrics of sets are left without a finding
std::string report_structure(JobRun& run, CacheUnderTest cache, CacheGeometry& shape) {
  constexpr std::uint64_t most_lines = 1 << 17;
  const std::uint64_t lines = shape.part_bytes() / shape.line_bytes;
  if (lines > most_lines) {
    return fmt::format(
        "{} lines: a chase that overfills a set accesses most of them, hundreds of such chases "
        "take minutes; physical addresses hide the index",
        lines);
  }
  cache.name = "cache.l2";
  CacheProbe probe(run, cache, shape.part_bytes(), shape.line_bytes);
  const SetFindings sets = characterize_sets(probe);
  shape.filled_bytes = sets.filled_bytes;
  shape.sets_confirmed = sets.confirmed();
  return sets.reason;
}

}  // namespace

void run_cache_l2(JobRun& run) {
  const ChaseSetup setup = set_up_chase(run, LoadPath::cg, RecordSpace::longest);
  const std::vector<double> hits = measure_hits(run, setup);
  const std::vector<double> misses = measure_memory_latencies(run, setup, "cache.l2 memory");
  const auto classes = separate_hits(hits, misses, least_gap_cycles);
  if (!classes) {
    report_absent(run, "cache.l2",
                  fmt::format("a second load of a line takes {:.0f} cycles, a first one {:.0f}",
                              median(hits), median(misses)));
    return;
  }
  CacheUnderTest cache{.name = "cache.l2", .setup = setup};
  cache.threshold_cycles = classes->threshold_cycles;
  cache.limit_bytes = std::min(largest_l2_bytes, run.info().memory_bytes / 4);
  cache.seed = derive_seed(run.seed(), "cache.l2");
  report_latencies(run, "cache.l2", hits, misses);
  std::string reason;
  auto shape = measure_geometry(run, cache, reason);
  if (!shape) {
    report_l2_partitions(run);
    report_no_geometry(run, "cache.l2", reason);
    return;
  }
  const FarSide side = look_for_far_side(run, cache, *shape, between(hits, misses),
                                         shape->bound.fitting_bytes / 2 * 3);
  std::string remark;
  if (side.fraction < least_far_fraction || side.fraction > most_far_fraction) {
    const bool sooner = side.fraction > most_far_fraction;
    const std::vector<double>& memory = sooner ? side.hits_cycles : misses;
    if (!sooner) cache.ceiling_cycles = quantile(memory, 0.99) + band_margin_cycles;
    cache.threshold_cycles = quantile(memory, 0.01) - band_margin_cycles;
    measure_size(run, cache, *shape);
    report_one_part(run);
  } else {
    cache.threshold_cycles = side.band.low_cycles;
    measure_size(run, cache, *shape);
    remark = characterize_halves(run, cache, side, *shape);
    // Sets are searched with lines of many pages: near hits behind a slow translation are none in
    // the far half.
    cache.threshold_cycles = std::max(cache.threshold_cycles,
                                      (quantile(hits, 0.98) + quantile(side.hits_cycles, 0.5)) / 2);
  }
  const bool quick = run.level() == SuiteLevel::quick;
  const std::string no_sets =
      quick ? "the quick suite does not look for sets" : report_structure(run, cache, *shape);
  report_geometry(run, "cache.l2", *shape, remark);
  report_write_policy(run, cache, shape->line_bytes);
  report_prefetch(run, cache, shape->fetch.bytes);
  if (!quick) report_l2_partitions(run);
  run.report_rest("cache.l2.", quick ? Status::skipped : Status::not_resolvable, no_sets);
}

}  // namespace sonde
