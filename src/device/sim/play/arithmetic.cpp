// Chains of operations on a simulated GPU. One SM is played through its pipelines, and again for
// each slower SM.
#include "device/sim/cores/issue.hpp"
#include "device/sim/play/noise.hpp"
#include "device/sim/play/play.hpp"

#include <map>

namespace sonde::sim {
namespace {

const OpModel* find_op(const PipelinesModel& pipelines, const std::string& name) {
  if (const OpModel* op = pipelines.find_op(name)) return op;
  throw DeviceError("this GPU has no " + name + " (its model declares none)");
}

}  // namespace

Trace play(const Launch& launch, const ArithmeticProbe& probe) {
  const PipelinesModel& pipelines = declared(launch.model.units.pipelines, "pipelines");
  WarpProgram program{
      .ops = {find_op(pipelines, probe.op)}, .ilp = probe.ilp, .steps = probe.steps};
  if (!probe.second.empty()) program.ops.push_back(find_op(pipelines, probe.second));
  const DeviceInfo& info = launch.die.info;
  if (probe.warps * info.warp_threads > info.max_threads_per_block) {
    throw DeviceError(std::to_string(probe.warps) +
                      " warps are too many for a block (an SM has one block) ask for fewer");
  }
  std::map<std::uint32_t, std::uint64_t> cycles;  // by slow_cycles of an SM
  Noise noise(launch.model, launch.seed);
  Trace trace;
  trace.shared_carveout_bytes = choose_carveout(info, 0, {});
  for (int sm : probe.sms.empty() ? first_sms(info.sm_count) : probe.sms) {
    const std::uint32_t slow = launch.die.sm(sm).slow_cycles;
    const auto [played, is_new] = cycles.try_emplace(slow);
    if (is_new) played->second = issue_warps(pipelines, program, probe.warps, slow);
    LaneTrace& lane = add_lane(trace, sm);
    const auto own = static_cast<std::uint32_t>(played->second);
    lane.elapsed_cycles =
        noise.read_window(noise.disturb(own, 0) + launch.model.clock.sink_window_cycles);
    lane.accesses = static_cast<std::uint64_t>(probe.warps) *
                    static_cast<std::uint64_t>(probe.ilp) * probe.steps;
  }
  return trace;
}

}  // namespace sonde::sim
