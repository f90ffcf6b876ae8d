// SMs that share a port slow each other down when they stream at once: this checks groups of SMs
// (docs/methods/topology.md). For the jobs topology and placement.
#pragma once

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

/// Groups of units (SMs or TPCs) that clocks or clusters gave, checked by the ports that they
/// share.
struct PortCheck {
  std::size_t groups = 0;        // of two units and more
  std::size_t seen = 0;          // of these, groups whose units hold each other up
  std::size_t contradicted = 0;  // of these, groups that hold up units of other groups, too
};

/// All units of a group read at once, and then so beside one unit of each other group.
/// @param sms_of_unit SMs of each unit  @param group_of_unit -1: in none
/// @throws DeviceError
PortCheck check_ports(JobRun& run, const std::vector<std::vector<int>>& sms_of_unit,
                      const std::vector<int>& group_of_unit);

}  // namespace sonde
