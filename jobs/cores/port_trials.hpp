// Streams on chosen SMs at once: how much longer each takes than alone. What jobs/cores/port_search
// asks its questions with.
#pragma once

#include "analysis/structure/cores/port_sharing.hpp"
#include "jobs/run/job_run.hpp"

#include <vector>

namespace sonde {

/// Cycles of each SM, in the order given, while all of them read the same number of bytes at once,
/// each its own lines, again and again out of the L2 (out of memory where there is none).
/// @throws DeviceError
std::vector<double> stream_cycles(JobRun& run, const std::string& label,
                                  const std::vector<int>& sms, Place place);

/// Bytes that each SM reads in such a stream.
double stream_bytes_of_sm();

/// Units of one or more SMs that stream alone and together.
class PortTrials {
 public:
  /// Measures each unit alone, at two places in memory.
  /// @throws DeviceError
  PortTrials(JobRun& run, std::vector<std::vector<int>> sms_of_unit);

  std::size_t units() const { return sms_of_unit_.size(); }
  const std::vector<std::vector<int>>& sms_of_unit() const { return sms_of_unit_; }
  const PaceLimits& limits() const { return limits_; }
  JobRun& job() { return run_; }

  /// All SMs of these units at once. @throws DeviceError
  PortTrial play(std::vector<std::size_t> units);

  /// Most units that stream at once before what all SMs share (L2, memory) holds them all up:
  /// random sets grow until not one of their units is undisturbed.
  std::size_t find_most_at_once(std::uint64_t seed);

 private:
  std::vector<double> play_alone(Place place);

  JobRun& run_;
  std::vector<std::vector<int>> sms_of_unit_;
  std::vector<double> alone_cycles_;  // by SM, while its whole unit streams
  PaceLimits limits_;
};

}  // namespace sonde
