// How many blocks an SM of a simulated GPU takes: one block after the other is put where registers,
// threads, slots and shared memory are left for it.
#include "base/error.hpp"
#include "base/gpu_facts.hpp"
#include "device/sim/play/play.hpp"

#include <algorithm>
#include <numeric>

namespace sonde::sim {
namespace {

std::uint64_t round_up(std::uint64_t value, std::uint64_t step) {
  return (value + step - 1) / step * step;
}

/// What is left on an SM.
struct Room {
  std::vector<std::uint64_t> registers;  // of each part of the register file
  std::uint64_t threads = 0;
  std::uint64_t blocks = 0;
  std::uint64_t shared_bytes = 0;
};

Room empty_sm(const Model& model, const OccupancyModel& rules) {
  return {
      .registers = std::vector<std::uint64_t>(rules.parts, rules.registers_per_sm / rules.parts),
      .threads = static_cast<std::uint64_t>(model.device.max_threads_per_sm),
      .blocks = static_cast<std::uint64_t>(model.units.throughput.max_blocks_per_sm),
      .shared_bytes = model.device.shared_bytes_per_sm};
}

/// What a block takes.
struct Need {
  std::uint64_t warps = 0;  // a last one may be a part of a warp
  std::uint64_t last_threads = 0;
  std::uint64_t registers_per_thread = 0;
  std::uint64_t shared_bytes = 0;
};

/// Puts a block on the SM: each warp where most registers are left. @return whether it fits
bool take(Room& room, const Need& need) {
  const std::uint64_t warp_slots = need.warps * warp_threads;
  if (room.blocks == 0 || room.threads < warp_slots || room.shared_bytes < need.shared_bytes) {
    return false;
  }
  std::vector<std::uint64_t> left = room.registers;
  for (std::uint64_t warp = 0; warp < need.warps; ++warp) {
    const std::uint64_t threads = warp + 1 == need.warps ? need.last_threads : warp_threads;
    const auto part = std::ranges::max_element(left);
    if (*part < threads * need.registers_per_thread) return false;
    *part -= threads * need.registers_per_thread;
  }
  room.registers = std::move(left);
  room.threads -= warp_slots;
  room.shared_bytes -= need.shared_bytes;
  --room.blocks;
  return true;
}

bool may_run(const Model& model, const OccupancyModel& rules, const OccupancyProbe& probe) {
  return probe.block_threads <= model.device.max_threads_per_block &&
         probe.shared_bytes <= model.device.shared_bytes_per_block &&
         static_cast<std::uint32_t>(probe.registers_per_thread) <= rules.max_registers_per_thread;
}

}  // namespace

Trace play(const Launch& launch, const OccupancyProbe& probe) {
  const Model& model = launch.model;
  const OccupancyModel& rules = declared(model.units.occupancy, "registers");
  const std::uint64_t threads =
      round_up(static_cast<std::uint64_t>(probe.block_threads), rules.thread_quantum);
  const std::uint64_t warps = round_up(threads, warp_threads) / warp_threads;
  const Need need{
      .warps = warps,
      .last_threads = threads - (warps - 1) * warp_threads,
      .registers_per_thread =
          round_up(static_cast<std::uint64_t>(probe.registers_per_thread), rules.register_unit),
      .shared_bytes = probe.shared_bytes + model.device.reserved_shared_bytes_per_block};
  std::uint64_t blocks = 0;
  Room room = empty_sm(model, rules);
  if (may_run(model, rules, probe)) {
    while (take(room, need)) ++blocks;
  }
  Trace trace;
  for (std::size_t sm = 0; sm < launch.die.sms.size(); ++sm) {
    add_lane(trace, static_cast<int>(sm), blocks);
  }
  return trace;
}

}  // namespace sonde::sim
