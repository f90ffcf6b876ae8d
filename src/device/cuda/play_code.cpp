// Chases through code: the order stands in shared memory, the blocks are part of the program.
#include "base/units.hpp"
#include "device/cuda/chase_launch.hpp"
#include "device/cuda/play.hpp"
#include "device/device_error.hpp"
#include "device/layout/code_map.hpp"

namespace sonde::cuda {
namespace {

constexpr std::uint64_t instruction_bytes = 16;  // since Volta (Jia et al. 2018, section 2.1)
static_assert(kernels::code_block_bytes == code_block_bytes);
static_assert(kernels::code_additions == code_block_bytes / instruction_bytes - 1);

layout::CodeMap read_code_map() {
  std::vector<std::uint64_t> addresses(kernels::code_blocks);
  SONDE_CUDA_CHECK(kernels::read_code_addresses(addresses.data()));
  return layout::map_code(std::move(addresses), instruction_bytes);
}

void check_code(const ChaseProbe& probe, const layout::CodeMap& map) {
  if (probe.amortised_accesses > 0) {
    throw_device_error(
        "a chase through code cannot be amortised (its loop would hold the reading of the order, "
        "too). Time the accesses one by one");
  }
  const std::uint64_t code_bytes = map.blocks * code_block_bytes;
  if (probe.buffer_bytes > code_bytes) {
    throw_device_error("the probe spans {} of code (there are {}). Ask for less",
                       format_bytes(static_cast<double>(probe.buffer_bytes)),
                       format_bytes(static_cast<double>(code_bytes)));
  }
}

void check_additions(std::uint64_t found, std::uint64_t wanted, std::size_t lane) {
  if (found == wanted) return;
  throw_device_error(
      "lane {} executed {} additions instead of {} (it entered other code than planned, so its "
      "times mean nothing). Build sonde with this GPU's architecture in CMAKE_CUDA_ARCHITECTURES",
      lane, found, wanted);
}

}  // namespace

Trace play_code(Session& session, const ChaseProbe& probe) {
  if (!session.code_map()) session.code_map() = read_code_map();
  const layout::CodeMap& map = *session.code_map();
  check_code(probe, map);
  const ScriptArrays scripts(session, probe.lanes);
  ChaseLaunchPlan plan(session, probe, scripts.capacity());
  scripts.fill(plan.tasks());
  for (kernels::ChaseTask& task : plan.tasks()) task.start = map.first_address;
  plan.launch().script_unit = scripts.unit_bytes();
  plan.launch().rehearsal_place = map.rehearsal_address;
  Trace trace = plan.run([&](const kernels::LaunchShape& shape) {
    // Leaves the blocks in memory: the SM's own instruction caches are not reached by it.
    if (probe.preparation == Preparation::flushed) session.flush_caches(0);
    SONDE_CUDA_CHECK(kernels::launch_code_chase(plan.launch(), shape, session.stream()));
  });
  const std::uint64_t additions =
      layout::counted_additions(map, probe.warmup_accesses + probe.timed_accesses);
  for (std::size_t lane = 0; lane < probe.lanes.size(); ++lane) {
    check_additions(plan.lanes().final_value(lane), additions, lane);
  }
  return trace;
}

}  // namespace sonde::cuda
