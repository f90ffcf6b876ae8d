// Chases through code. Hardware effect: the time to fetch a block of 128 bytes of instructions. An
// access calls the block, which adds 1 seven times and returns; the timed window contains call,
// block and return. Sources of error: the caller's own code (about 600 bytes) and other code on the
// SM use the same caches. The order is in shared memory, and the address is computed before the
// timed window, so that no table is read inside. A fence does not empty instruction caches:
// executed code stays until other code evicts it.
#include "kernels/chase/chase.hpp"
#include "kernels/chase/chase_kernel.cuh"

#include <utility>

namespace sonde::kernels {
namespace {

using CodeBlock = float (*)(float);

/// Seven additions, which ptxas must not merge, and a return: 8 instructions of 16 bytes.
template <int>
__device__ __noinline__ float code_block(float count) {
  asm volatile(
      "add.rn.f32 %0, %0, 0f3F800000;\n"
      "add.rn.f32 %0, %0, 0f3F800000;\n"
      "add.rn.f32 %0, %0, 0f3F800000;\n"
      "add.rn.f32 %0, %0, 0f3F800000;\n"
      "add.rn.f32 %0, %0, 0f3F800000;\n"
      "add.rn.f32 %0, %0, 0f3F800000;\n"
      "add.rn.f32 %0, %0, 0f3F800000;\n"
      : "+f"(count));
  return count;
}

struct CodeTable {
  CodeBlock at[code_blocks];
};

template <int... index>
constexpr CodeTable make_table(std::integer_sequence<int, index...>) {
  return {{code_block<index>...}};
}

__device__ CodeTable code_table = make_table(std::make_integer_sequence<int, code_blocks>{});

/// The functions follow the kernel without gaps; these instructions make its length a multiple of a
/// line. Counted in the machine code of nvcc 13.0 for each target; other compilers may need other
/// numbers (tests/sass). If functions do not begin at a line, accesses still do.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ == 900
constexpr int padding_instructions = 2;
#elif __CUDA_ARCH__ < 800
constexpr int padding_instructions = 1;
#elif __CUDA_ARCH__ == 800
constexpr int padding_instructions = 5;
#elif __CUDA_ARCH__ >= 1000
constexpr int padding_instructions = 4;
#else
constexpr int padding_instructions = 7;
#endif

class CodeChase {
 public:
  struct Source {
    explicit __device__ Source(const ChaseLaunch&) {}
  };
  __device__ CodeChase(const Source&, const ChaseTask& task, std::uint32_t script,
                       std::uint32_t unit)
      : script_(script, task.script_length), base_(task.start), unit_(unit) {}
  __device__ __forceinline__ void prepare() {
    address_ = AddressPlaces::at(base_, script_.next(), unit_, 0);
  }
  __device__ __forceinline__ void make_ready() {}
  __device__ __forceinline__ void step() { count_ = reinterpret_cast<CodeBlock>(address_)(count_); }
  __device__ __forceinline__ void access(std::uint32_t) { step(); }
  __device__ __forceinline__ void settle(std::uint32_t sink) {
    store_shared_u32(sink, __float_as_uint(count_));
  }
  /// Number of executed additions, as far as a float can count.
  __device__ std::uint64_t final_value() const {
    float count = count_;
#pragma unroll
    for (int i = 0; i < padding_instructions; ++i) {
      asm volatile("add.rn.f32 %0, %0, 0f00000000;" : "+f"(count));
    }
    return static_cast<std::uint64_t>(count);
  }

 private:
  Script script_;
  std::uint64_t base_;
  std::uint64_t address_ = 0;
  std::uint32_t unit_;
  float count_ = 0;
};

}  // namespace

cudaError_t read_code_addresses(std::uint64_t* addresses) {
  static_assert(sizeof(CodeTable) == code_blocks * sizeof(std::uint64_t));
  return cudaMemcpyFromSymbol(addresses, code_table, sizeof(CodeTable));
}

const Kernel<ChaseLaunch> code_chase = chase_kernel<CodeChase, true>;

}  // namespace sonde::kernels
