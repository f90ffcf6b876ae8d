// Threads that wait for each other on a simulated GPU: the programs of a WaitProbe, written for the
// warps of cores/simt, which find out who gets through.
#include "device/sim/cores/simt.hpp"
#include "device/sim/noise.hpp"
#include "device/sim/play/play.hpp"

#include <cmath>

namespace sonde::sim {
namespace {

using Program = std::vector<SimtInstruction>;

constexpr ThreadMask upper_half = 0xffff0000;
constexpr std::uint32_t both_warps = 2 * warp_threads;
/// The second warp comes to a barrier at most so often (as the kernels do it).
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

/// Waits, looks who has left, comes to the barrier, and again.
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

/// Programs of both warps of the block.
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

/// As the kernel tells it: the k-th arrival of the second warp stands at its k-th thread.
std::uint64_t told_cycles(const SimtBlock& block, WaitProgram program, std::size_t warp,
                          std::size_t thread) {
  if (program != WaitProgram::diverged_barrier || warp == 0) return block.stamp(warp, thread, 0);
  return thread < most_arrivals ? block.stamp(warp, 0, thread) : 0;
}

}  // namespace

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
  for (int sm : probe.sms) {  // on all of them the same happens
    LaneTrace& lane = add_lane(trace, sm);
    lane.elapsed_cycles = block.end_cycles();
    const std::uint64_t late = noise.disturb(1, control.jitter_cycles) - 1;
    for (std::size_t warp = 0; warp < 2; ++warp) {
      for (std::size_t thread = 0; thread < warp_threads; ++thread) {
        const std::uint64_t cycles = told_cycles(block, probe.program, warp, thread);
        lane.clock_cycles.push_back(cycles == 0 ? 0 : cycles + late);
      }
    }
  }
  return trace;
}

}  // namespace sonde::sim
