// The units of a simulated GPU under load, with the reading of their sections of a model file: a
// further one takes a struct, a member of UnitsModel and a line of read_units. The queues of cores/
// and the plays run by them.
#pragma once

#include "device/sim/model/json_fields.hpp"
#include "device/sim/model/limits.hpp"

#include <algorithm>
#include <optional>

namespace sonde::sim {

struct DramModel {
  double jitter_cycles = 0;
  int channels = 1;
  std::uint64_t row_bytes = 0;          // that a channel serves before it opens the next row
  double row_overhead_ns = 0;           // of opening one
  std::uint64_t write_batch_bytes = 0;  // that a channel collects before it turns to write them
  double turnaround_ns = 0;             // of turning the bus round, once each way

  static DramModel read(Fields& fields) {
    return {.jitter_cycles = fields.number("jitter_cycles", {0, limits::cycles}),
            .channels = fields.count<int>("channels", {1, limits::channels}),
            .row_bytes = fields.bytes("row_bytes", limits::on_chip_bytes),
            .row_overhead_ns = fields.number("row_overhead_ns", {0, limits::nanoseconds}),
            .write_batch_bytes = fields.bytes("write_batch_bytes", limits::on_chip_bytes),
            .turnaround_ns = fields.number("turnaround_ns", {0, limits::nanoseconds})};
  }
};

/// Bandwidths on the way to memory, for many accesses at once.
struct ThroughputModel {
  int max_blocks_per_sm = 0;
  double issue_cycles = 1;  // between two loads of one SM
  double l1_bytes_per_cycle = 0;
  double sm_port_bytes_per_cycle = 0;
  double tpc_port_bytes_per_cycle = 0;
  double gpc_port_bytes_per_cycle = 0;  // 0: it holds nothing up
  double l2_bytes_per_cycle = 0;        // of the whole L2
  double launch_ns = 0;                 // wall time of an empty launch

  static ThroughputModel read(Fields& fields) {
    constexpr double least_rate = 1e-3;
    return {.max_blocks_per_sm = fields.count<int>("max_blocks_per_sm", {1, limits::blocks}),
            .issue_cycles = fields.number("issue_cycles", {least_rate, limits::cycles}),
            .l1_bytes_per_cycle =
                fields.number("l1_bytes_per_cycle", {least_rate, limits::bytes_per_cycle}),
            .sm_port_bytes_per_cycle =
                fields.number("sm_port_bytes_per_cycle", {least_rate, limits::bytes_per_cycle}),
            .tpc_port_bytes_per_cycle =
                fields.number("tpc_port_bytes_per_cycle", {least_rate, limits::bytes_per_cycle}),
            .gpc_port_bytes_per_cycle =
                fields.number_or("gpc_port_bytes_per_cycle", {0, limits::bytes_per_cycle}, 0),
            .l2_bytes_per_cycle =
                fields.number("l2_bytes_per_cycle", {least_rate, limits::bytes_per_cycle}),
            .launch_ns = fields.number("launch_ns", {0, limits::nanoseconds})};
  }
};

/// Latency of one warp's shared memory access by the number of passes over the banks that it
/// needs; straight lines between the points.
struct PassPoint {
  double passes = 0;
  double cycles = 0;

  static PassPoint read(Fields& fields) {
    return {.passes = fields.number("passes", {1, limits::entries}),
            .cycles = fields.number("cycles", {1, limits::cycles})};
  }
};

struct SharedModel {
  std::uint32_t banks = 32;
  std::uint32_t bank_bytes = 4;
  bool modes = false;  // 8-byte banks, with a 4-byte mode as well (Kepler)
  std::vector<PassPoint> latency;
  double load_interval_cycles = 1;   // between passes of loads in the pipeline
  double store_interval_cycles = 1;  // the same for stores
  double sync_cycles = 0;            // a barrier and a clock read
  double jitter_cycles = 0;

  double latency_cycles(double passes) const {
    const auto above = std::find_if(latency.begin(), latency.end(),
                                    [&](const PassPoint& point) { return point.passes >= passes; });
    if (above == latency.begin()) return latency.front().cycles;
    if (above == latency.end()) return latency.back().cycles;
    const PassPoint& below = *(above - 1);
    const double share = (passes - below.passes) / (above->passes - below.passes);
    return below.cycles + share * (above->cycles - below.cycles);
  }

  static SharedModel read(Fields& fields) {
    const std::uint32_t bank_bytes = fields.count("bank_bytes", {1, limits::banks});
    if (bank_bytes != 4 && bank_bytes != 8) fields.fail("bank_bytes", "must be 4 or 8");
    return {.banks = fields.count("banks", {1, limits::banks}),
            .bank_bytes = bank_bytes,
            .modes = bank_bytes == 8,
            .latency = read_latency(fields),
            .load_interval_cycles = fields.number("load_interval_cycles", {0.1, limits::cycles}),
            .store_interval_cycles = fields.number("store_interval_cycles", {0.1, limits::cycles}),
            .sync_cycles = fields.number("sync_cycles", {0, limits::cycles}),
            .jitter_cycles = fields.number_or("jitter_cycles", {0, limits::cycles}, 0)};
  }
  static std::vector<PassPoint> read_latency(Fields& fields) {
    const std::vector<PassPoint> points = fields.objects("latency_cycles", PassPoint::read);
    if (points.empty()) fields.fail("latency_cycles", "must hold a point");
    for (std::size_t i = 1; i < points.size(); ++i) {
      if (points[i].passes > points[i - 1].passes) continue;
      fields.fail("latency_cycles", "must ascend in passes");
    }
    return points;
  }
};

/// The load-store unit of an SM under congestion (Dai 2016, section 2.2).
struct LsuModel {
  std::uint32_t mshrs = 0;
  std::uint32_t mshr_merges = 0;  // loads that can wait for one line
  std::uint32_t miss_queue_entries = 0;
  double request_cycles = 1;  // between two requests into the network
  double return_bytes_per_cycle = 32;
  std::uint64_t bypass_fetch_bytes = 32;  // least that a load past the L1 brings

  static LsuModel read(Fields& fields) {
    return {.mshrs = fields.count("mshrs", {1, limits::entries}),
            .mshr_merges = fields.count("mshr_merges", {1, limits::entries}),
            .miss_queue_entries = fields.count("miss_queue_entries", {1, limits::entries}),
            .request_cycles = fields.number("request_cycles", {0.01, limits::cycles}),
            .return_bytes_per_cycle =
                fields.number("return_bytes_per_cycle", {0.01, limits::bytes_per_cycle}),
            .bypass_fetch_bytes = fields.bytes("bypass_fetch_bytes", limits::line_bytes)};
  }
};

/// The way to the memory of another GPU of the node, of so many equal lanes in each direction.
struct PeerModel {
  bool nvlink = false;  // else PCIe
  std::uint32_t latency_cycles = 0;
  double jitter_cycles = 0;
  int lanes = 1;
  double lane_bytes_per_s = 0;

  static PeerModel read(Fields& fields) {
    constexpr double least_rate = 1e6;
    return {.nvlink = fields.one_of<bool>("link", {{"nvlink", true}, {"pcie", false}}),
            .latency_cycles = fields.count("latency_cycles", {1, limits::cycles}),
            .jitter_cycles = fields.number_or("jitter_cycles", {0, limits::cycles}, 0),
            .lanes = fields.count<int>("lanes", {1, limits::channels}),
            .lane_bytes_per_s =
                fields.number("lane_bytes_per_s", {least_rate, limits::lane_bytes_per_s})};
  }
};

struct UnitsModel {
  DramModel dram;
  ThroughputModel throughput;
  SharedModel shared;
  LsuModel lsu;
  std::optional<PeerModel> peer;  // none: no GPU reaches another one
};

/// @param root of the model file
inline UnitsModel read_units(Fields& root) {
  return {.dram = root.object("dram", DramModel::read),
          .throughput = root.object("throughput", ThroughputModel::read),
          .shared = root.object("shared", SharedModel::read),
          .lsu = root.object("lsu", LsuModel::read),
          .peer = root.has("peer") ? std::optional(root.object("peer", PeerModel::read))
                                   : std::nullopt};
}

}  // namespace sonde::sim
