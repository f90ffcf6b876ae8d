// Mixes of warps that use the L1 and warps that bypass it.
#include "base/error.hpp"
#include "base/units.hpp"
#include "device/cuda/carveout.hpp"
#include "device/cuda/placed_launch.hpp"
#include "device/cuda/players.hpp"
#include "kernels/bypass.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sonde::cuda {
namespace {

/// From the first to behind the last byte that any warp visits.
std::uint64_t span_bytes(const BypassProbe& probe) {
  return static_cast<std::uint64_t>(probe.warps - 1) * probe.warp_base_step_bytes +
         probe.working_set_bytes + 32 * probe.thread_stride_bytes;
}

void check_bypass(const DeviceInfo& info, const BypassProbe& probe) {
  if (probe.warps * info.warp_threads > info.max_threads_per_block) {
    throw DeviceError(fmt::format("{} warps do not fit into one block (at most {}). Ask for fewer",
                                  probe.warps, info.max_threads_per_block / info.warp_threads));
  }
  if (probe.working_set_bytes >= 2_GiB) {
    throw DeviceError("the working set of a bypass mix must be below 2 GiB (offsets are 32 bits)");
  }
  if ((probe.warp_base_step_bytes | probe.access_step_bytes | probe.thread_stride_bytes |
       probe.working_set_bytes) %
          4 !=
      0) {
    throw DeviceError("the steps of a bypass mix must be multiples of 4 bytes (it loads words)");
  }
}

kernels::BypassLaunch describe_launch(const BypassProbe& probe) {
  kernels::BypassLaunch launch;
  launch.working_set_bytes = static_cast<std::uint32_t>(probe.working_set_bytes);
  launch.warp_base_step_bytes = probe.warp_base_step_bytes;
  launch.access_step_bytes =
      static_cast<std::uint32_t>(probe.access_step_bytes % probe.working_set_bytes);
  launch.thread_stride_bytes = probe.thread_stride_bytes;
  launch.warmup = probe.warmup_accesses;
  launch.accesses = static_cast<std::uint32_t>(std::min<std::uint64_t>(probe.accesses, 1u << 20));
  launch.warps = static_cast<std::uint32_t>(probe.warps);
  launch.cached_warps = static_cast<std::uint32_t>(probe.cached_warps);
  return launch;
}

}  // namespace

Trace play_bypass(Session& session, const BypassProbe& probe) {
  const DeviceInfo& info = session.info();
  check_bypass(info, probe);
  session.inputs.clear_layout();
  session.outputs.clear_layout();
  kernels::BypassLaunch launch = describe_launch(probe);
  const SharedPlan shared = plan_shared(info, kernels::bypass_shared_bytes(launch));
  const std::vector<int> wanted = probe.sms.empty() ? all_sms(info) : probe.sms;
  PlacedLaunch placed(session, rank_sms(wanted).sms,
                      limit_for((probe.warmup_accesses + probe.accesses) * launch.warps));
  const std::vector<int>& sms = placed.sms();
  const std::uint64_t lanes = sms.size() * launch.warps;
  const auto results = session.outputs.add<kernels::LaneResult>(lanes);
  const auto records = session.outputs.add<std::uint16_t>(lanes * launch.accesses);
  session.inputs.commit();
  session.outputs.commit();
  std::byte* data = session.data(span_bytes(probe));
  launch.placement = placed.placement();
  launch.base = data;
  launch.results = session.outputs.device(results);
  launch.records = session.outputs.device(records);
  placed.run(
      {0, launch.warps * 32, shared.dynamic_bytes, shared.carveout_percent},
      [&] {
        session.outputs.fill_device(results, 0, session.stream());
        SONDE_CUDA_CHECK(cudaMemsetAsync(data, 0, span_bytes(probe), session.stream()));
      },
      [&](const kernels::LaunchShape& shape) {
        return kernels::launch_bypass(launch, shape, session.stream());
      });
  Trace trace;
  trace.shared_carveout_bytes = shared.carveout_bytes;
  for (std::uint64_t at = 0; at < lanes; ++at) {
    const kernels::LaneResult& result = session.outputs.host(results)[at];
    LaneTrace lane;
    lane.sm = sms[at / launch.warps];
    lane.warp = static_cast<int>(at % launch.warps);
    check_lane(result, lane.sm);
    if (result.final_value != 0) {
      throw DeviceError(
          fmt::format("wrong data: a load on SM {} returned {:#x} instead of zero (its "
                      "times mean nothing). Check the GPU's ECC counters",
                      lane.sm, result.final_value));
    }
    const auto row = session.outputs.host(records).subspan(at * launch.accesses, launch.accesses);
    lane.window_cycles.assign(row.begin(), row.end());
    lane.elapsed_cycles = result.elapsed_cycles;
    lane.accesses = launch.accesses;
    trace.lanes.push_back(std::move(lane));
  }
  return trace;
}

}  // namespace sonde::cuda
