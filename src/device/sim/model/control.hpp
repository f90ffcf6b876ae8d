// How the SMs of a simulated GPU share warps among paths, hold barriers, sleep, and take blocks:
// what the sections `control` and `occupancy` of a model file declare.
#pragma once

#include "device/sim/model/json_fields.hpp"
#include "device/sim/model/limits.hpp"

#include <optional>

namespace sonde::sim {

/// `stack`: one path runs until the warp is one again, then the other (Wong 2010). `independent`:
/// each thread has its own place in the program, and paths that wait let others run (Volta and
/// later).
enum class ThreadScheduling { stack, independent };

/// The side of a branch that a diverged warp runs first: that of the jump, or what follows it.
enum class FirstSide { taken, fall_through };

/// What a barrier counts. `warps`: a diverged warp comes to it once for each path, and waits as a
/// whole (Wong 2010). `threads`: it is reached when all threads are there (Volta and later).
enum class BarrierCount { warps, threads };

struct BarrierModel {
  std::uint32_t latency_cycles = 0;  // from the last arrival until the warps go on
  std::uint32_t arrival_cycles = 0;  // between the arrivals of two warps
  BarrierCount counts = BarrierCount::warps;

  static BarrierModel read(Fields& fields) {
    return {.latency_cycles = fields.count("latency_cycles", {1, limits::cycles}),
            .arrival_cycles = fields.count("arrival_cycles", {0, limits::cycles}),
            .counts = fields.one_of<BarrierCount>(
                "counts", {{"warps", BarrierCount::warps}, {"threads", BarrierCount::threads}})};
  }
};

/// Blocks that count each other in global memory.
struct GridBarrierModel {
  std::uint32_t arrival_cycles = 0;  // of one block at the counter
  std::uint32_t latency_cycles = 0;  // until the last arrival is seen

  static GridBarrierModel read(Fields& fields) {
    return {.arrival_cycles = fields.count("arrival_cycles", {0, limits::cycles}),
            .latency_cycles = fields.count("latency_cycles", {1, limits::cycles})};
  }
};

/// A warp that sleeps is looked at every `step_ns`, and goes on at the first look at which its time
/// is over; `least_ns` are for going to sleep and waking.
struct SleepModel {
  double step_ns = 0;
  double least_ns = 0;

  static SleepModel read(Fields& fields) {
    return {.step_ns = fields.number("step_ns", {1, limits::nanoseconds}),
            .least_ns = fields.number("least_ns", {1, limits::nanoseconds})};
  }
};

struct ControlModel {
  ThreadScheduling threads = ThreadScheduling::stack;
  FirstSide first = FirstSide::taken;
  std::uint32_t operation_cycles = 0;      // of a dependent operation in a path
  std::uint32_t branch_cycles = 0;         // of a condition and its branch
  std::uint32_t path_switch_cycles = 0;    // from one path to the next
  std::uint32_t reconvergence_cycles = 0;  // of joining the paths
  double jitter_cycles = 0;                // of the start of a warp
  BarrierModel barrier;
  std::uint32_t cluster_barrier_cycles = 0;  // 0: none
  GridBarrierModel grid_barrier;
  std::optional<SleepModel> sleep;  // none: no such instruction

  static ControlModel read(Fields& fields) {
    return {.threads = fields.one_of<ThreadScheduling>(
                "threads", {{"stack", ThreadScheduling::stack},
                            {"independent", ThreadScheduling::independent}}),
            .first = fields.one_of<FirstSide>(
                "first", {{"taken", FirstSide::taken}, {"fall_through", FirstSide::fall_through}}),
            .operation_cycles = fields.count("operation_cycles", {1, limits::cycles}),
            .branch_cycles = fields.count("branch_cycles", {1, limits::cycles}),
            .path_switch_cycles = fields.count("path_switch_cycles", {0, limits::cycles}),
            .reconvergence_cycles = fields.count("reconvergence_cycles", {0, limits::cycles}),
            .jitter_cycles = fields.number_or("jitter_cycles", {0, limits::cycles}, 0),
            .barrier = fields.object("barrier", BarrierModel::read),
            .cluster_barrier_cycles =
                fields.count_or("cluster_barrier_cycles", {1, limits::cycles}, 0u),
            .grid_barrier = fields.object("grid_barrier", GridBarrierModel::read),
            .sleep = fields.object_or_none("sleep", SleepModel::read)};
  }
};

/// What limits the blocks on an SM besides their number, their threads and shared memory.
struct OccupancyModel {
  std::uint32_t registers_per_sm = 0;
  std::uint32_t max_registers_per_thread = 0;
  std::uint32_t register_unit = 1;   // registers of a thread are rounded up to a multiple of it
  std::uint32_t thread_quantum = 1;  // likewise the threads of a block
  std::uint32_t parts = 1;           // of the register file; a warp lies in one of them

  static OccupancyModel read(Fields& fields) {
    const OccupancyModel model{
        .registers_per_sm = fields.count("registers_per_sm", {1, limits::registers}),
        .max_registers_per_thread = fields.count("max_registers_per_thread", {1, limits::threads}),
        .register_unit = fields.count("register_unit", {1, limits::threads}),
        .thread_quantum = fields.count("thread_quantum", {1, limits::threads}),
        .parts = fields.count_or("parts", {1, limits::groups}, 1u)};
    if (model.registers_per_sm % model.parts != 0) {
      fields.fail("parts", "must divide registers_per_sm");
    }
    return model;
  }
};

}  // namespace sonde::sim
