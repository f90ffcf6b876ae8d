// Streams on chosen SMs at once: how much longer each takes than alone. What jobs/cores/port_search
// asks its questions with.
#pragma once

#include "analysis/structure/cores/issue.hpp"
#include "jobs/run/job_run.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace sonde {

/// What each SM reads: its own piece, `passes` times. A piece is some multiple of what all threads
/// have under way, or some SMs would read more than others.
struct SmStream {
  LoadPath path = LoadPath::past_l1;
  int block_threads = 256;
  int ilp = 8;  // loads of 16 bytes that each thread has under way
  std::uint64_t piece_bytes = 0;
  int passes = 1;

  double bytes() const { return static_cast<double>(piece_bytes) * passes; }
};

/// 32 KiB in flight: more than any port so far moves within an L2 latency (64 B in each of 280
/// cycles on an H200), so that the port is what holds the stream up. The L2s of all shipped models,
/// and of GPUs since, have room for 55 KiB of each SM.
inline constexpr SmStream l2_stream{.piece_bytes = 32 * 1024, .passes = 16};

/// Cycles of each SM, in the order given, while all of them read at once.
/// @throws DeviceError
std::vector<double> stream_cycles(JobRun& run, const std::string& label,
                                  const std::vector<int>& sms, Place place,
                                  const SmStream& stream = l2_stream);

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
