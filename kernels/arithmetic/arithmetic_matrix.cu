// Chains of matrix operations of a warp and of operations for dynamic programming.
#include "kernels/arithmetic/arithmetic_matrix.cuh"

namespace sonde::kernels {
namespace ops {

SONDE_MATRIX_OPERATION(mma_bf16, float, "f", "m16n8k16.row.col.f32.bf16.bf16.f32");
SONDE_MATRIX_OPERATION(mma_tf32, float, "f", "m16n8k8.row.col.f32.tf32.tf32.f32");
SONDE_MATRIX_OPERATION(mma_s8, std::uint32_t, "r", "m16n8k32.row.col.s32.s8.s8.s32");

/// Accumulators in half precision.
struct mma_f16_half : Operation<Tile<std::uint32_t, 2>, Fragments<std::uint32_t, 4, 2>, 80> {
  static constexpr const char* name = "mma_f16_half";
  static __device__ __forceinline__ void step(Value& value, const Inputs& of, int) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, "
        "{%0, %1};"
        : "+r"(value.element[0]), "+r"(value.element[1])
        : "r"(of.first[0]), "r"(of.first[1]), "r"(of.first[2]), "r"(of.first[3]), "r"(of.second[0]),
          "r"(of.second[1]));
  }
};

/// Double precision, in the shape of sm_80.
struct mma_f64 : Operation<Tile<double, 2>, Fragments<double, 1, 1>, 80> {
  static constexpr const char* name = "mma_f64";
  static __device__ __forceinline__ void step(Value& value, const Inputs& of, int) {
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                 : "+d"(value.element[0]), "+d"(value.element[1])
                 : "d"(of.first[0]), "d"(of.second[0]));
  }
};

/// Double precision with twice the rows, since sm_90.
struct mma_f64_wide : Operation<Tile<double, 4>, Fragments<double, 2, 1>, 90> {
  static constexpr const char* name = "mma_f64_wide";
  static __device__ __forceinline__ void step(Value& value, const Inputs& of, int) {
    double(&c)[4] = value.element;
    asm volatile(
        "mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5}, {%6}, "
        "{%0, %1, %2, %3};"
        : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
        : "d"(of.first[0]), "d"(of.first[1]), "d"(of.second[0]));
  }
};

/// The largest of three numbers.
struct dpx_max3 : Operation<Two<int>, Operands<int>, 90> {
  static constexpr const char* name = "dpx_max3";
  static __device__ __forceinline__ void step(Value& value, const Inputs& of, int turn) {
    value = {value.last, __vimax3_s32(value.next, value.last, of.first(turn))};
  }
};

/// A sum, or a third number if that is larger.
struct dpx_add_max : Operation<Two<int>, Operands<int>, 90> {
  static constexpr const char* name = "dpx_add_max";
  static __device__ __forceinline__ void step(Value& value, const Inputs& of, int turn) {
    value = {value.last, __viaddmax_s32(value.last, of.first(turn), value.next)};
  }
};

/// The same on both halves of a word.
struct dpx_add_max_16x2 : Operation<Two<std::uint32_t>, Operands<std::uint32_t>, 90> {
  static constexpr const char* name = "dpx_add_max_16x2";
  static __device__ __forceinline__ void step(Value& value, const Inputs& of, int turn) {
    value = {value.last, __viaddmax_s16x2(value.last, of.first(turn), value.next)};
  }
};

}  // namespace ops

namespace {

using Instructions = ArithmeticRows<body_operations, ops::mma_f16, ops::mma_f16_half, ops::mma_bf16,
                                    ops::mma_tf32, ops::mma_s8, ops::mma_f64, ops::mma_f64_wide,
                                    ops::dpx_max3, ops::dpx_add_max, ops::dpx_add_max_16x2>;

}  // namespace

const ArithmeticKernel* find_matrix_arithmetic(std::string_view op, int ilp) {
  return find_in<Instructions>(op, "", ilp);
}

}  // namespace sonde::kernels
