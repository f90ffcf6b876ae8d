// What times of chains of operations say of an SM: how many schedulers deal with its warps, and
// whether the units of two operations work at the same time. Input of jobs/arithmetic.cpp.
#pragma once

#include "trace/trace.hpp"

#include <optional>
#include <span>
#include <vector>

namespace sonde {

/// Time of one step of all chains of an SM, by lane: what a longer run of chains took beyond a
/// shorter one, over the steps that it made beyond it. What begins and ends a run, and the reading
/// of the clock, drops out.
/// @param shorter, longer traces of the same ArithmeticProbe but for its steps, lane by lane
/// @throws Error if lanes differ
std::vector<double> step_cycles(const Trace& shorter, const Trace& longer, double shorter_steps,
                                double longer_steps);

/// How the schedulers of an SM share its warps.
struct IssueShape {
  int schedulers = 0;
  double latency_cycles = 0;   // of a step while all warps find their turn
  double interval_cycles = 0;  // between the steps of warps of one scheduler
  double error = 0;            // by which the times differ from that, relative, on average
};

/// Warps are dealt to the schedulers one by one, and the last warp to end belongs to the fullest
/// one: with n schedulers, a step of w warps takes max(latency, ceil(w / n) x interval). So the
/// time climbs in stairs, n warps wide.
/// @param step_cycles [w - 1]: of w warps
/// @return nothing if there are no two stairs, or they fit no number of schedulers better than
///   all others
std::optional<IssueShape> infer_issue(std::span<const double> step_cycles);

/// How much of the faster of two operations is made while the slower one is: 1 if both units work
/// at the same time, 0 if one waits for the other.
/// @param first_cycles, second_cycles of a step of each alone
/// @param both_cycles of a step of each, side by side
double overlap_of(double first_cycles, double second_cycles, double both_cycles);

}  // namespace sonde
