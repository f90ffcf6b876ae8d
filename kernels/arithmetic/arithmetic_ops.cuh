// Operations with kernels in more than one file: alone, and side by side with another operation.
#pragma once

#include "kernels/arithmetic/arithmetic_kernel.cuh"

namespace sonde::kernels::ops {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

// Has a second operand; else ptxas makes it an IMAD.IADD, which other units execute.
SONDE_OPERATION_ON_TWO(int_add, u32, "r", 0,
                       "{.reg .u32 sum; add.u32 sum, %0, %1; add.u32 %0, sum, %2;}");
// Two registers only: three different ones conflict at the register ports and delay operations
// beside others (H200: double_fma 64 and 54.7 results per cycle; pairs of float_fma and int_mad 126
// and 76).
SONDE_OPERATION(int_mad, u32, "r", 0, "mad.lo.u32 %0, %0, %1, %1;");
SONDE_OPERATION_ON_TWO(int_logic, u32, "r", 0, "lop3.b32 %0, %0, %1, %2, 0x6a;");
SONDE_OPERATION(float_mul, float, "f", 0, "mul.rn.f32 %0, %0, %1;");
SONDE_OPERATION(float_fma, float, "f", 0, "fma.rn.f32 %0, %0, %1, %1;");
SONDE_OPERATION(float_rsqrt, float, "f", 0, "rsqrt.approx.ftz.f32 %0, %0;");
SONDE_OPERATION(double_fma, double, "d", 0, "fma.rn.f64 %0, %0, %1, %1;");
SONDE_OPERATION(half2_fma, u32, "r", 53, "fma.rn.f16x2 %0, %0, %1, %1;");

}  // namespace sonde::kernels::ops
