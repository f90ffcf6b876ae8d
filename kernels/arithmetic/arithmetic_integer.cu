// Chains of integer operations, including products and multiply-adds.
#include "kernels/arithmetic/arithmetic_kernel.cuh"
#include "kernels/arithmetic/arithmetic_ops.cuh"

namespace sonde::kernels {
namespace ops {

SONDE_OPERATION_ON_TWO(int_mul, u32, "r", 0, "mul.lo.u32 %0, %0, %1;");
SONDE_OPERATION(int_mul_high, u32, "r", 0, "mul.hi.u32 %0, %0, %1;");
SONDE_OPERATION(int_mul24, u32, "r", 0, "mul24.lo.u32 %0, %0, %1;");
SONDE_OPERATION_ON_TWO(int_min, u32, "r", 0, "min.s32 %0, %0, %1;");
SONDE_OPERATION(int_shift, u32, "r", 0, "shf.l.wrap.b32 %0, %0, %1, %2;");
SONDE_OPERATION(int_compare, u32, "r", 0,
                "{.reg .pred less; setp.lt.s32 less, %0, %1; selp.b32 %0, %1, %2, less;}");
SONDE_OPERATION(int_popcount, u32, "r", 0, "popc.b32 %0, %0;");
SONDE_OPERATION(int_find_first, u32, "r", 0, "bfind.u32 %0, %0;");
SONDE_OPERATION(int_reverse, u32, "r", 0, "brev.b32 %0, %0;");
SONDE_OPERATION(int_bit_field, u32, "r", 0, "bfe.u32 %0, %0, %1, %2;");
SONDE_OPERATION(int_permute, u32, "r", 0, "prmt.b32 %0, %0, %1, %2;");
SONDE_OPERATION(int_dot4, u32, "r", 61, "dp4a.u32.u32 %0, %1, %2, %0;");
SONDE_OPERATION_ON_TWO(int64_add, u64, "l", 0, "add.u64 %0, %0, %1;");
SONDE_OPERATION(int64_mul, u64, "l", 0, "mul.lo.u64 %0, %0, %1;");
SONDE_OPERATION(int_divide, u32, "r", 0, "div.u32 %0, %3, %0;");

}  // namespace ops

namespace {

using Instructions =
    ArithmeticRows<body_operations, ops::int_add, ops::int_mul, ops::int_mul_high, ops::int_mul24,
                   ops::int_min, ops::int_logic, ops::int_shift, ops::int_compare,
                   ops::int_popcount, ops::int_find_first, ops::int_reverse, ops::int_bit_field,
                   ops::int_permute, ops::int_dot4, ops::int64_add>;
using Sequences = ArithmeticRows<body_sequences, ops::int64_mul, ops::int_divide>;
using Products = ArithmeticSweep<body_operations, ops::int_mad>;

}  // namespace

const ArithmeticKernel* find_integer_arithmetic(std::string_view op, int ilp) {
  return find_in<Instructions, Sequences, Products>(op, "", ilp);
}

}  // namespace sonde::kernels
