// Branches, threads that wait for each other, barriers and sleeping on a simulated GPU. Branches
// and waits are programs for the warps of cores/simt; barriers are counted arrival by arrival.
#include "device/sim/cores/simt.hpp"
#include "device/sim/play/noise.hpp"
#include "device/sim/play/play.hpp"

#include <algorithm>
#include <cmath>

namespace sonde::sim {
namespace {

using Program = std::vector<SimtInstruction>;

constexpr std::size_t slot_of(BranchStamp stamp) { return static_cast<std::size_t>(stamp); }

/// Threads of a warp that take the paths `first` .. `last`.
ThreadMask threads_of(const std::vector<int>& path_of_thread, int first, int last) {
  ThreadMask mask = 0;
  for (std::size_t thread = 0; thread < path_of_thread.size(); ++thread) {
    if (path_of_thread[thread] >= first && path_of_thread[thread] <= last) mask |= 1u << thread;
  }
  return mask;
}

/// Writes a tree of branches. Each divides a range of paths: one part follows the branch, the other
/// is its target.
class BranchWriter {
 public:
  BranchWriter(const BranchProbe& probe, Program& program) : probe_(probe), program_(program) {}

  /// Writes the paths `first` .. `last`, which join at the end. A chain splits off one path after
  /// the other, the other shapes halve the range. A nest jumps to the lower half, and has an
  /// operation before each branch and one after each join.
  void write(int first, int last) {
    if (first == last) return write_path();
    const bool nested = probe_.shape == BranchShape::nested;
    const int middle = probe_.shape == BranchShape::else_chain ? first : (first + last) / 2;
    const Range lower{first, middle};
    const Range upper{middle + 1, last};
    if (nested) program_.push_back({.op = SimtOp::operate});
    write_branch(nested ? upper : lower, nested ? lower : upper);
    if (nested) program_.push_back({.op = SimtOp::operate});
  }

 private:
  struct Range {
    int first = 0;
    int last = 0;
  };

  void write_branch(Range falling, Range taken) {
    const std::size_t branch = program_.size();
    program_.push_back({.op = SimtOp::branch,
                        .threads = threads_of(probe_.path_of_thread, taken.first, taken.last)});
    write(falling.first, falling.last);
    const std::size_t jump = program_.size();
    program_.push_back({.op = SimtOp::jump});
    program_[branch].target = static_cast<int>(program_.size());
    write(taken.first, taken.last);
    program_[branch].join = program_[jump].target = static_cast<int>(program_.size());
  }
  void write_path() {
    program_.push_back({.op = SimtOp::stamp, .slot = slot_of(BranchStamp::path_begin)});
    program_.insert(program_.end(), branch_path_operations, {.op = SimtOp::operate});
    program_.push_back({.op = SimtOp::stamp, .slot = slot_of(BranchStamp::path_end)});
  }

  const BranchProbe& probe_;
  Program& program_;
};

Program branch_program(const BranchProbe& probe) {
  Program program{{.op = SimtOp::stamp, .slot = slot_of(BranchStamp::before)}};
  const int paths = probe.shape == BranchShape::nested ? 1 << probe.depth : most_branch_paths;
  BranchWriter(probe, program).write(0, paths - 1);
  program.push_back({.op = SimtOp::stamp, .slot = slot_of(BranchStamp::behind)});
  program.push_back({.op = SimtOp::end});
  return program;
}

constexpr ThreadMask upper_half = 0xffff0000;
constexpr std::uint32_t both_warps = 2 * warp_threads;
/// The second warp arrives at a barrier at most so often, as in the kernels.
constexpr int most_arrivals = 8;

/// `if (lower half) { ... } else { ... }`, each half with instructions of its own.
Program by_halves(const Program& lower, const Program& upper) {
  const int else_side = static_cast<int>(lower.size()) + 2;
  const int join = else_side + static_cast<int>(upper.size());
  Program program{{.op = SimtOp::branch, .threads = upper_half, .target = else_side, .join = join}};
  program.insert(program.end(), lower.begin(), lower.end());
  program.push_back({.op = SimtOp::jump, .target = join});
  program.insert(program.end(), upper.begin(), upper.end());
  program.push_back({.op = SimtOp::end});
  return program;
}

/// Waits, ends if all threads have left the barrier, arrives at it, and begins again.
Program arrive_again(std::uint32_t delay_cycles) {
  Program program;
  constexpr int round = 4;
  for (int i = 0; i < most_arrivals; ++i) {
    program.push_back({.op = SimtOp::delay, .value = delay_cycles});
    program.push_back({.op = SimtOp::leave_if,
                       .target = most_arrivals * round,
                       .word = 0,
                       .value = warp_threads});
    program.push_back({.op = SimtOp::stamp, .slot = static_cast<std::size_t>(i)});
    program.push_back({.op = SimtOp::arrive, .value = both_warps});
  }
  program.push_back({.op = SimtOp::end});
  return program;
}

std::vector<Program> programs_of(const WaitProbe& probe) {
  const SimtInstruction stamp{.op = SimtOp::stamp};
  const SimtInstruction barrier{.op = SimtOp::barrier, .value = both_warps};
  const Program none{{.op = SimtOp::end}};
  switch (probe.program) {
    case WaitProgram::handshake:
      return {by_halves({{.op = SimtOp::signal, .word = 0, .value = 1},
                         {.op = SimtOp::await, .word = 1, .value = 2}},
                        {{.op = SimtOp::await, .word = 0, .value = 1},
                         {.op = SimtOp::signal, .word = 1, .value = 2}}),
              none};
    case WaitProgram::spin_release:
      return {{{.op = SimtOp::await_own}, {.op = SimtOp::release}, {.op = SimtOp::end}}, none};
    case WaitProgram::barrier_against_spin:
      return {{barrier, {.op = SimtOp::signal, .word = 0, .value = 1}, stamp, {.op = SimtOp::end}},
              {{.op = SimtOp::await, .word = 0, .value = 1}, barrier, {.op = SimtOp::end}}};
    case WaitProgram::diverged_barrier: break;
  }
  const Program half{barrier, stamp, {.op = SimtOp::count, .word = 0}};
  return {by_halves(half, half), arrive_again(static_cast<std::uint32_t>(probe.limit_cycles / 4))};
}

/// As the kernel reports it: the k-th thread of the second warp has the k-th arrival.
std::uint64_t reported_cycles(const SimtBlock& block, WaitProgram program, std::size_t warp,
                              std::size_t thread) {
  if (program != WaitProgram::diverged_barrier || warp == 0) return block.stamp(warp, thread, 0);
  return thread < most_arrivals ? block.stamp(warp, 0, thread) : 0;
}

}  // namespace

Trace play(const Launch& launch, const BranchProbe& probe) {
  const ControlModel& control = declared(launch.model.units.control, "control flow");
  resident_blocks(launch.model, probe.warps * static_cast<int>(warp_threads), 0);
  const Program program = branch_program(probe);
  Noise noise(launch.model, launch.seed);
  const SimtCosts costs{.look_cycles = 1, .stamp_cycles = launch.model.clock.empty_window_cycles};
  constexpr std::uint32_t barrier_spread_cycles = 8;  // any small value
  Trace trace;
  for (int sm : probe.sms) {
    SimtBlock block(control, costs, ~std::uint64_t{0});
    for (int warp = 0; warp < probe.warps; ++warp) {
      block.add_warp(program, 1000 + noise.random().below(barrier_spread_cycles));
    }
    block.run();
    for (std::size_t warp = 0; warp < static_cast<std::size_t>(probe.warps); ++warp) {
      LaneTrace& lane = add_lane(trace, sm);
      lane.warp = static_cast<int>(warp);
      for (std::size_t thread = 0; thread < warp_threads; ++thread) {
        for (std::size_t slot = 0; slot < branch_stamps; ++slot) {
          lane.clock_cycles.push_back(read_clock(launch, sm, block.stamp(warp, thread, slot)));
        }
      }
    }
  }
  return trace;
}

/// Warps or blocks arrive at a barrier one after the other; the latency includes the first arrival.
Trace play(const Launch& launch, const BarrierProbe& probe) {
  const ControlModel& control = declared(launch.model.units.control, "control flow");
  double once_cycles = control.barrier.arrival_cycles * (probe.warps - 1.0);
  std::vector<int> sms;
  if (probe.kind == BarrierKind::grid) {
    sms = first_sms(launch.die.info.sm_count);
    once_cycles = control.grid_barrier.latency_cycles +
                  (static_cast<double>(sms.size()) - 1) * control.grid_barrier.arrival_cycles;
  } else if (probe.kind == BarrierKind::cluster) {
    for (const auto& cluster : fill_with_clusters(launch, probe.cluster_blocks)) {
      sms.insert(sms.end(), cluster.begin(), cluster.end());
    }
    if (control.cluster_barrier_cycles == 0) {
      throw DeviceError("this GPU has no barrier of clusters (its model declares none)");
    }
    once_cycles += control.cluster_barrier_cycles;
  } else {
    sms = probe.sms;
    resident_blocks(launch.model, probe.warps * static_cast<int>(warp_threads), 0);
    once_cycles += probe.kind == BarrierKind::clocked ? launch.model.units.shared.sync_cycles
                                                      : control.barrier.latency_cycles;
  }
  const auto cycles = static_cast<std::uint32_t>(std::lround(once_cycles * probe.barriers));
  Noise noise(launch.model, launch.seed);
  Trace trace;
  for (std::size_t i = 0; i < sms.size(); ++i) {
    LaneTrace& lane = add_lane(trace, sms[i], static_cast<std::uint64_t>(probe.barriers));
    lane.elapsed_cycles = noise.disturb(cycles, control.jitter_cycles);
    if (probe.kind == BarrierKind::cluster) {
      lane.cluster = static_cast<int>(i) / probe.cluster_blocks;
    }
  }
  return trace;
}

Trace play(const Launch& launch, const SleepProbe& probe) {
  const SleepModel& sleep =
      declared(declared(launch.model.units.control, "control flow").sleep, "instruction to sleep");
  Noise noise(launch.model, launch.seed);
  Trace trace;
  for (int sm : probe.sms) {
    LaneTrace& lane = add_lane(trace, sm, static_cast<std::uint64_t>(probe.samples));
    for (int i = 0; i < probe.samples; ++i) {
      // The checks go on whether a warp sleeps or not, so the first comes at a random time.
      const double first_look_ns = sleep.step_ns * noise.random().unit();
      const double late_ns = std::max(0.0, probe.asked_ns - first_look_ns);
      const double looks = std::ceil(late_ns / sleep.step_ns);
      const double asleep_ns = probe.asked_ns == 0 ? 0 : first_look_ns + looks * sleep.step_ns;
      const double cycles = (sleep.least_ns + asleep_ns) * launch.sm_clock_hz / 1e9;
      lane.window_cycles.push_back(
          noise.read_window(noise.disturb(static_cast<std::uint32_t>(std::lround(cycles)), 0)));
      lane.elapsed_cycles += lane.window_cycles.back();
    }
  }
  return trace;
}

Trace play(const Launch& launch, const WaitProbe& probe) {
  const ControlModel& control = declared(launch.model.units.control, "control flow");
  const SimtCosts costs{.look_cycles = static_cast<std::uint32_t>(
                            std::lround(launch.model.units.shared.latency_cycles(1))),
                        .stamp_cycles = launch.model.clock.empty_window_cycles};
  SimtBlock block(control, costs, probe.limit_cycles);
  for (Program& program : programs_of(probe)) block.add_warp(std::move(program), 1);
  block.run();
  Noise noise(launch.model, launch.seed);
  Trace trace;
  for (int sm : probe.sms) {  // the same on all of them
    LaneTrace& lane = add_lane(trace, sm);
    lane.elapsed_cycles = block.end_cycles();
    const std::uint64_t late = noise.disturb(1, control.jitter_cycles) - 1;
    for (std::size_t warp = 0; warp < 2; ++warp) {
      for (std::size_t thread = 0; thread < warp_threads; ++thread) {
        const std::uint64_t cycles = reported_cycles(block, probe.program, warp, thread);
        lane.clock_cycles.push_back(cycles == 0 ? 0 : cycles + late);
      }
    }
  }
  return trace;
}

}  // namespace sonde::sim
