// Fits stairs to times against warps.
#include "analysis/structure/cores/issue.hpp"

#include "analysis/statistics.hpp"
#include "base/error.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sonde {
namespace {

/// Times above this factor rise; loops and their jumps add a few percent.
constexpr double climb_factor = 1.05;
/// A worse fit explains nothing; fits of real and simulated SMs are within 1 %.
constexpr double largest_error = 0.02;
/// Factor by which the best fit must be better than all others.
constexpr double least_advantage = 2;
constexpr int most_schedulers = 8;
/// Stairs that must be seen completely.
constexpr std::size_t least_stairs = 2;

int warps_of_fullest(std::size_t warps, int schedulers) {
  return static_cast<int>((warps + static_cast<std::size_t>(schedulers) - 1) /
                          static_cast<std::size_t>(schedulers));
}

/// The best latency and interval for a number of schedulers; nothing if the times rise too briefly.
std::optional<IssueShape> fit_stairs(std::span<const double> step_cycles, int schedulers) {
  IssueShape shape{.schedulers = schedulers, .latency_cycles = step_cycles.front()};
  std::vector<double> intervals;
  for (std::size_t i = 0; i < step_cycles.size(); ++i) {
    if (step_cycles[i] <= shape.latency_cycles * climb_factor) continue;
    intervals.push_back(step_cycles[i] / warps_of_fullest(i + 1, schedulers));
  }
  if (intervals.size() < least_stairs * static_cast<std::size_t>(schedulers)) return std::nullopt;
  shape.interval_cycles = median(intervals);
  for (std::size_t i = 0; i < step_cycles.size(); ++i) {
    const double expected =
        std::max(shape.latency_cycles, warps_of_fullest(i + 1, schedulers) * shape.interval_cycles);
    shape.error += std::abs(step_cycles[i] - expected) / expected;
  }
  shape.error /= static_cast<double>(step_cycles.size());
  return shape;
}

}  // namespace

std::vector<double> step_cycles(const Trace& shorter, const Trace& longer, double further_steps) {
  require(shorter.lanes.size() == longer.lanes.size(), "two runs of chains have different lanes");
  std::vector<double> cycles;
  for (std::size_t i = 0; i < longer.lanes.size(); ++i) {
    require(shorter.lanes[i].sm == longer.lanes[i].sm, "two runs of chains have different SMs");
    const double more = static_cast<double>(longer.lanes[i].elapsed_cycles) -
                        static_cast<double>(shorter.lanes[i].elapsed_cycles);
    cycles.push_back(more / further_steps);
  }
  return cycles;
}

std::optional<IssueShape> infer_issue(std::span<const double> step_cycles) {
  if (step_cycles.empty()) return std::nullopt;
  std::optional<IssueShape> best;
  double next_error = std::numeric_limits<double>::infinity();
  for (int schedulers = 1; schedulers <= most_schedulers; ++schedulers) {
    const auto shape = fit_stairs(step_cycles, schedulers);
    if (!shape) continue;
    if (!best || shape->error < best->error) {
      if (best) next_error = best->error;
      best = shape;
    } else {
      next_error = std::min(next_error, shape->error);
    }
  }
  if (!best || best->error > largest_error) return std::nullopt;
  if (next_error < best->error * least_advantage + largest_error / 2) return std::nullopt;
  return best;
}

}  // namespace sonde
