// Chains of double and half precision, of conversions and back, and of operations within a warp.
#include "kernels/arithmetic/arithmetic_kernel.cuh"
#include "kernels/arithmetic/arithmetic_ops.cuh"

namespace sonde::kernels {
namespace ops {

SONDE_OPERATION(double_add, double, "d", 0, "add.rn.f64 %0, %0, %1;");
SONDE_OPERATION(double_mul, double, "d", 0, "mul.rn.f64 %0, %0, %1;");
SONDE_OPERATION(double_fma_three, double, "d", 0, "fma.rn.f64 %0, %0, %1, %2;");
SONDE_OPERATION(double_divide, double, "d", 0, "div.rn.f64 %0, %3, %0;");

// Two numbers in a word; their values do not matter.
SONDE_OPERATION(half2_add, u32, "r", 53, "add.rn.f16x2 %0, %0, %1;");
SONDE_OPERATION(half2_mul, u32, "r", 53, "mul.rn.f16x2 %0, %0, %1;");
SONDE_OPERATION(bfloat2_add, u32, "r", 90, "add.rn.bf16x2 %0, %0, %1;");
SONDE_OPERATION(bfloat2_mul, u32, "r", 90, "mul.rn.bf16x2 %0, %0, %1;");
SONDE_OPERATION(bfloat2_fma, u32, "r", 80, "fma.rn.bf16x2 %0, %0, %1, %1;");

SONDE_OPERATION(convert_int_float, u32, "r", 0,
                "{.reg .f32 there; cvt.rn.f32.s32 there, %0; cvt.rzi.s32.f32 %0, there;}");
// The other half has an operand; else ptxas converts two chains at once.
SONDE_OPERATION(convert_float_half, float, "f", 80,
                "{.reg .b32 both; .reg .f16 low, high; cvt.rn.f16x2.f32 both, %0, %1;"
                " mov.b32 {low, high}, both; cvt.f32.f16 %0, high;}");
SONDE_OPERATION(convert_float_double, float, "f", 0,
                "{.reg .f64 there; cvt.f64.f32 there, %0; cvt.rn.f32.f64 %0, there;}");

// All threads have the same word, for which a match is fastest.
SONDE_OPERATION(warp_shuffle, u32, "r", 30, "shfl.sync.bfly.b32 %0, %0, 1, 31, 0xffffffff;");
SONDE_OPERATION(warp_ballot, u32, "r", 30,
                "{.reg .pred other; setp.ne.u32 other, %0, %1;"
                " vote.sync.ballot.b32 %0, other, 0xffffffff;}");
SONDE_OPERATION(warp_sum, u32, "r", 80, "redux.sync.add.s32 %0, %0, 0xffffffff;");
SONDE_OPERATION(warp_match, u32, "r", 70, "match.any.sync.b32 %0, %0, 0xffffffff;");

}  // namespace ops

namespace {

using Instructions =
    ArithmeticRows<body_operations, ops::double_add, ops::double_mul, ops::double_fma,
                   ops::double_fma_three, ops::convert_int_float, ops::convert_float_half,
                   ops::convert_float_double, ops::warp_shuffle, ops::warp_ballot, ops::warp_sum,
                   ops::warp_match>;
template <class Op>
using Sweep = ArithmeticSweep<body_operations, Op>;
using Sequences = ArithmeticRows<body_sequences, ops::double_divide>;

}  // namespace

const ArithmeticKernel* find_other_arithmetic(std::string_view op, int ilp) {
  return find_in<Instructions, Sequences, Sweep<ops::half2_add>, Sweep<ops::half2_mul>,
                 Sweep<ops::half2_fma>, Sweep<ops::bfloat2_add>, Sweep<ops::bfloat2_mul>,
                 Sweep<ops::bfloat2_fma>>(op, "", ilp);
}

}  // namespace sonde::kernels
