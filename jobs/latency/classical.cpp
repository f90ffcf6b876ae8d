// The curves of the classical methods of Saavedra (1992) and Wong (2010) for the job `latency`.
// Method: docs/methods/staircases.md.
#include "jobs/chase/pointer_chase.hpp"
#include "jobs/latency/parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace sonde {
namespace {

constexpr std::uint64_t least_accesses = 4096;  // jitter of one cycle is 1/64 cycle in the mean
constexpr std::uint64_t most_wong_points = 64;
constexpr std::uint64_t settling_passes = 3;  // random replacement fills over several passes

/// The first cache of plain loads, or of read-only loads if plain loads have none.
struct StaircaseCache {
  std::string name;
  LoadPath path = LoadPath::all_levels;
  std::uint64_t size_bytes = 0;
  std::uint64_t line_bytes = 0;
  std::optional<double> ways;
};

std::optional<StaircaseCache> choose_cache(const JobRun& run) {
  for (LoadPath path : {LoadPath::all_levels, LoadPath::read_only}) {
    const std::string name = path == LoadPath::all_levels ? "cache.l1" : "cache.readonly";
    const auto size_bytes = run.number(name + ".size_bytes");
    const auto line_bytes = run.number(name + ".line_bytes");
    if (!size_bytes || !line_bytes) continue;
    return StaircaseCache{.name = name,
                          .path = path,
                          .size_bytes = static_cast<std::uint64_t>(*size_bytes),
                          .line_bytes = static_cast<std::uint64_t>(*line_bytes),
                          .ways = run.number(name + ".ways")};
  }
  return std::nullopt;
}

/// Mean latency of whole passes over an ascending chase, after settling passes.
double measure_mean(JobRun& run, const ChaseSetup& setup, const char* method,
                    std::uint64_t footprint_bytes, std::uint64_t stride_bytes) {
  ChasePlan plan;
  const std::uint64_t places = (footprint_bytes + stride_bytes - 1) / stride_bytes;
  plan.offsets = ascending_order(places * stride_bytes, stride_bytes);
  plan.warmup_passes = settling_passes;
  const std::uint64_t passes = (least_accesses + places - 1) / places;
  return measure_amortised_cycles(run, setup,
                                  fmt::format("{} {} / {}", method, footprint_bytes, stride_bytes),
                                  plan, passes * places);
}

/// Mean latencies of ascending chases, for each footprint and stride.
struct SaavedraCurves {
  std::vector<double> strides_bytes;     // ascending; each is twice the one before
  std::vector<double> footprints_bytes;  // ascending
  std::vector<double> cycles;            // [footprint * number of strides + stride]
};

/// Strides from a word to the size; footprints from half of the size to four times the size: powers
/// of two if the size is one.
SaavedraCurves chase_saavedra(JobRun& run, const ChaseSetup& setup, const StaircaseCache& cache) {
  SaavedraCurves curves;
  for (std::uint64_t stride = access_bytes(cache.path); stride <= cache.size_bytes; stride *= 2) {
    curves.strides_bytes.push_back(static_cast<double>(stride));
  }
  for (std::uint64_t footprint = cache.size_bytes / 2; footprint <= 4 * cache.size_bytes;
       footprint *= 2) {
    curves.footprints_bytes.push_back(static_cast<double>(footprint));
    for (double stride : curves.strides_bytes) {
      curves.cycles.push_back(
          measure_mean(run, setup, "Saavedra", footprint, static_cast<std::uint64_t>(stride)));
    }
  }
  return curves;
}

/// Mean latencies of ascending chases over footprints in equal steps around the size. The last
/// footprint is far larger: every load misses.
struct WongCurve {
  std::vector<double> footprints_bytes;
  std::vector<double> cycles;
};

/// Footprints around the size in steps of a line (2, 4, ... lines if the stairs of all sets need
/// too many), and at the end twice the size.
WongCurve chase_wong(JobRun& run, const ChaseSetup& setup, const StaircaseCache& cache) {
  constexpr std::uint64_t lines_around = 16;  // sees four stairs of four lines (texture caches)
  constexpr std::uint64_t lines_behind = 8;   // on the flat part of the curve
  const std::uint64_t size_lines = cache.size_bytes / cache.line_bytes;
  const double ways = cache.ways.value_or(4);  // Fermi's L1
  const auto set_lines = static_cast<std::uint64_t>(static_cast<double>(size_lines) / ways);
  const std::uint64_t around_lines = std::min(size_lines / 2, std::max(lines_around, set_lines));
  const std::uint64_t span_lines = 2 * around_lines + lines_behind;
  const std::uint64_t step_lines =
      std::bit_ceil((span_lines + most_wong_points - 1) / most_wong_points);
  WongCurve curve;
  const auto add = [&](std::uint64_t lines) {
    const std::uint64_t footprint = lines * cache.line_bytes;
    curve.footprints_bytes.push_back(static_cast<double>(footprint));
    curve.cycles.push_back(measure_mean(run, setup, "Wong", footprint, cache.line_bytes));
  };
  const std::uint64_t steps_before = around_lines / step_lines;
  for (std::uint64_t step = 0; step <= span_lines / step_lines; ++step) {
    add(size_lines + (step - steps_before) * step_lines);
  }
  add(2 * size_lines);
  return curve;
}

void report_curve(JobRun& run, const char* metric, const std::vector<double>& values,
                  std::string remark) {
  run.report(found(metric, values, 1, values.size()), std::move(remark));
}

}  // namespace

void report_classical_staircases(JobRun& run) {
  const auto cache = choose_cache(run);
  const bool quick = run.level() == SuiteLevel::quick;
  for (const char* prefix : {"latency.saavedra_", "latency.wong_"}) {
    if (quick) {
      run.skip_rest(prefix);
    } else if (!cache) {
      run.report_rest(prefix, Status::not_present,
                      "no first cache of plain or read-only loads was found");
    }
  }
  if (quick || !cache) return;
  const ChaseSetup setup = set_up_chase(run, cache->path, RecordSpace::with_largest_l1);
  const SaavedraCurves saavedra = chase_saavedra(run, setup, *cache);
  const WongCurve wong = chase_wong(run, setup, *cache);
  const std::string through = fmt::format("{}, by {} loads", cache->name, to_text(cache->path));
  report_curve(run, "latency.saavedra_stride_bytes", saavedra.strides_bytes, through);
  report_curve(run, "latency.saavedra_footprint_bytes", saavedra.footprints_bytes, through);
  report_curve(run, "latency.saavedra_cycles", saavedra.cycles,
               through + "; a row of all strides for each footprint");
  report_curve(run, "latency.wong_footprint_bytes", wong.footprints_bytes, through);
  report_curve(run, "latency.wong_cycles", wong.cycles, through);
}

}  // namespace sonde
