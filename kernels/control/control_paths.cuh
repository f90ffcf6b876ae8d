// The paths of a branch and the stamps around them, for all kernels of branches.
#pragma once

#include "kernels/control/control.hpp"
#include "kernels/placement.cuh"

namespace sonde::kernels {

/// State of a path; `product` is written out, so that its operations are kept.
struct PathRun {
  std::uint64_t begin;
  std::uint64_t end;
  std::uint32_t product;
};

template <int path>
__device__ __forceinline__ void run_path(PathRun& run) {
  run.begin = read_clock();
  static_assert(branch_operations == 16);
  asm volatile(
      "mad.lo.u32 %0, %0, %0, %1;\n\tmad.lo.u32 %0, %0, %0, %2;\n\t"
      "mad.lo.u32 %0, %0, %0, %1;\n\tmad.lo.u32 %0, %0, %0, %2;\n\t"
      "mad.lo.u32 %0, %0, %0, %1;\n\tmad.lo.u32 %0, %0, %0, %2;\n\t"
      "mad.lo.u32 %0, %0, %0, %1;\n\tmad.lo.u32 %0, %0, %0, %2;\n\t"
      "mad.lo.u32 %0, %0, %0, %1;\n\tmad.lo.u32 %0, %0, %0, %2;\n\t"
      "mad.lo.u32 %0, %0, %0, %1;\n\tmad.lo.u32 %0, %0, %0, %2;\n\t"
      "mad.lo.u32 %0, %0, %0, %1;\n\tmad.lo.u32 %0, %0, %0, %2;\n\t"
      "mad.lo.u32 %0, %0, %0, %1;\n\tmad.lo.u32 %0, %0, %0, %2;"
      : "+r"(run.product)
      : "n"(2 * path + 1), "n"(2 * path + 101)
      : "memory");
  run.end = read_clock();
}

/// Runs two rounds through a branch, and stores the stamps of every thread.
/// @param take runs the path of the thread, by some kind of branch
template <class Take>
__device__ __forceinline__ void stamp_branch(const BranchLaunch& launch, const Take& take) {
  const int rank = hold_wanted_sm(launch.placement);
  if (rank < 0) return;
  const std::uint32_t sm = read_sm();
  PathRun run{0, 0, threadIdx.x};
  BranchStamps stamps{};
  for (std::uint32_t round = 0; round < launch.rounds; ++round) {
    if (!pass_barrier()) return;
    __syncwarp();
    stamps.before = read_clock();
    take(run);
    stamps.behind = read_clock();
    stamps.path_begin = run.begin;
    stamps.path_end = run.end;
    __syncwarp();
  }
  launch.stamps[static_cast<std::uint64_t>(rank) * blockDim.x + threadIdx.x] = stamps;
  if (threadIdx.x == 0) {
    launch.results[rank] = {lane_status(true, sm), sm, stamps.behind - stamps.before, run.product};
  }
}

}  // namespace sonde::kernels
