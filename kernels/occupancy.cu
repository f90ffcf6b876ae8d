// Hardware effect: an SM takes as many blocks as its registers, threads, shared memory and slots
// allow. Blocks count themselves on their SM and stay until no block has come for a while; then the
// launch is closed, and later blocks do not count. Sources of error: another number of registers
// than expected (the runtime reports it), blocks that are late because they do other work first
// (they do none), other processes.
#include "kernels/occupancy.hpp"
#include "kernels/placement.cuh"

#include <utility>

namespace sonde::kernels {
namespace {

/// Called by one thread of each block.
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

/// Loads `live` values, then uses them, one by one in a fixed order: in between all are in
/// registers.
template <int live>
__device__ __forceinline__ void fill_registers(OccupancyState& state) {
  std::uint32_t values[live];
#pragma unroll
  for (int i = 0; i < live; ++i) values[i] = peek(state.blocks_on_sm[i]);
  std::uint32_t sum = peek(state.closed);
#pragma unroll
  for (int i = 0; i < live; ++i) {
    asm volatile("mad.lo.u32 %0, %0, %1, %1;" : "+r"(sum) : "r"(values[i]) : "memory");
  }
  state.timed_out = sum;
}

/// A kernel has all its registers from the start: also those of fill_registers, which never runs.
template <int live>
__global__ void __launch_bounds__(live > 56 ? 256 : 1024)
    occupancy_kernel(const __grid_constant__ OccupancyLaunch launch) {
  if (threadIdx.x == 0) stay_until_quiet(launch);
  if (launch.quiet_ns == 0) fill_registers<live>(*launch.state);
}

template <int... live>
std::vector<Kernel<OccupancyLaunch>> make_kernels(std::integer_sequence<int, live...>) {
  return {occupancy_kernel<live>...};
}

}  // namespace

/// Kernels for blocks of any size, with 16 to 26 and 30 to 56 values: fewer values change nothing,
/// and with 27 to 29 ptxas spills rather than use more than 32 registers (nvcc 13.0). Larger
/// numbers only where few blocks just fit, which distinguishes allocation units up to 8.
const std::vector<Kernel<OccupancyLaunch>>& occupancy_kernels() {
  static const auto kernels = make_kernels(
      std::integer_sequence<int, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 30, 31, 32, 33, 34, 35,
                            36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53,
                            54, 55, 56, 62, 64, 68, 72, 74, 77, 80, 82, 84, 90, 92, 94, 96, 98, 108,
                            120, 122, 126, 140, 154, 156, 162, 164, 180, 200, 220, 236, 247>{});
  return kernels;
}

}  // namespace sonde::kernels
