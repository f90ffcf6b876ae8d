// Properties of the clocks of a GPU, from timestamps of its SMs: step, rate, and which SMs share a
// clock. For jobs/clock.cpp; every timing relies on them.
#pragma once

#include "trace/trace.hpp"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace sonde {

/// The step of a counter: the largest number that divides at least 99 % of the differences of each
/// kind. Several kinds are needed (loads, loops, empty windows), because one kind may always take
/// the same time. Zeros do not count. 0 if there is no other difference.
double common_step(std::span<const std::vector<std::uint64_t>> differences_by_kind);

/// Confidence in the step: n different multiples of it are all multiples by chance with a
/// probability of 1 / step^(n - 1).
double step_confidence(std::span<const std::vector<std::uint64_t>> differences_by_kind,
                       double step);

/// Differences of neighbouring readings; without those that stood still or ran backwards (reset).
std::vector<std::uint64_t> counter_moves(const std::vector<std::uint64_t>& readings);

/// One SM's clock against the device-wide timer. The timer moves in coarse steps; only readings
/// next to a step say when it happened, so the offset is a mean over all steps.
struct ClockLine {
  int sm = -1;
  double hz = 0;
  double offset_cycles = 0;      // clock at the common reference time of fit_clocks
  double resolution_cycles = 0;  // largest error of the offset
  std::uint64_t steps = 0;       // timer steps seen
};

/// One line for each lane that saw at least three timer steps. All lines share the median rate, so
/// that offsets of SMs that ran at slightly different times are comparable.
std::vector<ClockLine> fit_clocks(const std::vector<LaneTrace>& lanes);

/// Group of each SM (-1: no line). SMs whose offsets agree within the resolution share a group.
/// Groups are numbered by their lowest SM.
std::vector<int> group_clocks(const std::vector<ClockLine>& lines, int sm_count);

/// The units that share a clock register: "sm", "tpc", "gpc" or "device". TPCs have equal sizes,
/// GPCs may differ. TPCs of GT200 (compute capability 1) have three SMs (Wong 2010), later ones one
/// or two.
/// @param compute_major of the GPU's compute capability
/// @return empty if groups of three may be TPCs or GPCs
std::string_view name_clock_scope(const std::vector<int>& group_of_sm, int compute_major);

/// Step of the device-wide timer in ns, from readings denser or sparser than its steps.
double timer_step_ns(const std::vector<LaneTrace>& lanes);

}  // namespace sonde
