// Arithmetic: chains of one operation, or of two side by side, on any number of warps. Plain C++:
// the CUDA backend fills these structs and finds the kernel.
#pragma once

#include "kernels/placement.hpp"

#include <cuda_runtime_api.h>

#include <cstdint>
#include <string_view>

namespace sonde::kernels {

inline constexpr unsigned arithmetic_most_warps = 32;  // of a block; one block on each SM
/// Shared memory of a block: times of its warps, a sink for each thread, its SM and its rank.
inline constexpr unsigned arithmetic_shared_bytes = arithmetic_most_warps * (2 * 8 + 32 * 4) + 8;

struct ArithmeticLaunch {
  Placement placement;
  LaneResult* results = nullptr;  // [rank]
  std::uint32_t rounds = 1;       // of the loop that contains the steps
  std::uint32_t passes = 2;       // a rehearsal and the measurement; unknown to the compiler
  // Operands, unknown to the compiler. With powers of two, chains of single and double precision
  // stay among normal numbers: other numbers may take slow paths.
  float operand_a = 2;
  float operand_b = 0.5F;
  std::uint32_t word_a = 0x9e3779b9;  // any odd word with many bits set
  std::uint32_t word_b = 7;
};

/// One kernel: `ilp` chains in each thread; a round makes `body_steps` steps of each chain.
struct ArithmeticKernel {
  const char* op = "";
  const char* second = "";  // the operation beside it; empty: none
  int ilp = 1;
  std::uint32_t body_steps = 1;
  int least_capability = 0;  // 10 x major + minor; for lower targets the kernel is empty
  bool this_alone = false;   // compiled only for this target
  unsigned most_warps = arithmetic_most_warps;
  unsigned shared_bytes = arithmetic_shared_bytes;
  Kernel<ArithmeticLaunch> function = nullptr;
};

/// nullptr if there is no such kernel.
const ArithmeticKernel* find_arithmetic(std::string_view op, std::string_view second, int ilp);

/// The machine code of a step on this target (10 x major + minor), such as "FMUL.RZ, MUFU.SIN";
/// empty if unknown. tests/sass compares it with the kernels.
std::string_view arithmetic_machine_code(std::string_view op, int target);

/// The target (as above) of the machine code that runs on this device.
cudaError_t find_arithmetic_target(int* target, const ArithmeticKernel& kernel);

}  // namespace sonde::kernels
