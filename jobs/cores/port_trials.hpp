// SMs that share a port slow each other down when they stream at once. Checks groups of SMs by this
// (docs/methods/topology.md), for the jobs topology and placement.
#pragma once

#include "jobs/run/job_run.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace sonde {

/// What each SM reads: its own piece, `passes` times. A piece must be a multiple of the bytes that
/// all threads have in flight, or some SMs would read more than others.
struct SmStream {
  LoadPath path = LoadPath::past_l1;
  int block_threads = 256;
  int ilp = 8;  // loads of 16 bytes in flight per thread
  std::uint64_t piece_bytes = 0;
  int passes = 1;

  double bytes() const { return static_cast<double>(piece_bytes) * passes; }
};

/// 32 KiB in flight: more than any known port moves within an L2 latency (64 B in each of 280
/// cycles on an H200), so that the port limits the stream. The L2s of all shipped models and of
/// later GPUs have room for 55 KiB per SM.
inline constexpr SmStream l2_stream{.piece_bytes = 32 * 1024, .passes = 16};

/// Cycles of each SM, in the given order, while all of them read at once.
/// @throws DeviceError
std::vector<double> stream_cycles(JobRun& run, const std::string& label,
                                  const std::vector<int>& sms, Place place,
                                  const SmStream& stream = l2_stream);

/// The check of groups of units (SMs or TPCs) by shared ports.
struct PortCheck {
  std::size_t groups = 0;        // with two or more units
  std::size_t seen = 0;          // of these: groups whose units slow each other down
  std::size_t contradicted = 0;  // of these: groups that also slow down units of other groups
};

/// Runs all units of each group at once, then again together with one unit of other groups.
/// @param sms_of_unit SMs of each unit  @param group_of_unit -1: in no group
/// @throws DeviceError
PortCheck check_ports(JobRun& run, const std::vector<std::vector<int>>& sms_of_unit,
                      const std::vector<int>& group_of_unit);

}  // namespace sonde
