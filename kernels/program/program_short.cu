// Programs of up to six loads in a pass; finds the kernels of the other files.
#include "kernels/program/program_kernel.cuh"

namespace sonde::kernels {

Kernel<ProgramLaunch> short_program_kernel(int loads) {
  return select_kernel<Kernel<ProgramLaunch>, 1, 2, 3, 4, 5, 6>(
      loads, [](auto count) { return program_kernel<count()>; });
}

std::uint64_t program_shared_bytes(const ProgramLaunch& launch) {
  return program_record_offset_bytes + std::uint64_t{launch.warps} * launch.recorded * 2;
}

Kernel<ProgramLaunch> find_program(const ProgramLaunch& launch) {
  if (launch.recorded > 0) return timed_program_kernel();
  const int loads = static_cast<int>(launch.loads);
  const Kernel<ProgramLaunch> kernel = short_program_kernel(loads);
  return kernel != nullptr ? kernel : long_program_kernel(loads);
}

}  // namespace sonde::kernels
