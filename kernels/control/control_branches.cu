// Hardware effect: threads of a warp that take different paths of a branch run one path after the
// other. Stamps at both ends of each path show their order, the gaps, and where the warp joins
// again (Wong 2010, section IV-C). Sources of error: predicated code instead of a branch; equal
// paths that the compiler merges (each multiplies by other constants); a chain of conditions that
// becomes a jump table (the masks come from memory); moved clock reads (volatile); instruction
// misses (a rehearsal); other warps between the stamps (measured with several warps).
#include "kernels/control/control.hpp"
#include "kernels/control/control_paths.cuh"

namespace sonde::kernels {
namespace {

/// `if ... else if ...`: the first path's condition is tested first.
template <int path>
__device__ __forceinline__ void run_chain(PathRun& run, const BranchLaunch& launch,
                                          std::uint32_t own_bit) {
  if constexpr (path < branch_paths) {
    if ((launch.threads_of_path[path] & own_bit) != 0) {
      run_path<path>(run);
    } else {
      run_chain<path + 1>(run, launch, own_bit);
    }
  }
}

#define SONDE_PATH(path) \
  case path:             \
    run_path<path>(run); \
    break;
#define SONDE_PATHS(first) \
  SONDE_PATH(first) SONDE_PATH((first) + 1) SONDE_PATH((first) + 2) SONDE_PATH((first) + 3)

__device__ __forceinline__ void run_table(PathRun& run, std::uint32_t path) {
  static_assert(branch_paths == 32);
  switch (path) {
    SONDE_PATHS(0)
    SONDE_PATHS(4)
    SONDE_PATHS(8)
    SONDE_PATHS(12)
    SONDE_PATHS(16)
    SONDE_PATHS(20)
    SONDE_PATHS(24)
    SONDE_PATHS(28)
    default: break;
  }
}

#undef SONDE_PATHS
#undef SONDE_PATH

template <Branch branch>
__global__ void __launch_bounds__(1024, 1)
    branch_kernel(const __grid_constant__ BranchLaunch launch) {
  const std::uint32_t own_path = launch.path_of_thread[threadIdx.x % 32];
  const std::uint32_t own_bit = 1u << threadIdx.x % 32;
  stamp_branch(launch, [&](PathRun& run) {
    if constexpr (branch == Branch::switch_cases) {
      run_table(run, own_path);
    } else {
      run_chain<0>(run, launch, own_bit);
    }
  });
}

}  // namespace

Kernel<BranchLaunch> find_branches(Branch branch) {
  return branch == Branch::switch_cases ? branch_kernel<Branch::switch_cases>
                                        : branch_kernel<Branch::else_chain>;
}

}  // namespace sonde::kernels
