// Chains of single precision: multipliers, special function units, and sequences of both.
#include "kernels/arithmetic/arithmetic_kernel.cuh"
#include "kernels/arithmetic/arithmetic_ops.cuh"

namespace sonde::kernels {
namespace ops {

SONDE_OPERATION(float_add, float, "f", 0, "add.rn.f32 %0, %0, %1;");
SONDE_OPERATION_ON_TWO(float_min, float, "f", 0, "min.f32 %0, %0, %1;");
// Drops the sign; else ptxas removes two reciprocals in a row.
SONDE_OPERATION(float_reciprocal, float, "f", 0,
                "{.reg .f32 size; abs.f32 size, %0; rcp.approx.ftz.f32 %0, size;}");
SONDE_OPERATION(float_sqrt_fast, float, "f", 0, "sqrt.approx.ftz.f32 %0, %0;");
SONDE_OPERATION(float_sin, float, "f", 0, "sin.approx.ftz.f32 %0, %0;");
SONDE_OPERATION(float_cos, float, "f", 0, "cos.approx.ftz.f32 %0, %0;");
SONDE_OPERATION(float_exp2, float, "f", 0, "ex2.approx.ftz.f32 %0, %0;");
SONDE_OPERATION(float_log2, float, "f", 0, "lg2.approx.ftz.f32 %0, %0;");
SONDE_OPERATION(float_tanh, float, "f", 75, "tanh.approx.f32 %0, %0;");
// Alternates between a number and the operand divided by it: both stay normal numbers.
SONDE_OPERATION(float_divide_fast, float, "f", 0, "div.approx.ftz.f32 %0, %3, %0;");
SONDE_OPERATION(float_divide, float, "f", 0, "div.rn.f32 %0, %3, %0;");
SONDE_OPERATION(float_sqrt, float, "f", 0, "sqrt.rn.f32 %0, %0;");

}  // namespace ops

namespace {

using Instructions = ArithmeticRows<body_operations, ops::float_add, ops::float_mul, ops::float_min,
                                    ops::float_reciprocal, ops::float_rsqrt, ops::float_sqrt_fast,
                                    ops::float_sin, ops::float_cos, ops::float_exp2,
                                    ops::float_log2, ops::float_tanh, ops::float_divide_fast>;
using Sequences = ArithmeticRows<body_sequences, ops::float_divide, ops::float_sqrt>;
using Products = ArithmeticSweep<body_operations, ops::float_fma>;

}  // namespace

const ArithmeticKernel* find_single_arithmetic(std::string_view op, int ilp) {
  return find_in<Instructions, Sequences, Products>(op, "", ilp);
}

}  // namespace sonde::kernels
