// Fits stairs to times against warps.
#include "analysis/structure/cores/issue.hpp"

#include "analysis/statistics.hpp"
#include "base/error.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace sonde {
namespace {

/// Beyond it times climb: loops and their jumps add some percent.
constexpr double climb_factor = 1.05;
/// A fit that is further off explains nothing; those of real and simulated SMs are within 1 %.
constexpr double largest_error = 0.02;
/// By which the best fit must beat all others.
constexpr double least_advantage = 2;
constexpr int most_schedulers = 8;
/// Stairs that must be seen from begin to end.
constexpr std::size_t least_stairs = 2;

int warps_of_fullest(std::size_t warps, int schedulers) {
  return static_cast<int>((warps + static_cast<std::size_t>(schedulers) - 1) /
                          static_cast<std::size_t>(schedulers));
}

/// The best latency and interval for so many schedulers; nothing if times do not climb for long
/// enough.
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

std::vector<double> step_cycles(const Trace& shorter, const Trace& longer, double shorter_steps,
                                double longer_steps) {
  require(shorter.lanes.size() == longer.lanes.size(), "two runs of chains have other lanes");
  std::vector<double> cycles;
  for (std::size_t i = 0; i < longer.lanes.size(); ++i) {
    require(shorter.lanes[i].sm == longer.lanes[i].sm, "two runs of chains have other SMs");
    const double more = static_cast<double>(longer.lanes[i].elapsed_cycles) -
                        static_cast<double>(shorter.lanes[i].elapsed_cycles);
    cycles.push_back(more > 0 ? more / (longer_steps - shorter_steps)
                              : std::numeric_limits<double>::quiet_NaN());
  }
  return cycles;
}

std::optional<IssueShape> infer_issue(std::span<const double> step_cycles) {
  const bool all_known = std::ranges::all_of(step_cycles, [](double cycles) { return cycles > 0; });
  if (step_cycles.empty() || !all_known) return std::nullopt;
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
  best->next_error = next_error;
  if (next_error < best->error * least_advantage + largest_error / 2) return std::nullopt;
  return best;
}

double overlap_of(double first_cycles, double second_cycles, double both_cycles) {
  return (first_cycles + second_cycles - both_cycles) / std::min(first_cycles, second_cycles);
}

PaceLimits choose_limits(double noise) {
  PaceLimits limits;
  limits.fast = std::max(limits.fast, 1 + 3 * noise);
  limits.slow = std::max(limits.slow, 1 + 6 * noise);
  return limits;
}

Paces split_paces(const PortTrial& trial, const PaceLimits& limits) {
  Paces paces;
  for (std::size_t i = 0; i < trial.units.size(); ++i) {
    if (trial.slowdowns[i] < limits.fast) paces.fast.push_back(trial.units[i]);
    if (trial.slowdowns[i] > limits.slow) paces.slow.push_back(trial.units[i]);
  }
  return paces;
}

bool holds_up_others(const PortTrial& trial, std::size_t members) {
  const auto first_other = trial.slowdowns.begin() + static_cast<std::ptrdiff_t>(members);
  const double of_members = *std::min_element(trial.slowdowns.begin(), first_other);
  return std::any_of(first_other, trial.slowdowns.end(),
                     [&](double slowdown) { return slowdown - 1 > (of_members - 1) / 2; });
}

std::vector<std::size_t> ApartTable::open_partners(
    std::size_t unit, const std::vector<std::size_t>& candidates) const {
  std::vector<std::size_t> open;
  std::ranges::copy_if(candidates, std::back_inserter(open),
                       [&](std::size_t other) { return other != unit && !are_apart(unit, other); });
  return open;
}

void ApartTable::note_pairs(const PortTrial& trial, const Paces& paces) {
  for (const std::size_t fast : paces.fast) {
    for (const std::size_t other : trial.units) {
      if (other != fast) set(fast, other);
    }
  }
}

void ApartTable::note_overload(const Paces& paces) {
  for (const std::size_t slow : paces.slow) {
    for (const std::size_t fast : paces.fast) set(slow, fast);
  }
}

std::vector<int> group_together(const ApartTable& table, const std::vector<std::size_t>& units) {
  std::vector<int> group_of_unit(table.units(), -1);
  for (const std::size_t unit : units) {
    if (group_of_unit[unit] >= 0) continue;
    std::vector<std::size_t> members = table.open_partners(unit, units);
    members.push_back(unit);
    const bool agree = std::ranges::all_of(members, [&](std::size_t member) {
      auto of_member = table.open_partners(member, units);
      of_member.push_back(member);
      std::ranges::sort(of_member);
      return std::ranges::is_permutation(of_member, members);
    });
    if (!agree) continue;
    for (const std::size_t member : members) group_of_unit[member] = static_cast<int>(unit);
  }
  return group_of_unit;
}

SmGroups expand_units(const std::vector<int>& group_of_unit,
                      const std::vector<std::vector<int>>& sms_of_unit, int sm_count) {
  std::vector<int> group_of_sm(static_cast<std::size_t>(sm_count), -1);
  for (std::size_t unit = 0; unit < sms_of_unit.size(); ++unit) {
    for (const int sm : sms_of_unit[unit]) {
      group_of_sm[static_cast<std::size_t>(sm)] = group_of_unit[unit];
    }
  }
  return make_groups(group_of_sm, Singles::keep);
}

}  // namespace sonde
