// Reads the sections of a model file on what happens under load: DRAM, bandwidths, shared memory,
// LSU. The queues of cores/ run by them.
#include "device/sim/model/readers.hpp"

namespace sonde::sim {

DramModel read_dram(Fields fields) {
  DramModel dram;
  dram.jitter_cycles = fields.number("jitter_cycles", 0);
  dram.channels = static_cast<int>(fields.count("channels", 1));
  dram.row_bytes = fields.bytes("row_bytes");
  dram.row_overhead_ns = fields.number("row_overhead_ns", 0);
  dram.write_batch_bytes = fields.bytes("write_batch_bytes");
  dram.turnaround_ns = fields.number("turnaround_ns", 0);
  fields.finish();
  return dram;
}

ThroughputModel read_throughput(Fields fields) {
  constexpr double least_rate = 1e-3;
  ThroughputModel throughput;
  throughput.max_blocks_per_sm = static_cast<int>(fields.count("max_blocks_per_sm", 1));
  throughput.issue_cycles = fields.number("issue_cycles", least_rate);
  throughput.l1_bytes_per_cycle = fields.number("l1_bytes_per_cycle", least_rate);
  throughput.sm_port_bytes_per_cycle = fields.number("sm_port_bytes_per_cycle", least_rate);
  throughput.tpc_port_bytes_per_cycle = fields.number("tpc_port_bytes_per_cycle", least_rate);
  throughput.l2_bytes_per_cycle = fields.number("l2_bytes_per_cycle", least_rate);
  throughput.launch_ns = fields.number("launch_ns", 0);
  fields.finish();
  return throughput;
}

SharedModel read_shared(Fields fields) {
  SharedModel shared;
  shared.banks = fields.count("banks", 1);
  shared.bank_bytes = fields.count("bank_bytes", 1);
  if (shared.bank_bytes != 4 && shared.bank_bytes != 8) fields.fail("bank_bytes", "must be 4 or 8");
  shared.modes = shared.bank_bytes == 8;
  for (Fields point : fields.objects("latency_cycles")) {
    shared.latency.push_back({point.number("passes", 1), point.number("cycles", 1)});
    point.finish();
    const std::size_t count = shared.latency.size();
    if (count > 1 && shared.latency[count - 1].passes <= shared.latency[count - 2].passes) {
      fields.fail("latency_cycles", "must ascend in passes");
    }
  }
  if (shared.latency.empty()) fields.fail("latency_cycles", "must hold a point");
  shared.load_interval_cycles = fields.number("load_interval_cycles", 0.1);
  shared.store_interval_cycles = fields.number("store_interval_cycles", 0.1);
  shared.sync_cycles = fields.number("sync_cycles", 0);
  shared.jitter_cycles = fields.number_or("jitter_cycles", 0, 0);
  fields.finish();
  return shared;
}

LsuModel read_lsu(Fields fields) {
  LsuModel lsu;
  lsu.mshrs = fields.count("mshrs", 1);
  lsu.mshr_merges = fields.count("mshr_merges", 1);
  lsu.miss_queue_entries = fields.count("miss_queue_entries", 1);
  lsu.request_cycles = fields.number("request_cycles", 0.01);
  lsu.return_bytes_per_cycle = fields.number("return_bytes_per_cycle", 0.01);
  lsu.bypass_fetch_bytes = fields.bytes("bypass_fetch_bytes");
  fields.finish();
  return lsu;
}

}  // namespace sonde::sim
