// Matrix operations of a warp (mma.sync) for the kernels of arithmetic_kernel.cuh: a chain always
// adds to the same accumulators.
#pragma once

#include "kernels/arithmetic/arithmetic_kernel.cuh"

// Four accumulators, four words of the first matrix and two of the second (PTX ISA, matrix
// fragments for mma).
#define SONDE_MATRIX_OPERATION(operation, number, constraint, shape)                         \
  struct operation : Operation<Tile<number, 4>, Fragments<std::uint32_t, 4, 2>, 80> {        \
    static constexpr const char* name = #operation;                                          \
    static __device__ __forceinline__ void step(Value& value, const Inputs& of, int) {       \
      number(&c)[4] = value.element;                                                         \
      asm volatile("mma.sync.aligned." shape                                                 \
                   " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"        \
                   : "+" constraint(c[0]), "+" constraint(c[1]), "+" constraint(c[2]),       \
                     "+" constraint(c[3])                                                    \
                   : "r"(of.first[0]), "r"(of.first[1]), "r"(of.first[2]), "r"(of.first[3]), \
                     "r"(of.second[0]), "r"(of.second[1]));                                  \
    }                                                                                        \
  }

namespace sonde::kernels::ops {

SONDE_MATRIX_OPERATION(mma_f16, float, "f", "m16n8k16.row.col.f32.f16.f16.f32");

}  // namespace sonde::kernels::ops
