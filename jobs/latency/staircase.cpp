// The staircase of the job `latency`: mean latency of random chases against their footprint, the
// usual picture of a memory hierarchy (Saavedra 1992, Wong 2010).
#include "base/gpu_facts.hpp"
#include "base/units.hpp"
#include "jobs/chase/known_l2.hpp"
#include "jobs/chase/pointer_chase.hpp"
#include "jobs/latency/parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace sonde {
namespace {

// Footprints up to this size cost almost no time; larger ones need a long warm-up.
constexpr std::uint64_t fine_limit_bytes = 2_MiB;
constexpr double fine_points_per_octave = 6;
constexpr double coarse_points_per_octave = 2;
constexpr double quick_points_per_octave = 2;
constexpr std::uint64_t unknown_l2_bytes = 8_MiB;

std::vector<std::uint64_t> choose_footprints(const JobRun& run, std::uint64_t line_bytes) {
  const double l2_bytes = known_l2_parts(run) * known_l2_part_bytes(run);
  const double largest_bytes =
      2 * (l2_bytes > 0 ? l2_bytes : static_cast<double>(unknown_l2_bytes));
  std::vector<std::uint64_t> footprints;
  for (double bytes = 1024; bytes <= largest_bytes;) {
    const auto lines = static_cast<std::uint64_t>(bytes) / line_bytes;
    const std::uint64_t footprint = std::max<std::uint64_t>(1, lines) * line_bytes;
    if (footprints.empty() || footprint > footprints.back()) footprints.push_back(footprint);
    const bool fine = bytes < static_cast<double>(fine_limit_bytes);
    double points_per_octave = fine ? fine_points_per_octave : coarse_points_per_octave;
    if (run.level() == SuiteLevel::quick) points_per_octave = quick_points_per_octave;
    bytes *= std::exp2(1 / points_per_octave);
  }
  return footprints;
}

}  // namespace

void report_staircase(JobRun& run) {
  constexpr std::uint64_t fewest_accesses = 2048;
  constexpr std::uint64_t most_accesses = 8192;
  const double usual_line_bytes =
      run.number("cache.l2.line_bytes").value_or(static_cast<double>(common_line_bytes));
  const auto line_bytes = static_cast<std::uint64_t>(
      std::min(usual_line_bytes, run.number("cache.l1.line_bytes").value_or(usual_line_bytes)));
  const ChaseSetup setup = set_up_chase(run, LoadPath::all_levels, RecordSpace::with_largest_l1);
  std::vector<double> footprints_bytes;
  std::vector<double> mean_cycles;
  for (std::uint64_t footprint : choose_footprints(run, line_bytes)) {
    ChasePlan plan;
    plan.offsets = shuffled_order(footprint, line_bytes, run.seed());
    plan.warmup_passes = plan.offsets.size() < fewest_accesses ? 2 : 1;
    const std::uint64_t accesses =
        std::clamp<std::uint64_t>(plan.offsets.size(), fewest_accesses, most_accesses);
    footprints_bytes.push_back(static_cast<double>(footprint));
    mean_cycles.push_back(measure_amortised_cycles(
        run, setup, fmt::format("staircase {}", footprint), plan, accesses));
  }
  const std::uint64_t points = footprints_bytes.size();
  run.report("latency.staircase_bytes", std::move(footprints_bytes), points);
  run.report("latency.staircase_cycles", std::move(mean_cycles), points);
}

}  // namespace sonde
