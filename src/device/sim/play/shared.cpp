// Shared memory probes on a simulated GPU: bank conflicts and turns of atomics are counted, copies
// are played through one pipelined unit per SM.
#include "base/gpu_facts.hpp"
#include "device/sim/cores/bank_conflicts.hpp"
#include "device/sim/play/noise.hpp"
#include "device/sim/play/play.hpp"

#include <algorithm>
#include <cmath>
#include <compare>
#include <functional>
#include <queue>

namespace sonde::sim {
namespace {

// The pace of such a small queue is constant after a few passes; more passes are extrapolated.
constexpr int simulated_passes = 32;

void check_mode(const SharedModel& shared, BankMode mode) {
  if (mode == BankMode::eight_bytes && !shared.modes) {
    throw DeviceError(
        "this GPU has no choice of bank width (only Kepler has one). Ask for 4 bytes");
  }
}

/// Passes of a warp that reads successive elements.
std::uint32_t aligned_passes(const SharedModel& shared, BankMode mode, int element_bytes) {
  std::vector<std::uint32_t> offsets(warp_threads);
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    offsets[i] = static_cast<std::uint32_t>(i) * static_cast<std::uint32_t>(element_bytes);
  }
  return count_passes(shared, mode, element_bytes, offsets);
}

/// Warps that each load `ilp` elements, wait for them, store them unless they only load, and begin
/// again.
struct StreamQueue {
  int warps = 0;
  int ilp = 1;
  SharedWork work = SharedWork::copies;
  double load_cycles = 0;  // in the unit, for one warp
  double store_cycles = 0;
  double latency_cycles = 0;

  /// Time at which the last warp ends its pass number `passes`.
  double run(int passes) const {
    struct Turn {
      double time;
      int warp;
      int step;  // of a copy: even: loads, odd: stores
      auto operator<=>(const Turn&) const = default;
    };
    std::priority_queue<Turn, std::vector<Turn>, std::greater<>> turns;
    for (int warp = 0; warp < warps; ++warp) turns.push({0, warp, 0});
    const bool only_loads = work == SharedWork::loads;
    const int steps = only_loads ? passes : 2 * passes;
    double unit_free = 0;
    double end = 0;
    while (!turns.empty()) {
      const Turn turn = turns.top();
      turns.pop();
      const bool loads = only_loads || turn.step % 2 == 0;
      unit_free = std::max(unit_free, turn.time) + ilp * (loads ? load_cycles : store_cycles);
      const double ready = unit_free + (loads ? latency_cycles : 0);
      end = std::max(end, ready);
      if (turn.step + 1 < steps) turns.push({ready, turn.warp, turn.step + 1});
    }
    return end;
  }
};

/// Runs the queue for any number of passes; most of them are extrapolated.
double run_long(const StreamQueue& queue, int passes) {
  if (passes <= simulated_passes) return queue.run(passes);
  const double half = queue.run(simulated_passes / 2);
  const double whole = queue.run(simulated_passes);
  constexpr int settled_passes = simulated_passes - simulated_passes / 2;
  const double pace = (whole - half) / settled_passes;
  return whole + pace * (passes - simulated_passes);
}

}  // namespace

Trace play(const Launch& launch, const SharedChaseProbe& probe) {
  const SharedModel& shared = launch.model.units.shared;
  check_mode(shared, probe.bank_mode);
  const std::uint64_t block_bytes =
      shared_chase_span_bytes(probe) + probe.accesses * record_bytes + record_overhead_bytes;
  const std::uint32_t passes =
      count_passes(shared, probe.bank_mode, probe.element_bytes, probe.thread_offsets_bytes);
  const auto cycles = static_cast<std::uint32_t>(std::lround(shared.latency_cycles(passes)));
  Noise noise(launch.model, launch.seed);
  Trace trace;
  trace.shared_carveout_bytes = choose_carveout(launch.die.info, block_bytes, {});
  for (int sm : probe.sms) {
    const std::uint32_t own = cycles + launch.die.sm(sm).slow_cycles;
    LaneTrace& lane = add_lane(trace, sm, probe.accesses);
    for (std::uint64_t i = 0; i < probe.accesses; ++i) {
      lane.window_cycles.push_back(noise.read_window(noise.disturb(own, shared.jitter_cycles) +
                                                     launch.model.clock.sink_window_cycles));
    }
    for (std::uint64_t i = 0; i < probe.accesses; ++i) {
      lane.elapsed_cycles += noise.disturb(own, shared.jitter_cycles);
    }
  }
  return trace;
}

Trace play(const Launch& launch, const SharedAtomicProbe& probe) {
  const SharedModel& shared = launch.model.units.shared;
  const std::uint32_t turns = count_atomic_turns(shared, probe.form, probe.thread_offsets_bytes);
  const SharedAtomicModel& atomics = declared(shared.atomics, "atomics on shared memory");
  const double cycles = probe.form == AtomicForm::returned
                            ? atomics.latency_cycles + (turns - 1) * atomics.thread_cycles
                            : std::max(atomics.interval_cycles, turns * atomics.thread_cycles);
  Noise noise(launch.model, launch.seed);
  Trace trace;
  for (int sm : probe.sms) {
    const double own = cycles + launch.die.sm(sm).slow_cycles;
    LaneTrace& lane = add_lane(trace, sm, probe.accesses);
    lane.elapsed_cycles = noise.disturb(
        static_cast<std::uint32_t>(std::lround(own * static_cast<double>(probe.accesses))),
        shared.jitter_cycles);
  }
  return trace;
}

Trace play(const Launch& launch, const SharedStreamProbe& probe) {
  const SharedModel& shared = launch.model.units.shared;
  check_mode(shared, probe.bank_mode);
  const int warps_per_block = warps_of(probe.block_threads);
  const int resident =
      resident_blocks(launch.model, probe.block_threads, shared_stream_block_bytes(probe));
  const std::uint32_t passes = aligned_passes(shared, probe.bank_mode, probe.element_bytes);
  StreamQueue queue{.ilp = probe.ilp,
                    .work = probe.work,
                    .load_cycles = passes * shared.load_interval_cycles,
                    .store_cycles = passes * shared.store_interval_cycles,
                    .latency_cycles = shared.latency_cycles(passes)};
  double cycles = 0;
  for (int left = probe.blocks_per_sm; left > 0; left -= resident) {
    queue.warps = std::min(left, resident) * warps_per_block;
    cycles += run_long(queue, probe.passes) + shared.sync_cycles;
  }
  Noise noise(launch.model, launch.seed);
  Trace trace;
  const auto& carveouts = launch.die.info.shared_carveouts_bytes;
  trace.shared_carveout_bytes = carveouts.empty() ? 0 : carveouts.back();
  for (std::size_t sm = 0; sm < launch.die.sms.size(); ++sm) {
    LaneTrace& lane = add_lane(trace, static_cast<int>(sm));
    lane.elapsed_cycles = noise.disturb(static_cast<std::uint32_t>(std::lround(cycles)), 1);
    lane.accesses = static_cast<std::uint64_t>(probe.blocks_per_sm) *
                    static_cast<std::uint64_t>(probe.block_threads) *
                    static_cast<std::uint64_t>(probe.ilp) *
                    static_cast<std::uint64_t>(probe.passes);
  }
  return trace;
}

}  // namespace sonde::sim
