// A closed queue of warps in front of the memory: each warp asks for `ilp` elements, waits, and
// asks again. Throughput is what comes out, not what was put in.
// play/stream.cpp turns its cycles into a trace.
#pragma once

#include "device/sim/model/model.hpp"

#include <cstdint>
#include <vector>

namespace sonde::sim {

/// Bytes per cycle of everything on the way; for a part of the SMs only their share of the parts
/// that all use.
struct StreamRates {
  double issue_cycles = 1;
  double l1 = 0;
  double sm_port = 0;
  double tpc_port = 0;
  double l2 = 0;
  double dram = 0;
  double row_bytes = 0;  // of all channels
  double row_overhead_cycles = 0;
  double write_batch_bytes = 0;  // of all channels
  double turnaround_cycles = 0;
};

/// What the warps ask for, and how often a cache has it.
struct StreamTraffic {
  std::vector<int> warps;  // by SM
  int sms_per_tpc = 1;
  int ilp = 1;
  double element_bytes = 0;  // of one load of a whole warp
  bool reads = true;
  bool writes = false;
  double l1_hit_rate = 0;
  double l2_hit_rate = 0;
  bool write_through = false;  // the L2 keeps no dirty lines
  double l1_latency_cycles = 0;
  double l2_latency_cycles = 0;
  double dram_latency_cycles = 0;
};

/// Cycles until every warp has asked `rounds` times, and been answered. Long runs are extrapolated
/// at the settled pace. @param seed of which requests hit
double run_stream_queue(const StreamRates& rates, const StreamTraffic& traffic, double rounds,
                        std::uint64_t seed);

}  // namespace sonde::sim
