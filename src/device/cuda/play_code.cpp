// Chases through code: the order stands in shared memory, the blocks are part of the program.
#include "base/error.hpp"
#include "base/units.hpp"
#include "device/cuda/chase_launch.hpp"
#include "device/cuda/code_map.hpp"
#include "device/cuda/players.hpp"

#include <fmt/format.h>

namespace sonde::cuda {
namespace {

CodeMap read_code_map() {
  std::vector<std::uint64_t> addresses(kernels::code_blocks);
  SONDE_CUDA_CHECK(kernels::read_code_addresses(addresses.data()));
  return map_code(std::move(addresses));
}

void check_code(const ChaseProbe& probe, const CodeMap& map) {
  if (probe.amortised_accesses > 0) {
    throw DeviceError(
        "a chase through code cannot be amortised (its loop would hold the reading of the order, "
        "too). Time the visits one by one");
  }
  const std::uint64_t code_bytes = map.blocks * code_block_bytes;
  if (probe.buffer_bytes > code_bytes) {
    throw DeviceError(fmt::format("the probe spans {} of code (there are {}). Ask for less",
                                  format_bytes(static_cast<double>(probe.buffer_bytes)),
                                  format_bytes(static_cast<double>(code_bytes))));
  }
}

void check_additions(const ChaseProbe& probe, const CodeMap& map, std::uint64_t found,
                     std::size_t lane) {
  const std::uint64_t wanted = counted_additions(map, probe.warmup_accesses + probe.timed_accesses);
  if (found == wanted) return;
  throw DeviceError(
      fmt::format("lane {} executed {} additions instead of {} (its visits entered other code than "
                  "planned, so its times mean nothing). Build sonde with this GPU's architecture "
                  "in CMAKE_CUDA_ARCHITECTURES",
                  lane, found, wanted));
}

}  // namespace

Trace play_code(Session& session, const ChaseProbe& probe) {
  const CodeMap map = read_code_map();
  check_code(probe, map);
  const ScriptPlan scripts = plan_scripts(probe.lanes);
  LaneWork work = work_of(probe);
  work.script_capacity = longest_script(scripts);
  ChaseLaunchPlan plan(session, work);
  const auto slots = add_scripts(session, scripts);
  plan.commit();
  fill_scripts(session, scripts, slots, plan.tasks());
  for (kernels::ChaseTask& task : plan.tasks()) task.start = map.first_address;
  plan.launch().script_unit = scripts.unit_bytes;
  plan.launch().rehearsal_place = map.rehearsal_address;
  plan.run(
      [&] {
        // Leaves the blocks in memory: the SM's own instruction caches are not reached by it.
        if (probe.preparation == Preparation::flushed) session.flush_caches(0);
      },
      [&](const kernels::ChaseLaunch& launch, const kernels::LaunchShape& shape) {
        return kernels::launch_code_chase(launch, shape, session.stream());
      });
  for (std::size_t lane = 0; lane < probe.lanes.size(); ++lane) {
    check_additions(probe, map, plan.results()[lane].final_value, lane);
  }
  return plan.trace();
}

}  // namespace sonde::cuda
