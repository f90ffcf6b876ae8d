// How many blocks an SM holds: fills the GPU with the kernel that has so many registers, and reads
// how many blocks counted themselves.
#include "kernels/occupancy.hpp"
#include "base/error.hpp"
#include "device/cuda/play/play.hpp"
#include "device/device_error.hpp"

#include <algorithm>
#include <map>

namespace sonde::cuda {
namespace {

using OccupancyKernel = kernels::Kernel<kernels::OccupancyLaunch>;

/// Twice the most threads and blocks of any SM so far (2048, 32), so that the grid fills every SM.
constexpr int ample_threads = 4096;
constexpr int ample_blocks = 64;
/// Blocks stay until none has begun for so long. A GPU starts thousands of blocks in this time.
constexpr auto quiet_time = std::chrono::microseconds(20);

using KernelsByRegisters = std::map<int, OccupancyKernel>;

KernelsByRegisters ask_for_registers() {
  KernelsByRegisters kernels;
  for (OccupancyKernel kernel : kernels::occupancy_kernels()) {
    cudaFuncAttributes attributes{};
    SONDE_CUDA_CHECK(cudaFuncGetAttributes(&attributes, address_of(kernel)));
    kernels.emplace(attributes.numRegs, kernel);
  }
  return kernels;
}

/// Kernels by their registers per thread; of several with the same number, the first. Asked for
/// once, as this loads all of them.
const KernelsByRegisters& kernels_by_registers() {
  static const KernelsByRegisters kernels = ask_for_registers();
  return kernels;
}

OccupancyKernel find_kernel(int registers_per_thread) {
  const KernelsByRegisters& kernels = kernels_by_registers();
  const auto found = kernels.find(registers_per_thread);
  if (found == kernels.end()) {
    throw_device_error(
        "no kernel has {} registers per thread (only those of register_counts can be had). Ask "
        "for one of them",
        registers_per_thread);
  }
  return found->second;
}

}  // namespace

std::vector<int> list_register_counts() {
  std::vector<int> counts;
  for (const auto& [registers, kernel] : kernels_by_registers()) counts.push_back(registers);
  return counts;
}

Trace play(Session& session, const OccupancyProbe& probe) {
  const DeviceInfo& info = session.info();
  require(info.sm_count <= kernels::max_sms, "more SMs than kernels::max_sms");
  const OccupancyKernel kernel = find_kernel(probe.registers_per_thread);
  const int blocks_per_sm = std::min(ample_blocks, ample_threads / probe.block_threads + 1);
  const LaunchShape shape{.grid_blocks = static_cast<unsigned>(info.sm_count * blocks_per_sm),
                          .block_threads = static_cast<unsigned>(probe.block_threads),
                          .shared_bytes = static_cast<unsigned>(probe.shared_bytes),
                          .carveout_percent = 100};
  constexpr TimeLimit limit{std::chrono::milliseconds(100)};
  LaunchArrays& arrays = session.arrays();
  const auto state = arrays.add_output<kernels::OccupancyState>(1);
  const kernels::OccupancyLaunch launch{
      .state = state.device,
      .quiet_ns = static_cast<std::uint64_t>(std::chrono::nanoseconds(quiet_time).count()),
      .limit_ns = limit.kernel_ns()};
  bool fits = probe.shared_bytes <= info.shared_bytes_per_block;
  session.run(limit, [&] {
    arrays.clear(state);
    if (!fits) return;
    const cudaError_t error = launch_kernel(address_of(kernel), &launch, shape, session.stream());
    fits = error != cudaErrorLaunchOutOfResources && error != cudaErrorInvalidConfiguration;
    if (fits) SONDE_CUDA_CHECK(error);
  });
  const kernels::OccupancyState& found = state.host.front();
  if (found.timed_out != 0) {
    throw_device_error(
        "new blocks kept starting (an SM cannot be filled while another process uses the GPU). "
        "Look for other processes on the GPU");
  }
  Trace trace;
  trace.shared_carveout_bytes = info.largest_carveout_bytes();
  for (int sm = 0; sm < info.sm_count; ++sm) {
    LaneTrace& lane = trace.lanes.emplace_back();
    lane.sm = sm;
    lane.accesses = fits ? found.blocks_on_sm[static_cast<std::size_t>(sm)] : 0;
  }
  return trace;
}

}  // namespace sonde::cuda
