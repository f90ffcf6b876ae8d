// Programs whose loads are timed one by one.
#include "kernels/program/program_kernel.cuh"

namespace sonde::kernels {

Kernel<ProgramLaunch> timed_program_kernel() { return program_kernel<timed_loads>; }

}  // namespace sonde::kernels
