// How many blocks an SM of a simulated GPU holds: blocks are added while registers, threads, slots
// and shared memory are left.
#include "base/gpu_facts.hpp"
#include "device/sim/play/play.hpp"

#include <algorithm>

namespace sonde::sim {
namespace {

std::uint64_t round_up(std::uint64_t value, std::uint64_t step) {
  return (value + step - 1) / step * step;
}

/// The registers that a block needs.
struct Need {
  std::uint64_t warps = 0;
  std::uint64_t last_threads = 0;  // of the last warp, which may be partial
  std::uint64_t registers_per_thread = 0;
};

/// Takes the registers of a block, each warp where most are left. @return false if they are too few
bool take(std::vector<std::uint64_t>& parts, const Need& need) {
  for (std::uint64_t warp = 0; warp < need.warps; ++warp) {
    const std::uint64_t threads = warp + 1 == need.warps ? need.last_threads : warp_threads;
    const auto part = std::ranges::max_element(parts);
    if (*part < threads * need.registers_per_thread) return false;
    *part -= threads * need.registers_per_thread;
  }
  return true;
}

}  // namespace

Trace play(const Launch& launch, const OccupancyProbe& probe) {
  const Model& model = launch.model;
  const OccupancyModel& rules = declared(model.units.occupancy, "registers");
  const std::uint64_t threads =
      round_up(static_cast<std::uint64_t>(probe.block_threads), rules.thread_quantum);
  const std::uint64_t warps = round_up(threads, warp_threads) / warp_threads;
  const Need need{.warps = warps,
                  .last_threads = threads - (warps - 1) * warp_threads,
                  .registers_per_thread = round_up(
                      static_cast<std::uint64_t>(probe.registers_per_thread), rules.register_unit)};
  std::vector<std::uint64_t> parts(rules.parts, rules.registers_per_sm / rules.parts);
  const bool may_run =
      static_cast<std::uint32_t>(probe.registers_per_thread) <= rules.max_registers_per_thread;
  const int most =
      may_run ? most_blocks(model, static_cast<int>(warps * warp_threads), probe.shared_bytes) : 0;
  int blocks = 0;
  while (blocks < most && take(parts, need)) ++blocks;
  Trace trace;
  for (std::size_t sm = 0; sm < launch.die.sms.size(); ++sm) {
    add_lane(trace, static_cast<int>(sm), static_cast<std::uint64_t>(blocks));
  }
  return trace;
}

}  // namespace sonde::sim
