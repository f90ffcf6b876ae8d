// Modes of the latencies of each footprint; the one that answers most of some footprint counts.
#include "jobs/cache/memory_side.hpp"

#include "analysis/statistics.hpp"
#include "analysis/structure/latency/chase_latencies.hpp"
#include "analysis/structure/latency/latency_gaps.hpp"
#include "base/gpu_facts.hpp"
#include "jobs/chase/known_latencies.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sonde {
namespace {

// Of all loads of a footprint. An L2 may keep most of what is far more than it holds (BRRIP: 0.77
// of four times as much), so that little is left for the cache behind it.
constexpr double least_share = 0.2;

double share_above(const FootprintChase& chase, double bound_cycles) {
  return fraction_above({chase.cycles.size(), chase.cycles}, bound_cycles);
}

LatencyClass class_of_mode(const FootprintChase& chase, const Mode& mode) {
  LatencyClass found{.first_span_bytes = chase.span_bytes,
                     .low_cycles = mode.low,
                     .high_cycles = mode.high,
                     .cycles = {}};
  for (const double cycles : chase.cycles)
    if (cycles >= mode.low && cycles <= mode.high) found.cycles.push_back(cycles);
  return found;
}

}  // namespace

std::vector<FootprintChase> survey_spans(JobRun& run, const ChaseSetup& setup,
                                         const std::string& label, const SurveyedSpans& spans) {
  constexpr std::uint64_t enough = 2048;
  const std::uint64_t end_bytes = std::min(largest_l2_bytes, run.info().memory_bytes / 4);
  const std::uint64_t least_bytes = 16 * smallest_page_bytes;
  std::vector<FootprintChase> chases;
  const auto chase = [&](std::uint64_t bytes) {
    const std::uint64_t span_bytes = bytes / smallest_page_bytes * smallest_page_bytes;
    const ChasePlan plan = translated_plan(setup, span_bytes, spans.step_bytes, run.seed(), enough);
    chases.push_back({span_bytes, measure_translated(
                                      run, setup, fmt::format("{} {}", label, span_bytes), plan)});
  };
  const auto is_over = [&](std::uint64_t bytes) {
    const double memory_cycles = spans.memory_cycles - least_memory_gap_cycles;
    return bytes > end_bytes ||
           (bytes >= spans.to_bytes && share_above(chases.back(), memory_cycles) >= 0.5);
  };
  for (std::uint64_t bytes = std::max(spans.from_bytes, least_bytes); bytes <= end_bytes;
       bytes *= 2) {
    chase(bytes);
    const std::uint64_t half_octave_bytes = bytes / 5 * 7;
    if (is_over(bytes) || half_octave_bytes > end_bytes) break;
    chase(half_octave_bytes);
    if (is_over(half_octave_bytes)) break;
  }
  return chases;
}

std::optional<Between> find_between(const std::vector<FootprintChase>& chases, double above_cycles,
                                    double below_cycles) {
  std::optional<Between> most;
  for (const FootprintChase& chase : chases) {
    for (const Mode& mode : find_modes(chase.cycles, least_level_gap_cycles, least_share)) {
      if (mode.low <= above_cycles + least_level_gap_cycles ||
          mode.center >= below_cycles - least_memory_gap_cycles) {
        continue;
      }
      const double no_hits = share_above(chase, above_cycles + least_level_gap_cycles) *
                             static_cast<double>(chase.cycles.size());
      const double share = static_cast<double>(mode.count) / no_hits;
      if (!most || share > most->share) most = Between{class_of_mode(chase, mode), share};
    }
  }
  return most;
}

}  // namespace sonde
