// Each step of the device-wide timer that a lane saw relates its clock to the device's time.
#include "analysis/structure/cores/clock.hpp"

#include "analysis/statistics.hpp"
#include "analysis/topology.hpp"

#include <algorithm>
#include <cmath>
#include <set>

namespace sonde {
namespace {

/// Offsets agree within six standard deviations: chance then separates no SMs that share a clock.
constexpr double resolution_sigmas = 6;
/// The distance to the timer differs between SMs: on an H200 by up to 10 cycles within a GPC, whose
/// SMs share a clock. Clocks of different GPCs differ by millions of cycles.
constexpr double least_resolution_cycles = 24;

/// A timer step, and the clock halfway between the readings before and after it.
struct TimerStep {
  double timer_ns = 0;
  double clock_cycles = 0;
};

std::vector<TimerStep> find_timer_steps(const LaneTrace& lane, std::uint64_t timer_origin_ns) {
  std::vector<TimerStep> timer_steps;
  const std::size_t count = std::min(lane.clock_cycles.size(), lane.globaltimer_ns.size());
  for (std::size_t i = 1; i < count; ++i) {
    if (lane.globaltimer_ns[i] <= lane.globaltimer_ns[i - 1]) continue;
    const auto before = lane.clock_cycles[i - 1] - lane.clock_cycles.front();
    const auto after = lane.clock_cycles[i] - lane.clock_cycles.front();
    timer_steps.push_back({static_cast<double>(lane.globaltimer_ns[i] - timer_origin_ns),
                           (static_cast<double>(before) + static_cast<double>(after)) / 2});
  }
  return timer_steps;
}

/// Slope between the first and the last third of the steps: about as good as least squares, and a
/// late step (a preempted reading) matters little to a median.
double cycles_per_ns(const std::vector<TimerStep>& timer_steps) {
  const std::size_t third = std::max<std::size_t>(1, timer_steps.size() / 3);
  std::vector<double> slopes;
  for (std::size_t i = 0; i < third; ++i) {
    const TimerStep& early = timer_steps[i];
    const TimerStep& late = timer_steps[timer_steps.size() - third + i];
    slopes.push_back((late.clock_cycles - early.clock_cycles) / (late.timer_ns - early.timer_ns));
  }
  return median(std::move(slopes));
}

/// A step lies anywhere between its two readings; a mean over n steps is sqrt(n) times better.
double offset_resolution(double interval_cycles, std::size_t steps) {
  const double one_step = interval_cycles / std::sqrt(12.0);
  return std::max(least_resolution_cycles,
                  resolution_sigmas * one_step / std::sqrt(static_cast<double>(steps)));
}

}  // namespace

std::vector<std::uint64_t> counter_moves(const std::vector<std::uint64_t>& readings) {
  std::vector<std::uint64_t> result;
  for (std::size_t i = 1; i < readings.size(); ++i) {
    if (readings[i] > readings[i - 1]) result.push_back(readings[i] - readings[i - 1]);
  }
  return result;
}

double common_step(std::span<const std::vector<std::uint64_t>> differences_by_kind) {
  std::uint64_t smallest = UINT64_MAX;
  for (const auto& differences : differences_by_kind) {
    for (std::uint64_t difference : differences) {
      if (difference > 0) smallest = std::min(smallest, difference);
    }
  }
  if (smallest == UINT64_MAX) return 0;
  for (std::uint64_t step = smallest; step > 1; --step) {
    const bool fits_all = std::ranges::all_of(differences_by_kind, [step](const auto& differences) {
      const auto fits =
          std::ranges::count_if(differences, [step](auto value) { return value % step == 0; });
      return static_cast<std::size_t>(fits) >= differences.size() - differences.size() / 100;
    });
    if (fits_all) return static_cast<double>(step);
  }
  return 1;
}

double step_confidence(std::span<const std::vector<std::uint64_t>> differences_by_kind,
                       double step) {
  std::set<std::uint64_t> multiples;
  for (const auto& differences : differences_by_kind) {
    for (const std::uint64_t difference : differences) {
      if (difference > 0 && difference % static_cast<std::uint64_t>(step) == 0)
        multiples.insert(difference);
    }
  }
  return step > 1 ? 1 - std::pow(step, 1 - static_cast<double>(multiples.size())) : 1;
}

std::vector<ClockLine> fit_clocks(const std::vector<LaneTrace>& lanes) {
  std::uint64_t origin_ns = UINT64_MAX;
  for (const LaneTrace& lane : lanes) {
    if (!lane.globaltimer_ns.empty()) origin_ns = std::min(origin_ns, lane.globaltimer_ns.front());
  }
  std::vector<std::vector<TimerStep>> steps_of_line;
  std::vector<ClockLine> lines;
  std::vector<double> slopes;
  std::vector<double> times_ns;
  for (const LaneTrace& lane : lanes) {
    std::vector<TimerStep> timer_steps = find_timer_steps(lane, origin_ns);
    if (timer_steps.size() < 3) continue;
    const auto intervals = counter_moves(lane.clock_cycles);
    slopes.push_back(cycles_per_ns(timer_steps));
    times_ns.push_back((timer_steps.front().timer_ns + timer_steps.back().timer_ns) / 2);
    const double interval_cycles = median(std::vector<double>(intervals.begin(), intervals.end()));
    lines.push_back({lane.sm, slopes.back() * 1e9, static_cast<double>(lane.clock_cycles.front()),
                     offset_resolution(interval_cycles, timer_steps.size()), timer_steps.size()});
    steps_of_line.push_back(std::move(timer_steps));
  }
  const double slope = median(slopes);
  const double reference_ns = median(times_ns);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::vector<double> offsets;
    for (const TimerStep& step : steps_of_line[i]) {
      offsets.push_back(step.clock_cycles - slope * (step.timer_ns - reference_ns));
    }
    lines[i].offset_cycles += trimmed_mean(std::move(offsets), 0.1);
  }
  return lines;
}

std::vector<int> group_clocks(const std::vector<ClockLine>& lines, int sm_count) {
  std::vector<ClockLine> sorted = lines;
  std::ranges::sort(sorted, {}, &ClockLine::offset_cycles);
  std::vector<int> raw_group(static_cast<std::size_t>(sm_count), -1);
  int group = -1;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const bool joins = i > 0 && sorted[i].offset_cycles - sorted[i - 1].offset_cycles <=
                                    sorted[i].resolution_cycles;
    if (!joins) ++group;
    raw_group[static_cast<std::size_t>(sorted[i].sm)] = group;
  }
  return make_groups(raw_group, Singles::keep).group_of_sm;
}

std::string_view name_clock_scope(const std::vector<int>& group_of_sm, int compute_major) {
  const std::vector<int> sizes = make_groups(group_of_sm, Singles::keep).sizes;
  if (sizes.size() == 1) return "device";
  const auto [least, largest] = std::ranges::minmax(sizes);
  if (largest <= 1) return "sm";
  if (largest > 3 || least != largest) return "gpc";
  return largest == 2 || compute_major == 1 ? "tpc" : "";
}

double timer_step_ns(const std::vector<LaneTrace>& lanes) {
  std::vector<std::uint64_t> steps;
  std::size_t pairs = 0;
  for (const LaneTrace& lane : lanes) {
    const auto lane_steps = counter_moves(lane.globaltimer_ns);
    steps.insert(steps.end(), lane_steps.begin(), lane_steps.end());
    if (!lane.globaltimer_ns.empty()) pairs += lane.globaltimer_ns.size() - 1;
  }
  // Readings denser than the steps show single steps, sparser ones multiples of them.
  if (2 * steps.size() < pairs) return median(std::vector<double>(steps.begin(), steps.end()));
  return common_step(std::span(&steps, 1));
}

}  // namespace sonde
