// Control flow: branches, waits, barriers and sleeps laid out for the kernels and read back.
#include "kernels/control/control.hpp"
#include "device/cuda/clusters.hpp"
#include "device/cuda/lane_launch.hpp"
#include "device/cuda/play/play.hpp"
#include "device/device_error.hpp"

#include <functional>

namespace sonde::cuda {
namespace {

static_assert(most_branch_paths == kernels::branch_paths);
static_assert(branch_path_operations == kernels::branch_operations);
static_assert(most_branch_depth == kernels::branch_depth);
static_assert(barrier_group == kernels::barriers_in_row);

void check_warps(const DeviceInfo& info, int warps) {
  const int most = info.max_threads_per_block / info.warp_threads;
  if (warps <= most) return;
  throw_device_error("a block of {} warps does not exist on this GPU (at most {}). Ask for fewer",
                     warps, most);
}

unsigned threads_of(const DeviceInfo& info, int warps) {
  return static_cast<unsigned>(warps * info.warp_threads);
}

/// One block on each SM, with next to nothing of shared memory.
layout::SharedPlan small_memory(const DeviceInfo& info) {
  return layout::plan_shared(info, kernels::wait_shared_bytes);
}

/// Far above what a few thousand barriers or paths take.
constexpr TimeLimit short_limit{std::chrono::milliseconds(200)};

cudaError_t launch_shape(const kernels::BranchLaunch& launch, const BranchProbe& probe,
                         const kernels::LaunchShape& shape, cudaStream_t stream) {
  switch (probe.shape) {
    case BranchShape::nested:
      return kernels::launch_nested_branches(launch, probe.depth, shape, stream);
    case BranchShape::else_chain:
      return kernels::launch_branches(launch, kernels::Branch::else_chain, shape, stream);
    case BranchShape::switch_cases: break;
  }
  return kernels::launch_branches(launch, kernels::Branch::switch_cases, shape, stream);
}

kernels::Wait to_kernel(WaitProgram program) {
  switch (program) {
    case WaitProgram::handshake: return kernels::Wait::handshake;
    case WaitProgram::spin_release: return kernels::Wait::spin_release;
    case WaitProgram::barrier_against_spin: return kernels::Wait::barrier_against_spin;
    case WaitProgram::diverged_barrier: break;
  }
  return kernels::Wait::diverged_barrier;
}

LaneTrace read_warp(std::span<const kernels::BranchStamps> stamps, int sm, std::size_t warp) {
  LaneTrace lane;
  lane.sm = sm;
  lane.warp = static_cast<int>(warp);
  for (const kernels::BranchStamps& thread : stamps) {
    lane.clock_cycles.insert(lane.clock_cycles.end(),
                             {thread.before, thread.path_begin, thread.path_end, thread.behind});
  }
  return lane;
}

Trace play_block_barrier(Session& session, const BarrierProbe& probe) {
  const DeviceInfo& info = session.info();
  check_warps(info, probe.warps);
  const layout::SharedPlan shared = small_memory(info);
  LaneLaunch lanes(
      session,
      {.sms = probe.sms, .recorded = 0, .accesses = static_cast<std::uint64_t>(probe.barriers)},
      short_limit);
  kernels::BarrierLaunch launch;
  lanes.describe(launch);
  launch.barriers = static_cast<std::uint32_t>(probe.barriers);
  const auto barrier =
      probe.kind == BarrierKind::named ? kernels::BlockBarrier::named : kernels::BlockBarrier::all;
  return lanes.run(threads_of(info, probe.warps), shared, [&](const kernels::LaunchShape& shape) {
    SONDE_CUDA_CHECK(kernels::launch_barriers(launch, barrier, shape, session.stream()));
  });
}

Trace play_grid_barrier(Session& session, const BarrierProbe& probe) {
  const DeviceInfo& info = session.info();
  LaneLaunch lanes(
      session,
      {.sms = all_sms(info), .recorded = 0, .accesses = static_cast<std::uint64_t>(probe.barriers)},
      short_limit);
  const auto arrivals = session.arrays().add_output<std::uint32_t>(1);
  kernels::GridBarrierLaunch launch;
  lanes.describe(launch);
  launch.arrivals = session.arrays().device(arrivals);
  launch.barriers = static_cast<std::uint32_t>(probe.barriers);
  return lanes.run(threads_of(info, 1), small_memory(info), [&](const kernels::LaunchShape& shape) {
    session.arrays().clear(arrivals);
    SONDE_CUDA_CHECK(kernels::launch_grid_barriers(launch, shape, session.stream()));
  });
}

Trace play_cluster_barrier(Session& session, const BarrierProbe& probe) {
  const DeviceInfo& info = session.info();
  check_warps(info, probe.warps);
  const kernels::ClusterShape shape =
      lone_blocks(info, probe.cluster_blocks, probe.warps * info.warp_threads);
  const int clusters = count_clusters(info, shape, kernels::max_active_cluster_barriers);
  LaunchArrays& arrays = session.arrays();
  const auto state = arrays.add_output<kernels::PlacementState>(1);
  const auto results = arrays.add_output<kernels::LaneResult>(
      static_cast<std::uint64_t>(clusters) * static_cast<std::uint64_t>(probe.cluster_blocks));
  const kernels::ClusterBarrierLaunch launch{
      .state = arrays.device(state),
      .results = arrays.device(results),
      .limit_ns = short_limit.kernel_ns(),
      .barriers = static_cast<std::uint32_t>(probe.barriers)};
  session.run(short_limit, [&] {
    arrays.clear(state);
    arrays.clear(results);
    SONDE_CUDA_CHECK(kernels::launch_cluster_barriers(launch, shape, clusters, session.stream()));
  });
  Trace trace;
  trace.shared_carveout_bytes = info.largest_carveout_bytes();
  for (const kernels::LaneResult& result : arrays.host(results)) {
    check_lane(result, static_cast<int>(result.sm));
    LaneTrace lane;
    lane.sm = static_cast<int>(result.sm);
    lane.cluster = static_cast<int>(trace.lanes.size()) / probe.cluster_blocks;
    lane.elapsed_cycles = result.elapsed_cycles;
    lane.accesses = static_cast<std::uint64_t>(probe.barriers);
    trace.lanes.push_back(std::move(lane));
  }
  return trace;
}

}  // namespace

Trace play(Session& session, const BranchProbe& probe) {
  const DeviceInfo& info = session.info();
  check_warps(info, probe.warps);
  const unsigned threads = threads_of(info, probe.warps);
  LaneLaunch lanes(session, {.sms = probe.sms, .recorded = 0, .accesses = 1}, short_limit);
  const auto stamps =
      session.arrays().add_output<kernels::BranchStamps>(probe.sms.size() * threads);
  kernels::BranchLaunch launch;
  lanes.describe(launch);
  launch.stamps = session.arrays().device(stamps);
  for (std::size_t thread = 0; thread < probe.path_of_thread.size(); ++thread) {
    const auto path = static_cast<std::uint32_t>(probe.path_of_thread[thread]);
    launch.path_of_thread[thread] = path;
    launch.threads_of_path[path] |= 1u << thread;
  }
  const Trace blocks =
      lanes.run(threads, small_memory(info), [&](const kernels::LaunchShape& shape) {
        SONDE_CUDA_CHECK(launch_shape(launch, probe, shape, session.stream()));
      });
  Trace trace;
  trace.shared_carveout_bytes = blocks.shared_carveout_bytes;
  const auto warps = static_cast<std::size_t>(probe.warps);
  const auto warp_size = static_cast<std::size_t>(info.warp_threads);
  for (std::size_t i = 0; i < probe.sms.size() * warps; ++i) {
    trace.lanes.push_back(read_warp(session.arrays().host(stamps).subspan(i * warp_size, warp_size),
                                    blocks.lanes[i / warps].sm, i % warps));
  }
  return trace;
}

Trace play(Session& session, const WaitProbe& probe) {
  const DeviceInfo& info = session.info();
  const unsigned threads = threads_of(info, kernels::wait_warps);
  // Each thread waits once, the arrivals of the second warp at most twice as long; at 500 MHz.
  const TimeLimit limit{short_limit.kernel + std::chrono::nanoseconds(8 * probe.limit_cycles)};
  LaneLaunch lanes(session, {.sms = probe.sms, .recorded = 0, .accesses = 1}, limit);
  const auto cycles = session.arrays().add_output<std::uint64_t>(probe.sms.size() * threads);
  kernels::WaitLaunch launch;
  lanes.describe(launch);
  launch.cycles = session.arrays().device(cycles);
  launch.limit_cycles = probe.limit_cycles;
  Trace trace = lanes.run(threads, small_memory(info), [&](const kernels::LaunchShape& shape) {
    SONDE_CUDA_CHECK(
        kernels::launch_waits(launch, to_kernel(probe.program), shape, session.stream()));
  });
  for (std::size_t i = 0; i < trace.lanes.size(); ++i) {
    const auto own = session.arrays().host(cycles).subspan(i * threads, threads);
    trace.lanes[i].clock_cycles.assign(own.begin(), own.end());
  }
  return trace;
}

Trace play(Session& session, const BarrierProbe& probe) {
  switch (probe.kind) {
    case BarrierKind::cluster: return play_cluster_barrier(session, probe);
    case BarrierKind::grid: return play_grid_barrier(session, probe);
    case BarrierKind::block:
    case BarrierKind::named: break;
  }
  return play_block_barrier(session, probe);
}

Trace play(Session& session, const SleepProbe& probe) {
  const DeviceInfo& info = session.info();
  const auto samples = static_cast<std::uint64_t>(probe.samples);
  // A sleep lasts at most twice as long as asked (CUDA programming guide).
  const TimeLimit limit{short_limit.kernel +
                        std::chrono::nanoseconds(4 * samples * probe.asked_ns)};
  LaneLaunch lanes(session, {.sms = probe.sms, .recorded = 0, .accesses = samples}, limit);
  const auto windows = session.arrays().add_output<std::uint32_t>(probe.sms.size() * samples);
  kernels::SleepLaunch launch;
  lanes.describe(launch);
  launch.window_cycles = session.arrays().device(windows);
  launch.samples = static_cast<std::uint32_t>(probe.samples);
  launch.asked_ns = probe.asked_ns;
  Trace trace =
      lanes.run(threads_of(info, 1), small_memory(info), [&](const kernels::LaunchShape& shape) {
        SONDE_CUDA_CHECK(kernels::launch_sleeps(launch, shape, session.stream()));
      });
  for (std::size_t i = 0; i < trace.lanes.size(); ++i) {
    const auto own = session.arrays().host(windows).subspan(i * samples, samples);
    trace.lanes[i].window_cycles.assign(own.begin(), own.end());
  }
  return trace;
}

}  // namespace sonde::cuda
