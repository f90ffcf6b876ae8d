// Conclusions from times of chains of operations: number of schedulers of an SM, and whether the
// units of two operations work at the same time. For jobs/arithmetic.cpp.
#pragma once

#include "trace/trace.hpp"

#include <optional>
#include <span>
#include <vector>

namespace sonde {

/// Time of one step of all chains of an SM, by lane: the extra time of a longer run divided by its
/// extra steps. Start, end and clock reads cancel out.
/// @param shorter, longer traces of ArithmeticProbes that differ only in the number of steps
/// @throws Error if lanes differ
std::vector<double> step_cycles(const Trace& shorter, const Trace& longer, double further_steps);

/// How the schedulers of an SM share its warps.
struct IssueShape {
  int schedulers = 0;
  double latency_cycles = 0;   // latency of a step while every warp is issued at once
  double interval_cycles = 0;  // between the steps of warps of one scheduler
  double error = 0;            // mean relative difference between these values and the times
};

/// Warps are dealt to the schedulers in turn, and the last warp to end belongs to the fullest
/// scheduler: with n schedulers a step of w warps takes max(latency, ceil(w / n) x interval). The
/// time rises in stairs n warps wide.
/// @param step_cycles [w - 1]: with w warps
/// @return nothing without two stairs, or if no number of schedulers fits better than all others
std::optional<IssueShape> infer_issue(std::span<const double> step_cycles);

}  // namespace sonde
