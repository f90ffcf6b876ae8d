// Streams of reductions. Hardware effect: the rate of additions in the L2, to separate lines and to
// one common line. They must be reductions without an answer, which tests/sass checks.
#include "kernels/stream/stream_kernel.cuh"

namespace sonde::kernels {
namespace {

constexpr int word_bytes = 4;

template <int ilp>
__global__ void __launch_bounds__(stream_max_threads(word_bytes, ilp), 1)
    adding_stream_kernel(const __grid_constant__ StreamLaunch launch) {
  run_stream<Access<StreamWork::add, Load::ca, word_bytes>, ilp>(launch);
}

}  // namespace

StreamKernel adding_stream(const StreamCode& code) {
  if (code.element_bytes != word_bytes) return nullptr;
  return select_kernel<StreamKernel, 1, 2, 4, 8, 16>(
      code.ilp, [](auto factor) { return adding_stream_kernel<factor.value>; });
}

}  // namespace sonde::kernels
