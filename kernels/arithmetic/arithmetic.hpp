// Arithmetic: chains of one operation, or of two side by side, on as many warps as asked. Plain
// C++: the CUDA backend fills these structs and looks up the kernel.
#pragma once

#include "kernels/placement.hpp"

#include <cuda_runtime_api.h>

#include <cstdint>
#include <string_view>

namespace sonde::kernels {

inline constexpr unsigned arithmetic_most_warps = 32;  // of a block, one on each SM
/// Shared memory of a block: times of its warps, a sink for each thread, its SM and rank.
inline constexpr unsigned arithmetic_shared_bytes = arithmetic_most_warps * (2 * 8 + 32 * 4) + 8;

struct ArithmeticLaunch {
  Placement placement;
  LaneResult* results = nullptr;  // [rank]
  std::uint32_t rounds = 1;       // of the loop whose body holds the steps
  std::uint32_t passes = 2;       // a rehearsal and the measurement; not known to the compiler
  // Operands, not known to the compiler. The powers of two keep chains of single and double
  // precision among normal numbers: slow ways for others would be another measurement.
  float operand_a = 2;
  float operand_b = 0.5F;
  std::uint32_t word_a = 0x9e3779b9;  // any odd word with many bits set
  std::uint32_t word_b = 7;
};

/// One kernel: `ilp` chains in each thread, `body_steps` steps of each in a round.
struct ArithmeticKernel {
  const char* op = "";
  const char* second = "";  // the operation at its side; empty: none
  int ilp = 1;
  std::uint32_t body_steps = 1;
  int least_capability = 0;  // 10 x major + minor; it is empty for targets below
  bool this_alone = false;   // it was compiled for that target and no other
  unsigned most_warps = arithmetic_most_warps;
  unsigned shared_bytes = arithmetic_shared_bytes;
  Kernel<ArithmeticLaunch> function = nullptr;
};

/// nullptr if there is none
const ArithmeticKernel* find_arithmetic(std::string_view op, std::string_view second, int ilp);

/// What a step of an operation is in machine code for this target (10 x major + minor), as
/// "FMUL.RZ, MUFU.SIN"; empty if it is not known. tests/sass compares it with the kernels.
std::string_view arithmetic_machine_code(std::string_view op, int target);

/// The target (as above) of the machine code that runs on this device.
cudaError_t find_arithmetic_target(int* target, const ArithmeticKernel& kernel);

}  // namespace sonde::kernels
