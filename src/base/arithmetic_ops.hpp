// The arithmetic operations that are measured, with the names that metrics, probes, kernels and
// models of simulated GPUs use.
#pragma once

#include <array>
#include <string_view>

namespace sonde {

/// An operation, and how many results it gives.
struct ArithmeticOp {
  std::string_view name;
  std::string_view meaning;
  /// Results of a warp per step: one per thread (two if a word holds two numbers); the
  /// multiply-adds of a matrix.
  double per_warp = 32;
  int group_warps = 1;  // warps that execute one step together
  /// Independent chains per thread with which 32 warps keep the units busy. For half precision two
  /// units alternate, and with too few chains they lose step (H200: 108 instead of 123 words).
  int filling_chains = 4;
};

inline constexpr std::array arithmetic_ops = std::to_array<ArithmeticOp>({
    {"int_add", "addition of three 32-bit integers"},
    {"int_mul", "32-bit integer product, lower half"},
    {"int_mad", "32-bit integer multiply-add"},
    {"int_mul_high", "32-bit integer product, upper half"},
    {"int_mul24", "24-bit integer product"},
    {"int_min", "minimum of 32-bit integers"},
    {"int_logic", "any logic function of three words"},
    {"int_shift", "shift of two words"},
    {"int_compare", "comparison of integers, and a choice by it"},
    {"int_popcount", "count of the bits that are set"},
    {"int_find_first", "place of the highest bit that is set"},
    {"int_reverse", "bits in reverse order"},
    {"int_bit_field", "bit field extraction"},
    {"int_permute", "choice of four bytes of eight"},
    {"int_dot4", "dot product of four bytes, and a sum"},
    {"int64_add", "64-bit integer addition"},
    {"int64_mul", "64-bit integer product"},
    {"int_divide", "32-bit integer division"},
    {"float_add", "single precision addition"},
    {"float_mul", "single precision product"},
    {"float_fma", "single precision multiply-add"},
    {"float_min", "single precision minimum"},
    {"float_reciprocal", "approximate reciprocal"},
    {"float_rsqrt", "approximate reciprocal square root"},
    {"float_sqrt_fast", "approximate square root"},
    {"float_sin", "approximate sine"},
    {"float_cos", "approximate cosine"},
    {"float_exp2", "approximate power of two"},
    {"float_log2", "approximate logarithm to base two"},
    {"float_tanh", "approximate hyperbolic tangent"},
    {"float_divide_fast", "approximate single precision division"},
    {"float_divide", "single precision division, correctly rounded"},
    {"float_sqrt", "single precision square root, correctly rounded"},
    {"double_add", "double precision addition"},
    {"double_mul", "double precision product"},
    {"double_fma", "double precision multiply-add"},
    {"double_fma_three", "the same with three different registers, whose reads meet"},
    {"double_divide", "double precision division"},
    {"half2_add", "addition of two half precision numbers at once", 64, 1, 8},
    {"half2_mul", "product of two half precision numbers at once", 64, 1, 8},
    {"half2_fma", "multiply-add of two half precision numbers at once", 64, 1, 8},
    {"bfloat2_add", "addition of two bfloat16 numbers at once", 64, 1, 8},
    {"bfloat2_mul", "product of two bfloat16 numbers at once", 64, 1, 8},
    {"bfloat2_fma", "multiply-add of two bfloat16 numbers at once", 64, 1, 8},
    {"convert_int_float", "integer to single precision and back"},
    {"convert_float_half", "single to half precision and back"},
    {"convert_float_double", "single to double precision and back"},
    {"warp_shuffle", "exchange of words between threads of a warp"},
    {"warp_ballot", "comparison, and a vote of the warp"},
    {"warp_sum", "sum over the warp"},
    {"warp_match", "threads of the warp with the same word, which all have"},
    {"mma_f16", "16x8x16 matrix multiply-add of half precision, single precision sums", 2048},
    {"mma_f16_half", "the same with sums of half precision", 2048},
    {"mma_bf16", "16x8x16 matrix multiply-add of bfloat16, single precision sums", 2048},
    {"mma_tf32", "16x8x8 matrix multiply-add of tf32", 1024},
    {"mma_s8", "16x8x32 matrix multiply-add of bytes", 4096},
    {"mma_f64", "8x8x4 matrix multiply-add of double precision", 256},
    {"mma_f64_wide", "16x8x4 matrix multiply-add of double precision", 512},
    {"wgmma_f16", "64x128x16 matrix multiply-add of half precision by four warps", 32768, 4},
    {"wgmma_bf16", "the same of bfloat16", 32768, 4},
    {"wgmma_tf32", "64x128x8 matrix multiply-add of tf32 by four warps", 16384, 4},
    {"wgmma_fp8", "64x128x32 matrix multiply-add of 8-bit floats (e4m3) by four warps", 65536, 4},
    {"wgmma_s8", "the same of bytes", 65536, 4},
    {"dpx_max3", "largest of three integers"},
    {"dpx_add_max", "sum of two integers, or a third one if it is larger"},
    {"dpx_add_max_16x2", "the same of two 16-bit integers at once", 64},
});

/// nullptr if no operation has that name.
constexpr const ArithmeticOp* find_arithmetic_op(std::string_view name) {
  for (const ArithmeticOp& op : arithmetic_ops) {
    if (op.name == name) return &op;
  }
  return nullptr;
}

/// Operations that are swept over all numbers of warps.
inline constexpr std::array<std::string_view, 4> arithmetic_warp_sweeps{
    "int_add", "float_fma", "float_rsqrt", "double_fma"};
/// Operations that are swept over numbers of chains.
inline constexpr std::array<std::string_view, 2> arithmetic_ilp_sweeps{"float_fma", "int_mad"};
/// Operations whose latency is stored for each SM.
inline constexpr std::array<std::string_view, 2> arithmetic_sm_maps{"int_add", "float_fma"};

/// Two operations that run side by side, to see whether their units work at the same time.
struct ArithmeticPair {
  std::string_view first;
  std::string_view second;
  std::string_view name;  // as part of a metric's name
  std::string_view meaning;
};

inline constexpr std::array arithmetic_pairs = std::to_array<ArithmeticPair>({
    {"float_fma", "float_mul", "float_fma_with_float_mul",
     "single precision multiply-add and product"},
    {"float_fma", "int_mad", "float_fma_with_int_mad",
     "multiply-add of single precision and of integers"},
    {"float_fma", "int_add", "float_fma_with_int_add",
     "single precision multiply-add and integer addition"},
    {"float_fma", "int_logic", "float_fma_with_int_logic",
     "single precision multiply-add and logic function"},
    {"float_fma", "float_rsqrt", "float_fma_with_float_rsqrt",
     "single precision multiply-add and reciprocal square root"},
    {"float_fma", "half2_fma", "float_fma_with_half2_fma",
     "multiply-add of single and of half precision"},
    {"float_fma", "double_fma", "float_fma_with_double_fma",
     "multiply-add of single and of double precision"},
    {"float_fma", "mma_f16", "float_fma_with_mma_f16",
     "single precision multiply-add and matrices of half precision"},
    {"int_add", "int_logic", "int_add_with_int_logic", "integer addition and logic function"},
});

}  // namespace sonde
