// The curves of the classical methods, Saavedra's (1992) and Wong's (2010), for the job `latency`:
// what people know from papers, and what each would conclude co_resident what cache.l1 found.
// Method: docs/methods/staircases.md.
#include "analysis/structure/capacity/classical.hpp"
#include "jobs/chase/pointer_chase.hpp"
#include "jobs/latency/parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

namespace sonde {
namespace {

constexpr std::array curve_metrics{"latency.saavedra_stride_bytes",
                                   "latency.saavedra_footprint_bytes", "latency.saavedra_cycles",
                                   "latency.wong_footprint_bytes", "latency.wong_cycles"};
constexpr const char* saavedra_ways = "latency.saavedra_ways";
constexpr const char* wong_ways = "latency.wong_ways";

constexpr std::uint64_t least_accesses = 4096;  // jitter of a cycle is 1/64 of one in the mean
constexpr std::uint64_t most_wong_points = 64;
constexpr std::uint64_t settling_passes = 3;  // victims that are drawn spread over some passes

/// The first cache of plain loads, or of read-only loads where plain ones have none.
struct StaircaseCache {
  std::string name;
  LoadPath path = LoadPath::ca;
  std::uint64_t size_bytes = 0;
  std::uint64_t line_bytes = 0;
  std::optional<double> ways;
};

std::optional<StaircaseCache> choose_cache(const JobRun& run) {
  for (const auto& [name, path] :
       {std::pair{"cache.l1", LoadPath::ca}, std::pair{"cache.readonly", LoadPath::nc}}) {
    const std::string prefix = name;
    const auto size_bytes = run.number(prefix + ".size_bytes");
    const auto line_bytes = run.number(prefix + ".line_bytes");
    if (!size_bytes || !line_bytes) continue;
    return StaircaseCache{prefix, path, static_cast<std::uint64_t>(*size_bytes),
                          static_cast<std::uint64_t>(*line_bytes), run.number(prefix + ".ways")};
  }
  return std::nullopt;
}

/// Mean of whole passes over an ascending chase, settled before.
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

/// Strides from a word to the size, footprints from half of the size to four times it: powers of
/// two, as far as the size is one.
SaavedraCurves walk_saavedra(JobRun& run, const ChaseSetup& setup, const StaircaseCache& cache) {
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

/// Footprints around the size in steps of a line (of 2, 4, ... lines where the stairs of all sets
/// would take too many), and twice the size at the end.
WongCurve walk_wong(JobRun& run, const ChaseSetup& setup, const StaircaseCache& cache) {
  constexpr std::uint64_t lines_around = 16;  // sees four stairs of four lines (texture caches)
  constexpr std::uint64_t lines_behind = 8;   // of the flat part
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

void report_curve(JobRun& run, const char* metric, std::vector<double> values, std::string note) {
  const std::uint64_t points = values.size();
  Finding finding = found(metric, std::move(values), 1, points);
  finding.reason = std::move(note);
  run.report(std::move(finding));
}

/// What the method says is reported even if it is contradicted, but then has no confidence.
void report_answer(JobRun& run, const char* metric, const ClassicalAnswer& answer,
                   std::optional<double> known_ways, const std::string& contradiction,
                   std::uint64_t points) {
  if (!answer.ways) {
    run.report(not_resolvable(metric, answer.reason));
    return;
  }
  const bool credible = contradiction.empty() || answer.ways == known_ways;
  Finding finding = found(metric, *answer.ways, credible ? 1 : 0, points);
  finding.reason = contradiction;
  run.report(std::move(finding));
}

}  // namespace

void report_classical_staircases(JobRun& run) {
  const auto report_all = [&run](auto make_finding, const std::string& reason) {
    for (const char* metric : curve_metrics) run.report(make_finding(metric, reason));
    for (const char* metric : {saavedra_ways, wong_ways}) run.report(make_finding(metric, reason));
  };
  if (run.level() == SuiteLevel::quick) {
    report_all(not_resolvable, "the quick suite does not walk the classical staircases");
    return;
  }
  const auto cache = choose_cache(run);
  if (!cache) {
    report_all(not_present, "no first cache of plain or read-only loads was found");
    return;
  }
  const ChaseSetup setup = set_up_chase(run, cache->path, RecordSpace::with_largest_l1);
  const SaavedraCurves saavedra = walk_saavedra(run, setup, *cache);
  const WongCurve wong = walk_wong(run, setup, *cache);
  const ClassicalAnswer by_saavedra =
      conclude_saavedra(saavedra, static_cast<double>(cache->size_bytes));
  const ClassicalAnswer by_wong = conclude_wong(wong);
  const std::string contradiction = describe_contradiction(by_saavedra, by_wong, cache->ways);
  report_answer(run, saavedra_ways, by_saavedra, cache->ways, contradiction,
                saavedra.cycles.size());
  report_answer(run, wong_ways, by_wong, cache->ways, contradiction, wong.cycles.size());
  const std::string through = fmt::format("{}, by {} loads", cache->name, to_text(cache->path));
  report_curve(run, "latency.saavedra_stride_bytes", saavedra.strides_bytes, through);
  report_curve(run, "latency.saavedra_footprint_bytes", saavedra.footprints_bytes, through);
  report_curve(run, "latency.saavedra_cycles", saavedra.cycles,
               through + "; a row of all strides for each footprint");
  report_curve(run, "latency.wong_footprint_bytes", wong.footprints_bytes, through);
  report_curve(run, "latency.wong_cycles", wong.cycles, through);
}

}  // namespace sonde
