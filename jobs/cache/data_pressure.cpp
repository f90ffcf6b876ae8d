// Lanes that chase through far more memory than the L2 holds, on every SM.
#include "jobs/cache/data_pressure.hpp"

#include "analysis/structure/latency/latency_gaps.hpp"
#include "base/gpu_facts.hpp"
#include "base/random.hpp"
#include "jobs/run/attempt.hpp"

#include <algorithm>

namespace sonde {
namespace {

constexpr std::uint64_t lanes_per_sm = 12;    // their records share what an SM has
constexpr std::uint64_t recorded = 512;       // of the chase
constexpr std::uint64_t spans_of_l2 = 4;      // that lanes read in all
constexpr std::uint64_t turnovers_of_l2 = 1;  // between two accesses to a line of the chase

/// Lines of the span in any order, in each somewhere: the L2's may be shorter.
Offsets data_lines(std::uint64_t first_line, std::uint64_t lines, Random& random) {
  Offsets offsets;
  for (std::uint64_t line = 0; line < lines; ++line) {
    const std::uint64_t part = random.below(common_line_bytes / smallest_line_bytes);
    offsets.push_back((first_line + line) * common_line_bytes + part * smallest_line_bytes);
  }
  shuffle(offsets, random);
  return offsets;
}

/// SMs that surely read through the same partition of the L2 as that of the chase, itself included.
std::uint64_t sms_of_one_side(const JobRun& run) {
  constexpr std::uint64_t least_share = 4;  // of many SMs half are on each side
  const auto sms = static_cast<std::uint64_t>(run.info().sm_count);
  const bool is_divided =
      run.number("cache.l2.far_hit_latency_cycles") || run.number("cache.l2.atomic_far_cycles");
  return is_divided ? std::max<std::uint64_t>(1, sms / least_share) : sms;
}

/// Lanes on all SMs; none if they are too few to read as many lines as the L2 has while the chase
/// accesses `accesses` lines.
std::vector<ChaseLane> data_lanes(const JobRun& run, std::uint64_t accesses) {
  const auto l2_bytes = static_cast<std::uint64_t>(
      run.number("cache.l2.size_bytes").value_or(static_cast<double>(run.info().l2_bytes)));
  const auto l2_line_bytes = static_cast<std::uint64_t>(
      run.number("cache.l2.line_bytes").value_or(static_cast<double>(common_line_bytes)));
  if (sms_of_one_side(run) * lanes_per_sm * accesses < turnovers_of_l2 * l2_bytes / l2_line_bytes)
    return {};
  const std::uint64_t lane_count = static_cast<std::uint64_t>(run.info().sm_count) * lanes_per_sm;
  const std::uint64_t lines = spans_of_l2 * l2_bytes / common_line_bytes / lane_count + 1;
  Random random(derive_seed(run.seed(), "under data"));
  std::vector<ChaseLane> lanes;
  for (int sm = 0; sm < run.info().sm_count; ++sm) {
    for (std::uint64_t i = 0; i < lanes_per_sm; ++i) {
      lanes.push_back({.sm = sm,
                       .offsets_bytes = data_lines(lanes.size() * lines, lines, random),
                       .path = LoadPath::past_l1});
    }
  }
  return lanes;
}

}  // namespace

std::optional<bool> survives_data(JobRun& run, const ChaseSetup& setup,
                                  const std::string& path_name, const LatencyClass& found) {
  constexpr double least_share = 0.5;
  const ChasePlan plan = steady_plan(setup, found.first_span_bytes,
                                     std::max(smallest_line_bytes, access_bytes(setup.path)),
                                     derive_seed(run.seed(), "under data"));
  std::vector<ChaseLane> lanes = data_lanes(run, plan.offsets.size());
  if (lanes.empty()) return std::nullopt;
  lanes.insert(lanes.begin(), {.sm = setup.sm, .offsets_bytes = plan.offsets, .path = setup.path});
  LaneChases chases{.lanes = std::move(lanes),
                    .warmup_accesses = 2 * plan.offsets.size(),
                    .recorded_accesses = std::min<std::uint64_t>(recorded, plan.offsets.size())};
  chases.most_at_once = chases.recorded_accesses;
  std::vector<double> cycles;
  const auto refusal = refusal_of([&] {
    cycles = record_lanes(run, setup, path_name + " under data", std::move(chases)).front();
  });
  if (refusal) return std::nullopt;
  // What inner caches hold is no matter.
  std::erase_if(cycles,
                [&](double of_load) { return of_load < found.low_cycles - least_hit_gap_cycles; });
  const auto served = std::ranges::count_if(
      cycles, [&](double of_load) { return of_load <= found.high_cycles + least_hit_gap_cycles; });
  return !cycles.empty() &&
         static_cast<double>(served) >= least_share * static_cast<double>(cycles.size());
}

}  // namespace sonde
