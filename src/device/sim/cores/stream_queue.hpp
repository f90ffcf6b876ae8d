// A closed queue of warps in front of the memory: each warp requests `ilp` elements, waits for
// them, and requests again. The throughput is a result of the queue, not an input. play/stream.cpp
// turns its cycles into a trace.
#pragma once

#include "device/sim/model/model.hpp"

#include <cstdint>
#include <vector>

namespace sonde::sim {

/// Bytes per cycle of each part between the warps and the memory. If some SMs stand for all,
/// `gpc_port`, `l2` and `dram` are the share of the SMs that are played. `gpc_port` 0: no limit.
struct StreamRates {
  double issue_cycles = 1;
  double l1 = 0;
  double sm_port = 0;
  std::vector<double> tpc_port;  // by number of the TPC
  double gpc_port = 0;
  double l2 = 0;
  double crossing = 0;  // out of an L2 partition; 0: no limit
  double dram = 0;
  double row_bytes = 0;  // of all channels
  double row_overhead_cycles = 0;
  double write_batch_bytes = 0;  // of all channels
  double turnaround_cycles = 0;
};

/// One SM of the stream. SMs with the same `tpc` or `gpc` share that port.
struct StreamSm {
  int warps = 0;
  std::size_t tpc = 0;
  std::size_t gpc = 0;
  std::size_t partition = 0;  // of the L2
  double far_share = 0;       // share of its accesses that the other partition serves
};

/// What the warps request, and how often a cache holds it.
struct StreamTraffic {
  std::vector<StreamSm> sms;
  bool each_sm = false;  // also return the cycles of each SM
  /// Warps of a block if all blocks read the same and the SMs of a GPC share one L2 read; else 0.
  int merged_warps = 0;
  int ilp = 1;
  double element_bytes = 0;  // of one load of a whole warp
  bool reads = true;
  bool writes = false;
  bool past_l1 = false;  // the copy engine loads past the L1
  int timed_reads = 0;   // at most so many reads are timed, spread over the steady part
  double l1_hit_rate = 0;
  double l2_hit_rate = 0;
  bool write_through = false;  // the L2 keeps no dirty lines
  double l1_latency_cycles = 0;
  double l2_latency_cycles = 0;
  double l2_far_latency_cycles = 0;
  double dram_latency_cycles = 0;
};

/// One timed read of a warp, from before its issue until its last byte arrived.
struct StreamWindow {
  std::size_t sm = 0;  // index in StreamTraffic::sms
  double cycles = 0;
};

/// Cycles until the warps have made `rounds` requests each and received the answers. Long runs are
/// extrapolated at a constant pace.
struct StreamCycles {
  double all = 0;          // every warp
  std::vector<double> of;  // the warps of each SM while all others work, too; empty unless each_sm
  std::vector<StreamWindow> windows;  // of timed reads
};

/// Plays the queue. @param seed draws which requests hit
StreamCycles run_stream_queue(const StreamRates& rates, const StreamTraffic& traffic, double rounds,
                              std::uint64_t seed);

}  // namespace sonde::sim
