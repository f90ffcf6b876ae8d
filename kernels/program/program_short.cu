// Programs of up to six loads in a pass, and which file has the others.
#include "kernels/program/program_kernel.cuh"

namespace sonde::kernels {

ProgramKernel short_program_kernel(int loads) {
  return select_kernel<ProgramKernel, 1, 2, 3, 4, 5, 6>(
      loads, [](auto count) { return program_kernel<count()>; });
}

std::uint64_t program_shared_bytes(const ProgramLaunch& launch) {
  return program_record_offset_bytes + std::uint64_t{launch.warps} * launch.recorded * 2;
}

cudaError_t launch_program(const ProgramLaunch& launch, const LaunchShape& shape,
                           cudaStream_t stream) {
  const int loads = static_cast<int>(launch.loads);
  ProgramKernel kernel = launch.recorded > 0 ? timed_program_kernel() : short_program_kernel(loads);
  if (kernel == nullptr) kernel = long_program_kernel(loads);
  if (kernel == nullptr) return cudaErrorInvalidValue;
  return launch_kernel(kernel, launch, shape, stream);
}

}  // namespace sonde::kernels
