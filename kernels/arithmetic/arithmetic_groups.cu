// Chains of matrix operations of a group of four warps (wgmma), both matrices in shared memory.
// They exist only for sm_90a; this file is compiled for that target alone.
#include "kernels/arithmetic/arithmetic_kernel.cuh"

namespace sonde::kernels {

constexpr unsigned group_accumulators = 64;  // of a thread; the group has 64 x 128
constexpr unsigned group_row_bytes = 32;     // of each matrix, in one step
constexpr unsigned first_bytes = 64 * group_row_bytes;
constexpr unsigned second_bytes = 128 * group_row_bytes;
constexpr unsigned matrices_offset_bytes = (arithmetic_shared_bytes + 127) / 128 * 128;

/// Matrix descriptor (PTX ISA): the matrix lies in cores of 8 rows of 16 bytes, one after the
/// other, the two cores of the same 8 rows side by side; no swizzling.
__device__ inline std::uint64_t describe_matrix(std::uint32_t address) {
  constexpr std::uint64_t core_bytes = 128;
  return (address & 0x3ffff) >> 4 | core_bytes >> 4 << 16 | 2 * core_bytes >> 4 << 32;
}

/// Chains of one operation, like Chain.
template <class Op>
class GroupChain {
 public:
  static constexpr int least_capability = 90;
  static constexpr bool this_alone = true;
  static constexpr unsigned most_warps = 8;  // more have too few registers
  static constexpr unsigned shared_bytes = matrices_offset_bytes + first_bytes + second_bytes;
  static constexpr const char* op = Op::name;
  static constexpr const char* second = "";

  __device__ void start(const ArithmeticLaunch&, unsigned) {
    extern __shared__ __align__(128) unsigned char shared[];
    const std::uint32_t matrices = shared_address(shared) + matrices_offset_bytes;
    for (unsigned at = threadIdx.x * 4; at < first_bytes + second_bytes; at += blockDim.x * 4) {
      store_shared_u32(matrices + at, 0);
    }
    asm volatile("fence.proxy.async;" ::: "memory");  // makes stores of threads visible to wgmma
    first_ = describe_matrix(matrices);
    second_ = describe_matrix(matrices + first_bytes);
    for (auto& one : value_) one = 0;
  }
  __device__ __forceinline__ void begin_round() {
    hold_accumulators();
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  }
  __device__ __forceinline__ void step(int) { Op::step(value_, first_, second_); }
  __device__ __forceinline__ void end_round() {
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    hold_accumulators();
  }
  __device__ std::uint32_t result() const {
    std::uint32_t all = 0;
    for (const auto& one : value_) all ^= bits(one);
    return all;
  }

 private:
  /// Running operations read and write the accumulators: the compiler must not move them.
  __device__ __forceinline__ void hold_accumulators() {
    for (auto& one : value_) Op::hold(one);
  }

  typename Op::Number value_[group_accumulators];
  std::uint64_t first_;
  std::uint64_t second_;
};

#define SONDE_4(constraint, d, i) \
  "+" constraint(d[i]), "+" constraint(d[i + 1]), "+" constraint(d[i + 2]), "+" constraint(d[i + 3])
#define SONDE_16(constraint, d, i)                                                         \
  SONDE_4(constraint, d, i), SONDE_4(constraint, d, i + 4), SONDE_4(constraint, d, i + 8), \
      SONDE_4(constraint, d, i + 12)

#define SONDE_GROUP_OPERATION(operation, number, constraint, shape, tail)                          \
  struct operation {                                                                               \
    using Number = number;                                                                         \
    static constexpr const char* name = #operation;                                                \
    static __device__ __forceinline__ void hold(number& one) {                                     \
      asm volatile("" : "+" constraint(one)::"memory");                                            \
    }                                                                                              \
    static __device__ __forceinline__ void step(number (&d)[group_accumulators],                   \
                                                std::uint64_t first, std::uint64_t second) {       \
      asm volatile(                                                                                \
          "{.reg .pred add; setp.ne.b32 add, 1, 0; wgmma.mma_async.sync.aligned." shape            \
          " {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18," \
          " %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35,"  \
          " %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52,"  \
          " %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, %64, %65, add" tail ";}"       \
          : SONDE_16(constraint, d, 0), SONDE_16(constraint, d, 16), SONDE_16(constraint, d, 32),  \
            SONDE_16(constraint, d, 48)                                                            \
          : "l"(first), "l"(second));                                                              \
    }                                                                                              \
  }

namespace ops {

SONDE_GROUP_OPERATION(wgmma_f16, float, "f", "m64n128k16.f32.f16.f16", ", 1, 1, 0, 0");
SONDE_GROUP_OPERATION(wgmma_bf16, float, "f", "m64n128k16.f32.bf16.bf16", ", 1, 1, 0, 0");
SONDE_GROUP_OPERATION(wgmma_tf32, float, "f", "m64n128k8.f32.tf32.tf32", ", 1, 1");
SONDE_GROUP_OPERATION(wgmma_fp8, float, "f", "m64n128k32.f32.e4m3.e4m3", ", 1, 1");
SONDE_GROUP_OPERATION(wgmma_s8, std::uint32_t, "r", "m64n128k32.s32.s8.s8", "");

}  // namespace ops

namespace {

template <class... Ops>
struct Groups {
  static constexpr ArithmeticKernel rows[sizeof...(Ops)] = {
      arithmetic_row<GroupChain<Ops>, 1, body_sequences>()...};
};

}  // namespace

const ArithmeticKernel* find_group_arithmetic(std::string_view op, int ilp) {
  return find_in<
      Groups<ops::wgmma_f16, ops::wgmma_bf16, ops::wgmma_tf32, ops::wgmma_fp8, ops::wgmma_s8>>(
      op, "", ilp);
}

}  // namespace sonde::kernels
