// What the clocks of a GPU are like, from timestamps that its SMs took: step, rate, and which SMs
// read the same clock. Input of jobs/clock.cpp; everything that times anything rests on it.
#pragma once

#include "trace/trace.hpp"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace sonde {

/// The step in which a counter moves: the largest number of which at least 99 % of the values of
/// every kind are multiples. The values are differences of two readings; several kinds of them
/// (loads, loops, empty windows) are needed, since one alone may always last the same. Zeros do not
/// count. 0 if there is nothing else.
double common_step(std::span<const std::vector<std::uint64_t>> differences_by_kind);

/// How sure that step is: of n different values that are multiples of it, all would be so by chance
/// once in step^(n - 1).
double step_confidence(std::span<const std::vector<std::uint64_t>> differences_by_kind,
                       double step);

/// Differences of neighbouring readings, without those that stood still or ran backwards (a counter
/// that was set anew).
std::vector<std::uint64_t> counter_moves(const std::vector<std::uint64_t>& readings);

/// How one SM's clock lies against the device-wide timer. The timer moves in coarse steps, so only
/// the readings next to a step say when it happened; the offset is a mean over all steps seen.
struct ClockLine {
  int sm = -1;
  double hz = 0;
  double offset_cycles = 0;      // clock at the common reference time of fit_clocks
  double resolution_cycles = 0;  // what the offset may be wrong by
  std::uint64_t steps = 0;       // of the timer, seen
};

/// One line for each lane that saw the timer move at least three times. All lines share the median
/// rate, so that the offsets of SMs that ran at slightly different times compare.
std::vector<ClockLine> fit_clocks(const std::vector<LaneTrace>& lanes);

/// Group number of each SM (index: SM; -1: no line) such that SMs whose offsets agree within the
/// resolution share one. Groups are numbered by their lowest SM.
std::vector<int> group_clocks(const std::vector<ClockLine>& lines, int sm_count);

/// "sm", "tpc", "gpc" or "device": what shares one clock register. TPCs are of one size, so groups
/// that are not are GPCs. TPCs of GT200 (compute capability 1) have three SMs (Wong 2010), of every
/// later part one or two.
/// @param compute_major of the GPU's compute capability
/// @return empty where groups of three may be TPCs as well as GPCs
std::string_view name_clock_scope(const std::vector<int>& group_of_sm, int compute_major);

/// Step of the device-wide timer in ns, whether readings are denser than its steps or not.
double timer_step_ns(const std::vector<LaneTrace>& lanes);

}  // namespace sonde
