// Mixes of warps that use the L1 and warps that bypass it.
#include "kernels/bypass.hpp"
#include "base/gpu_facts.hpp"
#include "base/units.hpp"
#include "device/cuda/lane_launch.hpp"
#include "device/cuda/play/play.hpp"
#include "device/device_error.hpp"

#include <algorithm>

namespace sonde::cuda {
namespace {

/// From the first to behind the last byte that any warp reads.
std::uint64_t span_bytes(const BypassProbe& probe) {
  return static_cast<std::uint64_t>(probe.warps - 1) * probe.warp_base_step_bytes +
         probe.working_set_bytes + warp_threads * probe.thread_stride_bytes;
}

void check_bypass(const DeviceInfo& info, const BypassProbe& probe) {
  if (probe.warps * info.warp_threads > info.max_threads_per_block) {
    throw_device_error("{} warps do not fit into one block (at most {}). Ask for fewer",
                       probe.warps, info.max_threads_per_block / info.warp_threads);
  }
  if (probe.working_set_bytes >= 2_GiB) {
    throw_device_error("the working set of a bypass mix must be below 2 GiB (offsets are 32 bits)");
  }
  if ((probe.warp_base_step_bytes | probe.access_step_bytes | probe.thread_stride_bytes |
       probe.working_set_bytes) %
          4 !=
      0) {
    throw_device_error("the steps of a bypass mix must be multiples of 4 bytes (it loads words)");
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

/// The lanes of each SM are the warps of its block.
Lanes lanes_of(const std::vector<int>& sms, const kernels::BypassLaunch& launch) {
  Lanes lanes{.sms = {}, .recorded = launch.accesses, .accesses = launch.accesses};
  for (int sm : rank_sms(sms).sms) lanes.sms.insert(lanes.sms.end(), launch.warps, sm);
  return lanes;
}

}  // namespace

Trace play(Session& session, const BypassProbe& probe) {
  const DeviceInfo& info = session.info();
  check_bypass(info, probe);
  kernels::BypassLaunch launch = describe_launch(probe);
  const layout::SharedPlan shared = layout::plan_shared(info, kernels::bypass_shared_bytes(launch));
  LaneLaunch lanes(session, lanes_of(probe.sms.empty() ? all_sms(info) : probe.sms, launch),
                   limit_for((probe.warmup_accesses + probe.accesses) * launch.warps));
  lanes.describe(launch);
  std::byte* data = session.data(probe.place, span_bytes(probe));
  launch.base = data;
  Trace trace =
      lanes.run(launch.warps * warp_threads, shared, [&](const kernels::LaunchShape& shape) {
        SONDE_CUDA_CHECK(cudaMemsetAsync(data, 0, span_bytes(probe), session.stream()));
        SONDE_CUDA_CHECK(kernels::launch_bypass(launch, shape, session.stream()));
      });
  for (std::size_t lane = 0; lane < trace.lanes.size(); ++lane) {
    lanes.check_final_value(lane, 0);
    trace.lanes[lane].warp = static_cast<int>(lane % launch.warps);
  }
  return trace;
}

}  // namespace sonde::cuda
