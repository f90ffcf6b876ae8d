// The units of a simulated GPU under load, with the reading of their sections of a model file: a
// further one takes a struct, a member of UnitsModel and a line of read_units. The queues of cores/
// and the plays run by them.
#pragma once

#include "device/sim/model/control.hpp"
#include "device/sim/model/json_fields.hpp"
#include "device/sim/model/limits.hpp"
#include "device/sim/model/pipelines.hpp"
#include "device/sim/model/shared_units.hpp"

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
  /// Reads of one line by SMs of a GPC are made once while the first of them is under way.
  bool merges_reads_of_gpc = false;
  bool bulk_copies = false;       // an SM has an engine that copies to and from shared memory
  double l2_bytes_per_cycle = 0;  // of the whole L2
  /// Between two additions of a warp to one line; 0: they hold each other up no more than others.
  double line_atomic_cycles = 0;
  double launch_ns = 0;  // wall time of an empty launch

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
            .merges_reads_of_gpc = fields.flag_or("merges_reads_of_gpc", false),
            .bulk_copies = fields.flag_or("bulk_copies", false),
            .l2_bytes_per_cycle =
                fields.number("l2_bytes_per_cycle", {least_rate, limits::bytes_per_cycle}),
            .line_atomic_cycles = fields.number_or("line_atomic_cycles", {0, limits::cycles}, 0),
            .launch_ns = fields.number("launch_ns", {0, limits::nanoseconds})};
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
    return {
        .nvlink = fields.one_of<bool>("link", {{"nvlink", true}, {"pcie", false}}),
        .latency_cycles = fields.count("latency_cycles", {1, limits::cycles}),
        .jitter_cycles = fields.number_or("jitter_cycles", {0, limits::cycles}, 0),
        .lanes = fields.count<int>("lanes", {1, limits::channels}),
        .lane_bytes_per_s = fields.number("lane_bytes_per_s", {least_rate, limits::bytes_per_s})};
  }
};

/// Shared memory of other blocks of a cluster. Each SM lies up to half of `sm_spread_cycles`
/// further away, drawn for each die, whether it reads or is read.
struct DsmModel {
  std::uint32_t own_cycles = 0;  // a block's own memory, by the same loads
  std::uint32_t tpc_cycles = 0;  // of the other SM of the TPC
  std::uint32_t gpc_cycles = 0;  // of an SM of another TPC of the GPC
  double sm_spread_cycles = 0;
  double jitter_cycles = 0;
  double own_bytes_per_cycle = 0;   // at which an SM reads its own memory
  double port_bytes_per_cycle = 0;  // and that of another
  double gpc_bytes_per_cycle = 0;   // at which all SMs of a GPC read each other

  static DsmModel read(Fields& fields) {
    const Range rate{1e-3, limits::bytes_per_cycle};
    return {.own_cycles = fields.count("own_cycles", {1, limits::cycles}),
            .tpc_cycles = fields.count("tpc_cycles", {1, limits::cycles}),
            .gpc_cycles = fields.count("gpc_cycles", {1, limits::cycles}),
            .sm_spread_cycles = fields.number_or("sm_spread_cycles", {0, limits::cycles}, 0),
            .jitter_cycles = fields.number_or("jitter_cycles", {0, limits::cycles}, 0),
            .own_bytes_per_cycle = fields.number("own_bytes_per_cycle", rate),
            .port_bytes_per_cycle = fields.number("port_bytes_per_cycle", rate),
            .gpc_bytes_per_cycle = fields.number("gpc_bytes_per_cycle", rate)};
  }
};

/// The link to the host, when it has its full width and generation.
struct HostModel {
  int pcie_generation = 0;
  int pcie_width = 0;  // lanes
  int nvlinks = 0;
  double to_device_bytes_per_s = 0;
  double from_device_bytes_per_s = 0;
  double both_bytes_per_s = 0;  // of both ways at once, together
  double copy_ns = 0;           // of a copy of nothing
  double spread_fraction = 0;   // by which copies take longer: a deviation of a normal one
  double latency_ns = 0;        // of a load from host memory
  double jitter_ns = 0;         // of it

  static HostModel read(Fields& fields) {
    const Range rate{1, limits::bytes_per_s};
    return {.pcie_generation = fields.count<int>("pcie_generation", {1, limits::generations}),
            .pcie_width = fields.count<int>("pcie_width", {1, limits::lanes}),
            .nvlinks = fields.count_or("nvlinks", {0, limits::objects}, 0),
            .to_device_bytes_per_s = fields.number("to_device_bytes_per_s", rate),
            .from_device_bytes_per_s = fields.number("from_device_bytes_per_s", rate),
            .both_bytes_per_s = fields.number("both_bytes_per_s", rate),
            .copy_ns = fields.number("copy_ns", {0, limits::nanoseconds}),
            .spread_fraction = fields.number_or("spread_fraction", {0, 1}, 0),
            .latency_ns = fields.number("latency_ns", {1, limits::cycles}),
            .jitter_ns = fields.number_or("jitter_ns", {0, limits::cycles}, 0)};
  }
};

/// Through which one cache answers all SMs that share it, line after line.
struct ConstantPort {
  std::string cache;
  double bytes_per_cycle = 0;

  static ConstantPort read(Fields& fields) {
    return {.cache = fields.text("cache"),
            .bytes_per_cycle = fields.number("bytes_per_cycle", {1e-3, limits::bytes_per_cycle})};
  }
};

struct ConstantModel {
  double load_cycles = 1;              // between two loads of an SM, each of one address
  std::uint32_t misses_in_flight = 1;  // of an SM's first cache
  std::vector<ConstantPort> ports;     // caches without one hold nothing up

  static ConstantModel read(Fields& fields) {
    return {.load_cycles = fields.number("load_cycles", {0.01, limits::cycles}),
            .misses_in_flight = fields.count("misses_in_flight", {1, limits::entries}),
            .ports = fields.objects_or_none("ports", ConstantPort::read)};
  }
};

/// What a model that says nothing of launches has: about what recent GPUs have.
struct LaunchModel {
  double wait_ns = 8000;  // until the host knows that a launch has ended, without the launch itself
  double kernel_ns = 1500;         // of an empty kernel
  double gap_ns = 1000;            // from the end of a launch to the beginning of the next
  double spread_ns = 800;          // in which the blocks of a launch begin
  double scatter_fraction = 0.03;  // by which the host waits longer: a deviation of a normal one

  static LaunchModel read(Fields& fields) {
    const Range time{0, limits::nanoseconds};
    return {.wait_ns = fields.number("wait_ns", time),
            .kernel_ns = fields.number("kernel_ns", time),
            .gap_ns = fields.number("gap_ns", time),
            .spread_ns = fields.number("spread_ns", time),
            .scatter_fraction = fields.number_or("scatter_fraction", {0, 1}, 0)};
  }
};

/// What a model that says nothing of it has: a clock that stays as it is.
struct PaceModel {
  double cold_factor = 1;      // of the clock when a job begins, rising evenly to 1 within ...
  double ramp_ns = 0;          // ... this time
  double load_factor = 1;      // of the clock while all SMs compute
  double jitter_fraction = 0;  // by which it varies between two readings

  static PaceModel read(Fields& fields) {
    return {.cold_factor = fields.number_or("cold_factor", {0.01, 1}, 1),
            .ramp_ns = fields.number_or("ramp_ns", {0, limits::nanoseconds}, 0),
            .load_factor = fields.number_or("load_factor", {0.01, 1}, 1),
            .jitter_fraction = fields.number_or("jitter_fraction", {0, 0.1}, 0)};
  }
};

/// A machine whose SMs share L2 and DRAM cycle by cycle, and that can be changed (MachineChange).
/// GPUs without it play one SM with its share of both.
struct ProgramsModel {
  int l2_partitions = 1;  // each with a channel of DRAM
  double l2_partition_bytes_per_cycle = 32;
  std::uint32_t l2_mshrs = 1;          // of a partition
  std::uint32_t l2_queue_entries = 1;  // requests that wait for a partition
  std::uint32_t dram_banks = 1;        // of a channel
  double bank_row_ns = 0;              // from one row of a bank to the next
  double issue_cycles = 1;             // of a scheduler for one instruction

  static ProgramsModel read(Fields& fields) {
    return {.l2_partitions = fields.count<int>("l2_partitions", {1, limits::channels}),
            .l2_partition_bytes_per_cycle =
                fields.number("l2_partition_bytes_per_cycle", {0.01, limits::bytes_per_cycle}),
            .l2_mshrs = fields.count("l2_mshrs", {1, limits::partition_entries}),
            .l2_queue_entries = fields.count("l2_queue_entries", {1, limits::partition_entries}),
            .dram_banks = fields.count("dram_banks", {1, limits::objects}),
            .bank_row_ns = fields.number("bank_row_ns", {0, limits::nanoseconds}),
            .issue_cycles = fields.number("issue_cycles", {0.01, limits::cycles})};
  }
};

struct UnitsModel {
  DramModel dram;
  ThroughputModel throughput;
  SharedModel shared;
  LsuModel lsu;
  std::optional<ControlModel> control;      // none: nothing is known of it
  std::optional<OccupancyModel> occupancy;  // likewise
  std::optional<DsmModel> dsm;              // none: the GPU has none
  std::optional<HostModel> host;            // none: nothing is known of it
  std::optional<PeerModel> peer;            // none: no GPU reaches another one
  std::optional<ConstantModel> constants;   // none: nothing is known of their rates
  std::optional<PipelinesModel> pipelines;  // none: nothing is known of its arithmetic
  std::optional<ProgramsModel> programs;    // none: one SM is played with its share
  LaunchModel launches;
  PaceModel pace;
};

/// @param root of the model file
inline UnitsModel read_units(Fields& root) {
  return {.dram = root.object("dram", DramModel::read),
          .throughput = root.object("throughput", ThroughputModel::read),
          .shared = root.object("shared", SharedModel::read),
          .lsu = root.object("lsu", LsuModel::read),
          .control = root.object_or_none("control", ControlModel::read),
          .occupancy = root.object_or_none("occupancy", OccupancyModel::read),
          .dsm = root.object_or_none("dsm", DsmModel::read),
          .host = root.object_or_none("host", HostModel::read),
          .peer = root.object_or_none("peer", PeerModel::read),
          .constants = root.object_or_none("constants", ConstantModel::read),
          .pipelines = root.object_or_none("pipelines", PipelinesModel::read),
          .programs = root.object_or_none("programs", ProgramsModel::read),
          .launches = root.object_or_none("launches", LaunchModel::read).value_or(LaunchModel{}),
          .pace = root.object_or_none("pace", PaceModel::read).value_or(PaceModel{})};
}

}  // namespace sonde::sim
