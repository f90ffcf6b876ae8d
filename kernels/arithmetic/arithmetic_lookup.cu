// Finds the kernel of an operation in all files.
#include "kernels/arithmetic/arithmetic_code.hpp"
#include "kernels/arithmetic/arithmetic_kernel.cuh"

namespace sonde::kernels {

const ArithmeticKernel* find_arithmetic(std::string_view op, std::string_view second, int ilp) {
  if (!second.empty()) return find_arithmetic_pair(op, second, ilp);
  for (auto* find : {find_integer_arithmetic, find_single_arithmetic, find_other_arithmetic,
                     find_matrix_arithmetic, find_group_arithmetic}) {
    if (const ArithmeticKernel* kernel = find(op, ilp)) return kernel;
  }
  return nullptr;
}

std::string_view arithmetic_machine_code(std::string_view op, int target) {
  for (const MachineCode& code : machine_codes) {
    if (op != code.op) continue;
    if (target == 80) return code.sm_80;
    if (target == 90) return code.sm_90;
  }
  return "";
}

cudaError_t find_arithmetic_target(int* target, const ArithmeticKernel& kernel) {
  cudaFuncAttributes attributes{};
  const cudaError_t error =
      cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(kernel.function));
  *target = attributes.binaryVersion;
  return error;
}

}  // namespace sonde::kernels
