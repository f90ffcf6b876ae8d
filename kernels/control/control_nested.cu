// Hardware effect: the cost if a part of a diverged warp diverges again, and where these parts join
// (Wong 2010, section IV-C). Each level of a nest has an operation before its branch and one where
// its sides join, so that every join is separate. Sources of error: those of other branches
// (control_branches.cu), and levels that the compiler turns into a table, or whose joins it merges.
#include "kernels/control/control.hpp"
#include "kernels/control/control_paths.cuh"
#include "kernels/select.cuh"

namespace sonde::kernels {
namespace {

/// A multiply-add that occurs nowhere else in the program.
template <int number>
__device__ __forceinline__ void operate(std::uint32_t& product) {
  asm volatile("mad.lo.u32 %0, %0, %0, %1;" : "+r"(product) : "n"(number) : "memory");
}

/// Runs the paths whose numbers begin with the `level` bits of `prefix`.
template <int depth, int level, int prefix>
__device__ __forceinline__ void run_nest(PathRun& run, std::uint32_t own_path) {
  if constexpr (level == depth) {
    run_path<prefix>(run);
  } else {
    constexpr int node = (1 << level) + prefix;  // 1 .. 31
    operate<200 + node>(run.product);
    if ((own_path >> (depth - 1 - level) & 1u) != 0) {
      run_nest<depth, level + 1, 2 * prefix + 1>(run, own_path);
    } else {
      run_nest<depth, level + 1, 2 * prefix>(run, own_path);
    }
    operate<300 + node>(run.product);
  }
}

template <int depth>
__global__ void __launch_bounds__(1024, 1)
    nested_kernel(const __grid_constant__ BranchLaunch launch) {
  static_assert(1 << branch_depth == branch_paths);
  const std::uint32_t own_path = launch.path_of_thread[threadIdx.x % 32];
  stamp_branch(launch, [&](PathRun& run) { run_nest<depth, 0, 0>(run, own_path); });
}

}  // namespace

Kernel<BranchLaunch> find_nested_branches(int depth) {
  return select_kernel<Kernel<BranchLaunch>, 0, 1, 2, 3, 4, 5>(
      depth, [](auto levels) { return nested_kernel<levels.value>; });
}

}  // namespace sonde::kernels
