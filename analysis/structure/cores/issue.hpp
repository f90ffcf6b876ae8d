// What times of chains of operations say of an SM: how many schedulers deal with its warps, and
// whether the units of two operations work at the same time. Input of jobs/arithmetic.cpp.
#pragma once

#include "analysis/topology.hpp"
#include "trace/trace.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace sonde {

/// Time of one step of all chains of an SM, by lane: what a longer run of chains took beyond a
/// shorter one, over the steps that it made beyond it. What begins and ends a run, and the reading
/// of the clock, drops out. NaN where the longer one took no longer.
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
  double next_error = 0;       // the same with the best other number of schedulers
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

/// Units that streamed at once, and the time of each over that of the same stream alone.
struct PortTrial {
  std::vector<std::size_t> units;
  std::vector<double> slowdowns;
};

/// Where a unit counts as undisturbed, and where as held up; between them it says nothing.
struct PaceLimits {
  double fast = 1.01;
  double slow = 1.03;
};

/// A port that is held up holds its sharers up by a few percent at least, while repeated streams
/// differ by `noise` (a standard deviation, in parts of the time): six of them are no chance.
PaceLimits choose_limits(double noise);

/// Units of a trial by what its times say of them.
struct Paces {
  std::vector<std::size_t> fast;
  std::vector<std::size_t> slow;
};
Paces split_paces(const PortTrial& trial, const PaceLimits& limits);

/// Whether a unit behind the first `members` of a trial is held up at least half as much as those.
/// What all units share, short of being overloaded, holds others up a little: on an H200 streams of
/// a GPC take 1.3 to 1.5 times as long, and those of other GPCs meanwhile 1.0 to 1.16 times.
bool holds_up_others(const PortTrial& trial, std::size_t members);

/// What is known of each pair of units: that they share no port, or nothing yet.
class ApartTable {
 public:
  explicit ApartTable(std::size_t units) : units_(units), apart_(units * units, 0) {}

  std::size_t units() const { return units_; }
  void set(std::size_t a, std::size_t b) { apart_[a * units_ + b] = apart_[b * units_ + a] = 1; }
  bool are_apart(std::size_t a, std::size_t b) const { return apart_[a * units_ + b] != 0; }

  /// Units that may share with `unit`, among `candidates`, without itself.
  std::vector<std::size_t> open_partners(std::size_t unit,
                                         const std::vector<std::size_t>& candidates) const;

  /// For ports that any two of their sharers overload: who was undisturbed shares with no other
  /// unit of the trial.
  void note_pairs(const PortTrial& trial, const Paces& paces);

  /// For ports that it takes many units to overload: sharers are held up together, so of two units
  /// of which one was held up and the other was not, each has a port of its own. Two that were
  /// undisturbed may share one that was not overloaded.
  void note_overload(const Paces& paces);

 private:
  std::size_t units_;
  std::vector<char> apart_;
};

/// Groups of which any two members are not known to be apart. A unit that is not apart from all of
/// some members, but from others, is in no group, nor are those of which this is true: the trials
/// contradict each other there. @return group of each unit; -1: none, or not among `units`
std::vector<int> group_together(const ApartTable& table, const std::vector<std::size_t>& units);

/// Units as groups of SMs: `sms_of_unit` in the groups that the units have.
SmGroups expand_units(const std::vector<int>& group_of_unit,
                      const std::vector<std::vector<int>>& sms_of_unit, int sm_count);

}  // namespace sonde
