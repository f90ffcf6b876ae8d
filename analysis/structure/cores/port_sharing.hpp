// Which units (SMs, or TPCs as a whole) go through one port: from streams that several of them read
// at once, each compared with itself alone. Input of jobs/cores/port_search.cpp, which chooses who
// streams with whom.
#pragma once

#include "analysis/topology.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace sonde {

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
