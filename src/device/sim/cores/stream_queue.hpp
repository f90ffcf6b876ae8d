// A closed queue of warps in front of the memory: each warp asks for `ilp` elements, waits, and
// asks again. Throughput is what comes out, not what was put in.
// play/stream.cpp turns its cycles into a trace.
#pragma once

#include "device/sim/model/model.hpp"

#include <cstdint>
#include <vector>

namespace sonde::sim {

/// Bytes per cycle of everything on the way; for a part of the SMs only their share of the parts
/// that all use. A `gpc_port` of 0 holds nothing up.
struct StreamRates {
  double issue_cycles = 1;
  double l1 = 0;
  double sm_port = 0;
  std::vector<double> tpc_port;  // by number of the TPC
  double gpc_port = 0;
  double l2 = 0;
  double crossing = 0;  // out of a partition of the L2; 0: it holds nothing up
  double dram = 0;
  double row_bytes = 0;  // of all channels
  double row_overhead_cycles = 0;
  double write_batch_bytes = 0;  // of all channels
  double turnaround_cycles = 0;
};

/// One SM at work, and the ports that it shares with others of the same numbers.
struct StreamSm {
  int warps = 0;
  std::size_t tpc = 0;
  std::size_t gpc = 0;
  std::size_t partition = 0;  // of the L2
  double far_share = 0;       // of its accesses that the other one serves
};

/// What the warps ask for, and how often a cache has it.
struct StreamTraffic {
  std::vector<StreamSm> sms;
  bool each_sm = false;  // asks for the cycles of each, too
  /// Warps of a block, if every block reads the same, and the SMs of a GPC then ask the L2 once.
  int merged_warps = 0;
  int ilp = 1;
  double element_bytes = 0;  // of one load of a whole warp
  bool reads = true;
  bool writes = false;
  bool past_l1 = false;  // the copy engine: what comes does not pass the L1
  int timed_reads = 0;   // asks for the times of so many, spread over the settled part
  double l1_hit_rate = 0;
  double l2_hit_rate = 0;
  bool write_through = false;  // the L2 keeps no dirty lines
  double l1_latency_cycles = 0;
  double l2_latency_cycles = 0;
  double l2_far_latency_cycles = 0;
  double dram_latency_cycles = 0;
};

/// One read of a warp: from before it was issued until the last of it arrived.
struct StreamWindow {
  std::size_t sm = 0;  // by place in the traffic
  double cycles = 0;
};

/// Cycles until warps have asked `rounds` times, and been answered. Long runs are extrapolated at
/// the settled pace.
struct StreamCycles {
  double all = 0;          // every warp
  std::vector<double> of;  // the warps of each SM, while all others work, too; if asked for
  std::vector<StreamWindow> windows;  // of timed reads
};

/// @param seed of which requests hit
StreamCycles run_stream_queue(const StreamRates& rates, const StreamTraffic& traffic, double rounds,
                              std::uint64_t seed);

}  // namespace sonde::sim
