// Hardware effect: one slice of the L2 serves the reductions on a line one by one, and all other
// accesses to this slice queue behind them. Sources of error: reductions that are merged or dropped
// (each thread of a warp has its own word; volatile assembly), and too many checks for the end
// (only one after many reductions, on another line).
#include "kernels/co_runners.hpp"
#include "kernels/placement.cuh"

namespace sonde::kernels {
namespace {

constexpr unsigned reductions_between_looks = 64;

__device__ __forceinline__ void add_nothing(std::uint64_t address) {
  asm volatile("red.relaxed.gpu.global.add.u32 [%0], 0;" ::"l"(address) : "memory");
}

__global__ void co_runner_kernel(const __grid_constant__ CoRunnerLaunch launch) {
  const int rank = hold_wanted_sm(launch.placement);
  if (rank < 0) return;
  const std::uint64_t word = __ldcg(&launch.lines[rank]) + threadIdx.x % 32 * 4;
  if (threadIdx.x == 0) atomicAdd(launch.placement.arrived, 1u);
  const Deadline deadline(launch.placement.limit_ns);
  do {
#pragma unroll 1
    for (unsigned i = 0; i < reductions_between_looks; ++i) add_nothing(word);
  } while (peek(*launch.stop) == 0 && !deadline.passed());
}

__global__ void await_kernel(const __grid_constant__ Placement placement) {
  wait_for(*placement.arrived, placement.wanted, Deadline(placement.claim_ns), 100);
}

}  // namespace

const Kernel<CoRunnerLaunch> co_runners = co_runner_kernel;
const Kernel<Placement> await_arrivals = await_kernel;

}  // namespace sonde::kernels
