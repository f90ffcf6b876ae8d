// Hardware effect: an SM takes as many blocks as its registers, threads, shared memory and slots
// allow. Blocks count themselves on their SM and stay until nobody has come for a while: nobody
// leaves before the door is closed, and whoever comes later does not count. What could spoil it: a
// kernel with another number of registers than thought (the values that fill them are read one by
// one before the wait, and used one by one behind it; the runtime tells the number), spilled
// registers (none: tests/sass), other processes on the GPU.
#include "kernels/launch.cuh"
#include "kernels/occupancy.hpp"
#include "kernels/placement.cuh"

#include <utility>

namespace sonde::kernels {
namespace {

/// By one thread of each block.
__device__ __forceinline__ void stay_until_quiet(const OccupancyLaunch& launch) {
  OccupancyState& state = *launch.state;
  if (peek(state.closed) != 0) return;
  atomicAdd(&state.blocks_on_sm[read_sm()], 1u);
  atomicAdd(&state.arrived, 1u);
  const std::uint64_t end_ns = read_globaltimer() + launch.limit_ns;
  std::uint64_t last_ns = read_globaltimer();
  std::uint32_t seen = 0;
  while (peek(state.closed) == 0) {
    const std::uint64_t now_ns = read_globaltimer();
    const std::uint32_t arrived = peek(state.arrived);
    if (arrived != seen) {
      seen = arrived;
      last_ns = now_ns;
    }
    if (now_ns > last_ns + launch.quiet_ns) atomicExch(&state.closed, 1u);
    if (now_ns > end_ns) atomicExch(&state.timed_out, 1u);
    if (now_ns > end_ns) atomicExch(&state.closed, 1u);
    __nanosleep(500);
  }
}

/// So many registers hold something while the block stays.
template <int live>
__global__ void __launch_bounds__(live > 43 ? 256 : 1024)
    occupancy_kernel(const __grid_constant__ OccupancyLaunch launch) {
  std::uint32_t values[live];
#pragma unroll
  for (int i = 0; i < live; ++i) values[i] = peek(launch.state->blocks_on_sm[i]);
  if (threadIdx.x == 0) stay_until_quiet(launch);
  // Begins with what is read behind the wait, and cannot be put in another order.
  std::uint32_t sum = peek(launch.state->closed);
#pragma unroll
  for (int i = 0; i < live; ++i) {
    asm volatile("mad.lo.u32 %0, %0, %1, %1;" : "+r"(sum) : "r"(values[i]) : "memory");
  }
  // True for one clock value in four thousand million; the compiler must keep the sum.
  if (sum == 0x9e3779b9u) launch.state->timed_out = 0;
}

/// Values kept by kernels that blocks of any size may use: 1 to 17, and 21 to 43. With 18 to 20
/// ptxas for sm_90 rather spills than uses more than 32 registers (nvcc 13.0), and beyond 43 it
/// runs out of the 64 that 1024 threads may have. More of them find units up to 8 where few blocks
/// fit.
template <int... first, int... second, int... large>
const std::vector<OccupancyKernel>& make_kernels(std::integer_sequence<int, first...>,
                                                 std::integer_sequence<int, second...>,
                                                 std::integer_sequence<int, large...>) {
  static const std::vector<OccupancyKernel> kernels{
      occupancy_kernel<first + 1>..., occupancy_kernel<second + 21>..., occupancy_kernel<large>...};
  return kernels;
}

}  // namespace

const std::vector<OccupancyKernel>& occupancy_kernels() {
  return make_kernels(
      std::make_integer_sequence<int, 17>{}, std::make_integer_sequence<int, 23>{},
      std::integer_sequence<int, 52, 56, 60, 64, 68, 82, 84, 108, 140, 156, 180, 220, 236>{});
}

cudaError_t launch_occupancy(OccupancyKernel kernel, const OccupancyLaunch& launch,
                             const LaunchShape& shape, cudaStream_t stream) {
  return launch_kernel(kernel, launch, shape, stream);
}

}  // namespace sonde::kernels
