// The units of a simulated GPU, as the sections of a model file declare them. A new section needs a
// struct and a member of UnitsModel. The queues of cores/ and the plays use them.
#pragma once

#include "device/sim/model/json_fields.hpp"
#include "device/sim/model/limits.hpp"

#include <optional>
#include <string>
#include <vector>

namespace sonde::sim {

// The ranges of most numbers.
inline constexpr Range any_cycles{0, limits::cycles};
inline constexpr Range some_cycles{1, limits::cycles};
inline constexpr Range any_time{0, limits::nanoseconds};
inline constexpr Range some_rate{1e-3, limits::bytes_per_cycle};
inline constexpr Range some_entries{1, limits::entries};

struct DramModel : Section {
  using Section::Section;
  double jitter_cycles = number("jitter_cycles", any_cycles);
  int channels = count<int>("channels", {1, limits::channels});
  /// Bytes that a channel serves before it opens the next row.
  std::uint64_t row_bytes = bytes("row_bytes", limits::on_chip_bytes);
  double row_overhead_ns = number("row_overhead_ns", any_time);  // to open a row
  /// Bytes that a channel collects before it turns to write them.
  std::uint64_t write_batch_bytes = bytes("write_batch_bytes", limits::on_chip_bytes);
  double turnaround_ns = number("turnaround_ns", any_time);  // to turn the bus round, each way
};

/// Bandwidths on the way to memory, for many accesses at once.
struct ThroughputModel : Section {
  using Section::Section;
  int max_blocks_per_sm = count<int>("max_blocks_per_sm", {1, limits::blocks});
  double issue_cycles = number("issue_cycles", {1e-3, limits::cycles});  // between loads of an SM
  double l1_bytes_per_cycle = number("l1_bytes_per_cycle", some_rate);
  double sm_port_bytes_per_cycle = number("sm_port_bytes_per_cycle", some_rate);
  double tpc_port_bytes_per_cycle = number("tpc_port_bytes_per_cycle", some_rate);
  /// 0: no limit.
  double gpc_port_bytes_per_cycle =
      number("gpc_port_bytes_per_cycle", {0, limits::bytes_per_cycle}, 0);
  /// SMs of a GPC share a read of one line while it is under way.
  bool merges_reads_of_gpc = flag("merges_reads_of_gpc");
  bool bulk_copies = flag("bulk_copies");  // by an engine of the SM, to and from shared memory
  double l2_bytes_per_cycle = number("l2_bytes_per_cycle", some_rate);  // of the whole L2
  /// Between two additions of a warp to one line; 0: they do not delay each other.
  double line_atomic_cycles = number("line_atomic_cycles", any_cycles, 0);
  double launch_ns = number("launch_ns", any_time);  // wall time of an empty launch
};

/// The load-store unit of an SM under congestion (Dai 2016, section 2.2).
struct LsuModel : Section {
  using Section::Section;
  std::uint32_t mshrs = count("mshrs", some_entries);
  std::uint32_t mshr_merges = count("mshr_merges", some_entries);  // loads that wait for one line
  std::uint32_t miss_queue_entries = count("miss_queue_entries", some_entries);
  /// Between two requests into the network.
  double request_cycles = number("request_cycles", {0.01, limits::cycles});
  double return_bytes_per_cycle = number("return_bytes_per_cycle", {0.01, limits::bytes_per_cycle});
  /// The fewest bytes that a load past the L1 brings.
  std::uint64_t bypass_fetch_bytes = bytes("bypass_fetch_bytes", limits::line_bytes);
};

/// Latency of an access to shared memory by its passes over the banks; linear between points.
struct PassPoint : Section {
  using Section::Section;
  double passes = number("passes", some_entries);
  double cycles = number("cycles", some_cycles);
};

/// Atomic additions. A bank serves one thread after the other, whether they share a word or not.
struct SharedAtomicModel : Section {
  using Section::Section;
  double latency_cycles = number("latency_cycles", some_cycles);  // until the result can be used
  /// Least time between two additions whose results nobody uses.
  double interval_cycles = number("interval_cycles", {0.1, limits::cycles});
  double thread_cycles = number("thread_cycles", any_cycles);  // of a bank for each thread
  bool counts_up = flag("counts_up");  // additions of 1 to one word are one turn
};

struct SharedModel : Section {
  SharedModel() = default;
  explicit SharedModel(Fields& fields);
  std::uint32_t banks = count("banks", {1, limits::banks});
  std::uint32_t bank_bytes = count("bank_bytes", {1, limits::banks});
  bool modes = bank_bytes == 8;  // has a 4-byte mode as well (Kepler)
  std::vector<PassPoint> latency = objects_or_none<PassPoint>("latency_cycles");
  /// Between two passes in the pipeline, of loads and of stores.
  double load_interval_cycles = number("load_interval_cycles", {0.1, limits::cycles});
  double store_interval_cycles = number("store_interval_cycles", {0.1, limits::cycles});
  double sync_cycles = number("sync_cycles", any_cycles);  // a barrier and a clock read
  double jitter_cycles = number("jitter_cycles", any_cycles, 0);
  std::optional<SharedAtomicModel> atomics = object_or_none<SharedAtomicModel>("atomics");

  double latency_cycles(double passes) const;
};

/// `stack`: one path of a diverged warp runs until the paths join, then the other (Wong 2010).
/// `independent`: each thread has its own place in the program, and a path that waits lets others
/// run (Volta and later).
enum class ThreadScheduling { stack, independent };

/// The side of a branch that a diverged warp runs first: the target, or the code after the branch.
enum class FirstSide { taken, fall_through };

/// What a barrier counts. `warps`: each path of a diverged warp counts as a whole warp, and the
/// warp waits as a whole (Wong 2010). `threads`: all threads must arrive (Volta and later).
enum class BarrierCount { warps, threads };

struct BarrierModel : Section {
  using Section::Section;
  std::uint32_t latency_cycles = count("latency_cycles", some_cycles);  // from the last arrival on
  std::uint32_t arrival_cycles = count("arrival_cycles", any_cycles);   // between two warps
  BarrierCount counts = one_of<BarrierCount>("counts", {"warps", "threads"});
};

/// A barrier of all blocks, by a counter in global memory.
struct GridBarrierModel : Section {
  using Section::Section;
  std::uint32_t arrival_cycles = count("arrival_cycles", any_cycles);  // of one block
  /// From the last arrival until it is seen.
  std::uint32_t latency_cycles = count("latency_cycles", some_cycles);
};

/// A sleeping warp is checked every `step_ns`, and goes on at the first check at which its time is
/// over; `least_ns` is the cost of going to sleep and waking.
struct SleepModel : Section {
  using Section::Section;
  double step_ns = number("step_ns", {1, limits::nanoseconds});
  double least_ns = number("least_ns", {1, limits::nanoseconds});
};

struct ControlModel : Section {
  using Section::Section;
  ThreadScheduling threads = one_of<ThreadScheduling>("threads", {"stack", "independent"});
  FirstSide first = one_of<FirstSide>("first", {"taken", "fall_through"});
  std::uint32_t operation_cycles = count("operation_cycles", some_cycles);  // of a dependent one
  std::uint32_t branch_cycles = count("branch_cycles", some_cycles);        // with its condition
  std::uint32_t path_switch_cycles = count("path_switch_cycles", any_cycles);
  std::uint32_t reconvergence_cycles = count("reconvergence_cycles", any_cycles);
  double jitter_cycles = number("jitter_cycles", any_cycles, 0);  // of the start of a warp
  BarrierModel barrier = object<BarrierModel>("barrier");
  /// 0: there is no such barrier.
  std::uint32_t cluster_barrier_cycles = count("cluster_barrier_cycles", some_cycles, {0u});
  GridBarrierModel grid_barrier = object<GridBarrierModel>("grid_barrier");
  std::optional<SleepModel> sleep = object_or_none<SleepModel>("sleep");  // none: cannot sleep
};

/// Limits on the blocks of an SM besides their number, their threads and shared memory.
struct OccupancyModel : Section {
  explicit OccupancyModel(Fields& fields);
  std::uint32_t registers_per_sm = count("registers_per_sm", {1, limits::registers});
  std::uint32_t max_registers_per_thread = count("max_registers_per_thread", {1, limits::threads});
  /// Registers of a thread are rounded up to this unit, and threads of a block to the quantum.
  std::uint32_t register_unit = count("register_unit", {1, limits::threads});
  std::uint32_t thread_quantum = count("thread_quantum", {1, limits::threads});
  /// Parts of the register file; a warp lies in one part.
  std::uint32_t parts = count("parts", {1, limits::groups}, {1u});
};

/// All schedulers of an SM share the units, or each scheduler has its own.
enum class UnitScope { sm, scheduler };

/// Execution units of one kind. Each takes one instruction of a warp at a time. If `crowded_from`
/// others are under way in it, the result comes `crowded_cycles` later (0: never).
struct UnitModel : Section {
  using Section::Section;
  std::string name = text("name");
  UnitScope scope = one_of<UnitScope>("scope", {"sm", "scheduler"});
  int count = Section::count<int>("count", {1, limits::units}, 1);
  std::uint32_t crowded_from = Section::count("crowded_from", {0, limits::entries}, {0u});
  std::uint32_t crowded_cycles = Section::count("crowded_cycles", any_cycles, {0u});
};

/// How one kind of unit executes an instruction.
struct ExecutionModel {
  std::size_t unit = 0;               // index in PipelinesModel::units
  std::uint32_t occupied_cycles = 1;  // 32 threads / lanes
  std::uint32_t latency_cycles = 1;
};

/// An instruction; the first free unit takes it, in the order of `executions`.
struct InstructionModel {
  std::string name;
  std::vector<ExecutionModel> executions;
};

/// The instructions of one step; each waits for the one before it.
struct OpModel {
  std::string name;
  std::vector<std::size_t> instructions;  // indices in PipelinesModel::instructions
};

struct PipelinesModel : Section {
  PipelinesModel() = default;
  explicit PipelinesModel(Fields& fields);
  /// Of an SM; its warps are dealt to them one by one.
  int schedulers = count<int>("schedulers", {1, limits::units});
  /// Instructions of one warp that a scheduler issues at a time.
  int issue_width = count<int>("issue_width", {1, limits::units}, 1);
  std::uint32_t issue_interval_cycles = count("issue_interval_cycles", some_cycles, {1u});
  std::vector<UnitModel> units;
  std::vector<InstructionModel> instructions;
  std::vector<OpModel> ops;

  /// nullptr if there is none
  const OpModel* find_op(const std::string& name) const;
  /// The instructions of an operation, as "FMUL, MUFU.SIN"; empty if there is none.
  std::string machine_code(const std::string& op) const;
};

/// The link to another GPU of the node.
struct PeerModel : Section {
  using Section::Section;
  bool nvlink = one_of<bool>("link", {"pcie", "nvlink"});
  std::uint32_t latency_cycles = count("latency_cycles", some_cycles);
  double jitter_cycles = number("jitter_cycles", any_cycles, 0);
  double bytes_per_s = number("bytes_per_s", {1e6, limits::bytes_per_s});  // in each direction
};

/// Shared memory of other blocks of a cluster. Each SM is up to half of `sm_spread_cycles` further
/// away, as reader and as target, drawn for each die.
struct DsmModel : Section {
  using Section::Section;
  /// A block's own memory, by the same loads.
  std::uint32_t own_cycles = count("own_cycles", some_cycles);
  std::uint32_t tpc_cycles = count("tpc_cycles", some_cycles);  // of the other SM of the TPC
  std::uint32_t gpc_cycles = count("gpc_cycles", some_cycles);  // of another TPC of the GPC
  double sm_spread_cycles = number("sm_spread_cycles", any_cycles, 0);
  double jitter_cycles = number("jitter_cycles", any_cycles, 0);
  /// The rates at which an SM reads its own memory, an SM reads that of another, and all SMs of a
  /// GPC together read each other's.
  double own_bytes_per_cycle = number("own_bytes_per_cycle", some_rate);
  double port_bytes_per_cycle = number("port_bytes_per_cycle", some_rate);
  double gpc_bytes_per_cycle = number("gpc_bytes_per_cycle", some_rate);
};

/// The link to the host at its full width and generation.
struct HostModel : Section {
  using Section::Section;
  static constexpr Range rate{1, limits::bytes_per_s};
  int pcie_generation = count<int>("pcie_generation", {1, limits::generations});
  int pcie_width = count<int>("pcie_width", {1, limits::lanes});
  int nvlinks = count<int>("nvlinks", {0, limits::objects}, 0);
  double to_device_bytes_per_s = number("to_device_bytes_per_s", rate);
  double from_device_bytes_per_s = number("from_device_bytes_per_s", rate);
  double both_bytes_per_s = number("both_bytes_per_s", rate);  // sum of both directions at once
  double copy_ns = number("copy_ns", any_time);                // of an empty copy
  /// A copy takes longer by the absolute value of a normal deviate with this deviation.
  double spread_fraction = number("spread_fraction", {0, 1}, 0);
  double latency_ns = number("latency_ns", some_cycles);  // of a load from host memory
  double jitter_ns = number("jitter_ns", any_cycles, 0);  // of it
};

/// The port through which a cache answers all SMs that share it, line after line.
struct ConstantPort : Section {
  using Section::Section;
  std::string cache = text("cache");
  double bytes_per_cycle = number("bytes_per_cycle", some_rate);
};

struct ConstantModel : Section {
  using Section::Section;
  double load_cycles = number("load_cycles", {0.01, limits::cycles});  // between two loads of an SM
  std::uint32_t misses_in_flight = count("misses_in_flight", some_entries);  // of an SM
  /// A cache without a port has no limit.
  std::vector<ConstantPort> ports = objects_or_none<ConstantPort>("ports");
};

/// Launches. The fallbacks are about those of recent GPUs.
struct LaunchModel : Section {
  using Section::Section;
  /// Time until the host knows that a launch has ended, without the launch itself.
  double wait_ns = number("wait_ns", any_time, 8000);
  double kernel_ns = number("kernel_ns", any_time, 1500);  // of an empty kernel
  double gap_ns = number("gap_ns", any_time, 1000);        // between two launches
  double spread_ns = number("spread_ns", any_time, 800);   // within which its blocks begin
  /// The host waits longer by the absolute value of a normal deviate with this deviation.
  double scatter_fraction = number("scatter_fraction", {0, 1}, 0.03);
};

/// The speed of the SM clock; by the fallbacks it is constant.
struct PaceModel : Section {
  using Section::Section;
  /// Share of the full clock when a job begins; it rises evenly to 1 within `ramp_ns`.
  double cold_factor = number("cold_factor", {0.01, 1}, 1);
  double ramp_ns = number("ramp_ns", any_time, 0);
  double load_factor = number("load_factor", {0.01, 1}, 1);         // while all SMs compute
  double jitter_fraction = number("jitter_fraction", {0, 0.1}, 0);  // between two readings
};

/// A GPU that plays all SMs of a program on one L2 and DRAM, cycle by cycle, and can be changed
/// (MachineChange). A GPU without this section plays one SM with its share of both.
struct ProgramsModel : Section {
  using Section::Section;
  static constexpr Range entries{1, limits::partition_entries};
  int l2_partitions = count<int>("l2_partitions", {1, limits::channels});  // with a channel each
  double l2_partition_bytes_per_cycle =
      number("l2_partition_bytes_per_cycle", {0.01, limits::bytes_per_cycle});
  std::uint32_t l2_mshrs = count("l2_mshrs", entries);                  // of a partition
  std::uint32_t l2_queue_entries = count("l2_queue_entries", entries);  // that wait for a partition
  std::uint32_t dram_banks = count("dram_banks", {1, limits::objects});  // of a channel
  double bank_row_ns = number("bank_row_ns", any_time);  // from one row of a bank to the next
  double issue_cycles = number("issue_cycles", {0.01, limits::cycles});  // of one instruction
};

/// The sections of a model file about units. A section may be missing if the GPU has no such unit,
/// or nothing is known of it.
struct UnitsModel : Section {
  using Section::Section;
  DramModel dram = object<DramModel>("dram");
  ThroughputModel throughput = object<ThroughputModel>("throughput");
  SharedModel shared = object<SharedModel>("shared");
  LsuModel lsu = object<LsuModel>("lsu");
  std::optional<ControlModel> control = object_or_none<ControlModel>("control");
  std::optional<OccupancyModel> occupancy = object_or_none<OccupancyModel>("occupancy");
  std::optional<DsmModel> dsm = object_or_none<DsmModel>("dsm");
  std::optional<HostModel> host = object_or_none<HostModel>("host");
  std::optional<PeerModel> peer = object_or_none<PeerModel>("peer");
  std::optional<ConstantModel> constants = object_or_none<ConstantModel>("constants");
  std::optional<PipelinesModel> pipelines = object_or_none<PipelinesModel>("pipelines");
  std::optional<ProgramsModel> programs = object_or_none<ProgramsModel>("programs");
  LaunchModel launches = object_or_default<LaunchModel>("launches");
  PaceModel pace = object_or_default<PaceModel>("pace");
};

}  // namespace sonde::sim
