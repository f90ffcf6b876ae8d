// The chase kernels that chase.cu does not hold: each space that is not global memory has its file.
#pragma once

#include "kernels/chase.hpp"

namespace sonde::kernels {

/// The kernel of that order, of timed windows or amortised; null if there is none.
using ChaseKernel = void (*)(ChaseLaunch);
ChaseKernel constant_kernel(Order order, bool timed);
ChaseKernel texture_1d_kernel(Order order, bool timed);
ChaseKernel texture_2d_kernel(Order order, bool timed);

}  // namespace sonde::kernels
