// The bound of near hits is the segment, that of far hits the size.
#include "jobs/cache/l2_size.hpp"

#include "analysis/statistics.hpp"
#include "analysis/structure/latency/latency_gaps.hpp"
#include "base/gpu_facts.hpp"
#include "base/units.hpp"
#include "jobs/cache/capacity.hpp"
#include "jobs/cache/fill_and_return.hpp"
#include "jobs/cache/l2_partitions.hpp"
#include "jobs/run/clock_window.hpp"
#include "jobs/run/replicates.hpp"

#include <fmt/format.h>

#include <algorithm>
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
  if (coarse.fitting_bytes == 0 || coarse.overflowing_bytes == 0 || segment.gradual)
    return {coarse, 0, false};
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

void report_segment(const CacheUnderTest& cache, const CacheGeometry& geometry) {
  const std::uint64_t segment_bytes = geometry.part_bytes();
  Finding segment = found("cache.l2.segment_bytes", static_cast<double>(segment_bytes),
                          geometry.gradual ? 0.5 : 1, segment_bytes / geometry.line_bytes);
  segment.interval = geometry.part_interval();
  segment.replicates = geometry.replicates;
  cache.run.report(std::move(segment));
}

/// Size of both partitions, as a remark on how it was seen. They are equal if the end of far hits
/// is where two equal ones would end; finer than the mixing of those that end cannot be seen. Under
/// random replacement the rate of far hits decays gradually, far beyond the size, and where homes
/// and sets go by the same bits of the address, some sets of far lines end before others: then the
/// SMs, by the lines near to each, tell that there are two.
std::string characterize_partitions(const CacheUnderTest& cache, const FarHits& far, L2Parts parts,
                                    CacheGeometry& geometry) {
  constexpr double step_tolerance = 0.005;
  constexpr double most_mixing = 1.0 / 4;
  constexpr double decay_tolerance = 1.0 / 8;
  const WholeBound whole = measure_whole_bound(cache, far, geometry);
  const double part_bytes = static_cast<double>(geometry.part_bytes());
  const double end_bytes = static_cast<double>(whole.bound.fitting_bytes);
  const double all_bytes = 2 * part_bytes;
  const double mixing = static_cast<double>(whole.mixing_bytes) / all_bytes;
  const double off = std::abs(end_bytes / all_bytes - 1);
  const bool equal = whole.is_step && off < std::max(step_tolerance, std::min(mixing, most_mixing));
  report_segment(cache, geometry);
  report_far_hits(cache, far, geometry);
  const std::string end = format_bytes(end_bytes);
  const bool seen_by_sms = parts == L2Parts::several;
  if (equal || (seen_by_sms && (whole.is_step || off > decay_tolerance))) {
    geometry.partitions = 2;
    return fmt::format("2 partitions of {}{}: hits in the far one end at {}",
                       format_bytes(part_bytes),
                       equal ? "" : ", as the SMs that are near to their lines tell", end);
  }
  if (off > decay_tolerance) {
    geometry.no_size = fmt::format(
        "hits in the far partition end at {}, those in the near one at {}: {}", end,
        format_bytes(part_bytes),
        whole.is_step ? "not what two equal ones hold" : "replacement seems to be random");
    return {};
  }
  geometry.whole_bytes = whole.bound.fitting_bytes;
  return "the footprint at which hits in the far partition vanish";
}

/// Near hits and misses of the one partition of an L2 that has no other.
void narrow_misses(CacheUnderTest& cache, const FarHits& far, const std::vector<double>& misses) {
  const bool sooner = far.fraction > most_far_fraction;
  const std::vector<double>& memory = sooner ? far.cycles : misses;
  if (!sooner) cache.ceiling_cycles = quantile(memory, 0.99) + band_margin_cycles;
  cache.threshold_cycles = quantile(memory, 0.01) - band_margin_cycles;
}

void report_far_hits_of_sms(JobRun& run, const LoadedElsewhere& parts) {
  run.report(found_replicated("cache.l2.far_hit_latency_cycles",
                              summarize_replicates(parts.far_hits_of_sm)));
}

/// Where no latency between hits and the memory appears. An L2 may be divided all the same, see
/// report_parts_without_copies; with copies all lines of a footprint in a row may have their home
/// in the near partition, or all in another one.
void report_without_far_hits(const CacheUnderTest& cache, const LoadedElsewhere& parts,
                             CacheGeometry& geometry) {
  if (const auto uneven = report_parts_without_copies(cache, geometry.part_bytes())) {
    geometry.no_size = *uneven;
    geometry.one_side = !uneven->empty();
  } else if (parts.kind == L2Parts::several) {
    geometry.partitions = 2;
    report_segment(cache, geometry);
    report_far_hits_of_sms(cache.run, parts);
  } else {
    report_one_part(cache.run,
                    "no latency between hit and memory appears beyond the size, and all SMs are as "
                    "near to the same lines: one part");
  }
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
  const std::string remark = characterize_partitions(cache, far, parts.kind, geometry);
  // Sets are searched with lines of many pages: near hits behind a slow translation are none in
  // the far partition.
  cache.threshold_cycles =
      std::max(cache.threshold_cycles, (quantile(hits, 0.98) + quantile(far.cycles, 0.5)) / 2);
  return remark;
}

}  // namespace sonde
