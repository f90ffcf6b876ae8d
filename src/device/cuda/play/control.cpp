// Control flow: branches, waits, barriers and sleeps laid out for the kernels and read back.
#include "kernels/control/control.hpp"
#include "device/cuda/lanes/clusters.hpp"
#include "device/cuda/play/play.hpp"
#include "device/device_error.hpp"

namespace sonde::cuda {
namespace {

static_assert(most_branch_paths == kernels::branch_paths);
static_assert(branch_path_operations == kernels::branch_operations);
static_assert(most_branch_depth == kernels::branch_depth);
static_assert(barrier_group == kernels::barriers_in_row);
static_assert(as_kernel<kernels::Branch>(BranchShape::else_chain) == kernels::Branch::else_chain);
static_assert(as_kernel<kernels::Wait>(WaitProgram::diverged_barrier) ==
              kernels::Wait::diverged_barrier);

void check_warps(const DeviceInfo& info, int warps) {
  const int most = info.max_threads_per_block / info.warp_threads;
  if (warps <= most) return;
  throw_device_error("a block of {} warps does not exist on this GPU (at most {}). Ask for fewer",
                     warps, most);
}

unsigned threads_of(const DeviceInfo& info, int warps) {
  return static_cast<unsigned>(warps * info.warp_threads);
}

/// One block on each SM, with hardly any shared memory.
layout::SharedPlan small_memory(const DeviceInfo& info) {
  return layout::plan_shared(info, kernels::wait_shared_bytes);
}

/// Far above what a few thousand barriers or paths take.
constexpr TimeLimit short_limit{std::chrono::milliseconds(200)};

kernels::Kernel<kernels::BranchLaunch> kernel_of(const BranchProbe& probe) {
  if (probe.shape == BranchShape::nested) return kernels::find_nested_branches(probe.depth);
  return kernels::find_branches(as_kernel<kernels::Branch>(probe.shape));
}

kernels::Kernel<kernels::BarrierLaunch> kernel_of(BarrierKind kind) {
  if (kind == BarrierKind::clocked) return kernels::clocked_barriers;
  return kind == BarrierKind::named ? kernels::named_barriers : kernels::block_barriers;
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
  LaneLaunch lanes(
      session,
      {.sms = probe.sms, .recorded = 0, .accesses = static_cast<std::uint64_t>(probe.barriers)},
      short_limit);
  kernels::BarrierLaunch launch;
  launch.barriers = static_cast<std::uint32_t>(probe.barriers);
  return lanes.run(kernel_of(probe.kind), launch, threads_of(info, probe.warps),
                   small_memory(info));
}

Trace play_grid_barrier(Session& session, const BarrierProbe& probe) {
  const DeviceInfo& info = session.info();
  LaneLaunch lanes(
      session,
      {.sms = all_sms(info), .recorded = 0, .accesses = static_cast<std::uint64_t>(probe.barriers)},
      short_limit);
  const auto arrivals = session.arrays().add_output<std::uint32_t>(1);
  kernels::GridBarrierLaunch launch;
  launch.arrivals = arrivals.device;
  launch.barriers = static_cast<std::uint32_t>(probe.barriers);
  return lanes.run(kernels::grid_barriers, launch, threads_of(info, 1), small_memory(info),
                   [&] { session.arrays().clear(arrivals); });
}

Trace play_cluster_barrier(Session& session, const BarrierProbe& probe) {
  const DeviceInfo& info = session.info();
  check_warps(info, probe.warps);
  const auto threads = static_cast<int>(threads_of(info, probe.warps));
  const ClusterLanes lanes(session, count_clusters(info, address_of(kernels::cluster_barriers),
                                                   probe.cluster_blocks, threads));
  kernels::ClusterBarrierLaunch launch;
  launch.barriers = static_cast<std::uint32_t>(probe.barriers);
  return lanes.run(kernels::cluster_barriers, launch, short_limit, launch.barriers);
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
  launch.stamps = stamps.device;
  for (std::size_t thread = 0; thread < probe.path_of_thread.size(); ++thread) {
    const auto path = static_cast<std::uint32_t>(probe.path_of_thread[thread]);
    launch.path_of_thread[thread] = path;
    launch.threads_of_path[path] |= 1u << thread;
  }
  const Trace blocks = lanes.run(kernel_of(probe), launch, threads, small_memory(info));
  Trace trace;
  trace.shared_carveout_bytes = blocks.shared_carveout_bytes;
  const auto warps = static_cast<std::size_t>(probe.warps);
  const auto warp_size = static_cast<std::size_t>(info.warp_threads);
  for (std::size_t i = 0; i < probe.sms.size() * warps; ++i) {
    trace.lanes.push_back(read_warp(stamps.host.subspan(i * warp_size, warp_size),
                                    blocks.lanes[i / warps].sm, i % warps));
  }
  return trace;
}

Trace play(Session& session, const WaitProbe& probe) {
  const DeviceInfo& info = session.info();
  const unsigned threads = threads_of(info, kernels::wait_warps);
  // Each thread waits once, and the second warp arrives for at most twice as long; at 500 MHz.
  const TimeLimit limit{short_limit.kernel + std::chrono::nanoseconds(8 * probe.limit_cycles)};
  LaneLaunch lanes(session, {.sms = probe.sms, .recorded = 0, .accesses = 1}, limit);
  const auto cycles = session.arrays().add_output<std::uint64_t>(probe.sms.size() * threads);
  kernels::WaitLaunch launch;
  launch.cycles = cycles.device;
  launch.limit_cycles = probe.limit_cycles;
  Trace trace = lanes.run(kernels::find_waits(as_kernel<kernels::Wait>(probe.program)), launch,
                          threads, small_memory(info));
  for (std::size_t i = 0; i < trace.lanes.size(); ++i) {
    const auto own = cycles.host.subspan(i * threads, threads);
    trace.lanes[i].clock_cycles.assign(own.begin(), own.end());
  }
  return trace;
}

Trace play(Session& session, const BarrierProbe& probe) {
  if (probe.kind == BarrierKind::cluster) return play_cluster_barrier(session, probe);
  if (probe.kind == BarrierKind::grid) return play_grid_barrier(session, probe);
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
  launch.window_cycles = windows.device;
  launch.samples = static_cast<std::uint32_t>(probe.samples);
  launch.asked_ns = probe.asked_ns;
  Trace trace = lanes.run(kernels::sleeps, launch, threads_of(info, 1), small_memory(info));
  for (std::size_t i = 0; i < trace.lanes.size(); ++i) {
    const auto own = windows.host.subspan(i * samples, samples);
    trace.lanes[i].window_cycles.assign(own.begin(), own.end());
  }
  return trace;
}

}  // namespace sonde::cuda
