// Hardware effect: the cost of a barrier that all threads reach at once, many in a row. Sources of
// error: a clock read on arrival at a barrier instead of its release (pass_barrier), loop overhead
// (16 barriers in a row), code around the barriers (a run of twice as many minus a run of as many).
// The sleeps show how long a warp sleeps that asks for a time.
#include "kernels/cluster.cuh"
#include "kernels/control/control.hpp"
#include "kernels/placement.cuh"

namespace sonde::kernels {

enum class BlockBarrier { all, named, clocked };

namespace {

template <BlockBarrier barrier>
__device__ __forceinline__ void sync_block(std::uint32_t threads) {
  if constexpr (barrier == BlockBarrier::named) {
    asm volatile("bar.sync 1, %0;" ::"r"(threads) : "memory");
  } else {
    asm volatile("bar.sync 0;" ::: "memory");
  }
}

/// Cycles of `count` barriers and of the code around them.
/// @param clocks takes up the last clock reads between them, so that none is removed
template <BlockBarrier barrier>
__device__ std::uint64_t time_barriers(std::uint32_t count, std::uint32_t threads,
                                       std::uint64_t& clocks) {
  [[maybe_unused]] std::uint64_t reads[barriers_in_row] = {};
  if (!pass_barrier()) return 0;
  const std::uint64_t begin = read_clock();
#pragma unroll 1
  for (std::uint32_t i = 0; i < count; i += barriers_in_row) {
#pragma unroll
    for (std::uint32_t j = 0; j < barriers_in_row; ++j) {
      sync_block<barrier>(threads);
      if constexpr (barrier == BlockBarrier::clocked) reads[j] = read_clock();
    }
  }
  if (!pass_barrier()) return 0;
  const std::uint64_t cycles = cycles_since(begin);
  if constexpr (barrier == BlockBarrier::clocked) {
#pragma unroll
    for (const std::uint64_t read : reads) clocks += read;
  }
  return cycles;
}

template <BlockBarrier barrier>
__global__ void __launch_bounds__(1024, 1)
    barrier_kernel(const __grid_constant__ BarrierLaunch launch) {
  const int rank = hold_wanted_sm(launch.placement);
  if (rank < 0) return;
  const std::uint32_t sm = read_sm();
  std::uint64_t clocks = 1;
  const std::uint64_t once =
      time_barriers<barrier>(launch.barriers, blockDim.x, clocks);  // a rehearsal
  const std::uint64_t fewer = time_barriers<barrier>(launch.barriers, blockDim.x, clocks);
  const std::uint64_t more = time_barriers<barrier>(2 * launch.barriers, blockDim.x, clocks);
  if (threadIdx.x == 0) {
    launch.results[rank] = {lane_status(true, sm), sm, more - fewer,
                            once == 0 || clocks == 0 ? 1u : 0u};
  }
}

__global__ void __launch_bounds__(32, 1)
    grid_barrier_kernel(const __grid_constant__ GridBarrierLaunch launch) {
  const int rank = hold_wanted_sm(launch.placement);
  if (rank < 0 || threadIdx.x > 0) return;
  const std::uint32_t sm = read_sm();
  const Deadline deadline(launch.placement.limit_ns);
  bool in_time = start_together(launch.placement, launch.placement.wanted, deadline);
  std::uint32_t due = 0;
  std::uint64_t begin = 0;
  // The first half is a rehearsal.
  for (std::uint32_t i = 0; i < 2 * launch.barriers && in_time; ++i) {
    if (i == launch.barriers) begin = read_clock();
    due += launch.placement.wanted;
    asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(launch.arrivals) : "memory");
    std::uint32_t looks = 0;
    while (peek(*launch.arrivals) < due && in_time) {
      if (++looks % 1024 == 0) in_time = !deadline.passed();
    }
  }
  const std::uint64_t end = read_clock();
  launch.results[rank] = {lane_status(in_time, sm), sm, end - begin, 0};
}

#if __CUDA_ARCH__ >= 900

/// Like cluster.sync(): the arrival releases earlier writes.
__device__ std::uint64_t time_cluster_barriers(std::uint32_t count) {
  sync_cluster();
  if (!pass_barrier()) return 0;
  const std::uint64_t begin = read_clock();
#pragma unroll 1
  for (std::uint32_t i = 0; i < count; i += barriers_in_row) {
#pragma unroll
    for (std::uint32_t j = 0; j < barriers_in_row; ++j) sync_cluster();
  }
  if (!pass_barrier()) return 0;
  return cycles_since(begin);
}

#endif

__global__ void __launch_bounds__(1024, 1)
    cluster_barrier_kernel(const __grid_constant__ ClusterBarrierLaunch launch) {
#if __CUDA_ARCH__ >= 900
  const std::uint32_t sm = read_sm();
  const std::uint32_t lane = read_cluster() * read_cluster_blocks() + read_cluster_rank();
  bool in_time = true;
  if (threadIdx.x == 0) {
    atomicAdd(&launch.common.state->arrived, 1u);
    in_time =
        wait_for(launch.common.state->arrived, gridDim.x, Deadline(launch.common.limit_ns), 20);
  }
  if (!pass_barrier()) return;
  const std::uint64_t once = time_cluster_barriers(launch.barriers);  // a rehearsal
  const std::uint64_t fewer = time_cluster_barriers(launch.barriers);
  const std::uint64_t more = time_cluster_barriers(2 * launch.barriers);
  if (threadIdx.x == 0) {
    launch.common.results[lane] = {lane_status(in_time, sm), sm, more - fewer, once == 0 ? 1u : 0u};
  }
  sync_cluster();
#endif
}

__global__ void __launch_bounds__(32, 1) sleep_kernel(const __grid_constant__ SleepLaunch launch) {
  const int rank = hold_wanted_sm(launch.placement);
  if (rank < 0 || threadIdx.x > 0) return;
  const std::uint32_t sm = read_sm();
  std::uint32_t* windows = launch.window_cycles + static_cast<std::uint64_t>(rank) * launch.samples;
  const std::uint64_t start = read_clock();
#pragma unroll 1
  for (std::uint32_t i = 0; i < launch.samples; ++i) {
    const std::uint64_t begin = read_clock();
    asm volatile("nanosleep.u32 %0;" ::"r"(launch.asked_ns) : "memory");
    const std::uint64_t end = read_clock();
    const std::uint64_t cycles = elapsed(begin, end);
    windows[i] = cycles < 0xffffffffu ? static_cast<std::uint32_t>(cycles) : 0xffffffffu;
  }
  launch.results[rank] = {lane_status(true, sm), sm, cycles_since(start), 0};
}

}  // namespace

const Kernel<BarrierLaunch> block_barriers = barrier_kernel<BlockBarrier::all>;
const Kernel<BarrierLaunch> clocked_barriers = barrier_kernel<BlockBarrier::clocked>;
const Kernel<BarrierLaunch> named_barriers = barrier_kernel<BlockBarrier::named>;
const Kernel<GridBarrierLaunch> grid_barriers = grid_barrier_kernel;
const Kernel<ClusterBarrierLaunch> cluster_barriers = cluster_barrier_kernel;
const Kernel<SleepLaunch> sleeps = sleep_kernel;

}  // namespace sonde::kernels
