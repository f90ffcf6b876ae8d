// Streams of reads; one warp of a block times some tiles. Hardware effect: the latency of loads
// while all others are in flight. The timed window contains its loads, the folding of their first
// words, the store of the result, and nothing else, which tests/sass checks.
#include "kernels/stream/stream_kernel.cuh"

namespace sonde::kernels {
namespace {

template <int ilp>
__global__ void __launch_bounds__(stream_max_threads(TimedReads::bytes, ilp), 1)
    timed_stream_kernel(const __grid_constant__ StreamLaunch launch) {
  run_stream<TimedReads, ilp>(launch);
}

}  // namespace

StreamKernel timed_stream(const StreamCode& code) {
  if (code.work != TimedReads::work || code.load != TimedReads::load ||
      code.element_bytes != TimedReads::bytes || code.hint != TimedReads::hint) {
    return nullptr;
  }
  return select_kernel<StreamKernel, 1, 2, 4, 8, 16>(
      code.ilp, [](auto factor) { return timed_stream_kernel<factor.value>; });
}

}  // namespace sonde::kernels
