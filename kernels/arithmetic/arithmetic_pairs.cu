// Chains of two operations side by side: do their units work at the same time?
#include "kernels/arithmetic/arithmetic_kernel.cuh"
#include "kernels/arithmetic/arithmetic_matrix.cuh"
#include "kernels/arithmetic/arithmetic_ops.cuh"

namespace sonde::kernels {
namespace {

/// Four chains of each operation.
template <class First, class Second>
constexpr ArithmeticKernel pair_row() {
  return arithmetic_row<Pair<First, Second>, 4, body_operations / 8>();
}

struct Pairs {
  static constexpr ArithmeticKernel rows[] = {
      pair_row<ops::float_fma, ops::int_add>(),     pair_row<ops::float_fma, ops::int_mad>(),
      pair_row<ops::float_fma, ops::int_logic>(),   pair_row<ops::float_fma, ops::float_mul>(),
      pair_row<ops::float_fma, ops::float_rsqrt>(), pair_row<ops::float_fma, ops::double_fma>(),
      pair_row<ops::float_fma, ops::half2_fma>(),   pair_row<ops::float_fma, ops::mma_f16>(),
      pair_row<ops::int_add, ops::int_logic>(),
  };
};

}  // namespace

const ArithmeticKernel* find_arithmetic_pair(std::string_view op, std::string_view second,
                                             int ilp) {
  return find_in<Pairs>(op, second, ilp);
}

}  // namespace sonde::kernels
