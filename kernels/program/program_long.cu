// Programs of seven and more loads in a pass.
#include "kernels/program/program_kernel.cuh"

namespace sonde::kernels {

Kernel<ProgramLaunch> long_program_kernel(int loads) {
  return select_kernel<Kernel<ProgramLaunch>, 7, 8, 9, 10, 11, 12>(
      loads, [](auto count) { return program_kernel<count()>; });
}

}  // namespace sonde::kernels
