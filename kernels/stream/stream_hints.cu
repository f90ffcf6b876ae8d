// Streams whose loads and stores have cache hints. Hardware effect: how a cache treats data that
// are not used again. The hint must be in the machine code, which tests/sass checks.
#include "kernels/stream/stream_kernel.cuh"

namespace sonde::kernels {
namespace {

constexpr int hinted_bytes = 16;

template <StreamWork work, StreamHint hint, int ilp>
__global__ void __launch_bounds__(stream_max_threads(hinted_bytes, ilp), 1)
    hinted_stream_kernel(const __grid_constant__ StreamLaunch launch) {
  run_stream<Access<work, Load::ca, hinted_bytes, hint>, ilp>(launch);
}

template <StreamWork work, int ilp>
StreamKernel kernel_of(StreamHint hint) {
  if (hint == StreamHint::evict_first) {
    return hinted_stream_kernel<work, StreamHint::evict_first, ilp>;
  }
  if constexpr (work != StreamWork::write) {
    if (hint == StreamHint::no_allocate) {
      return hinted_stream_kernel<work, StreamHint::no_allocate, ilp>;
    }
  }
  if constexpr (work != StreamWork::read) {
    if (hint == StreamHint::write_through) {
      return hinted_stream_kernel<work, StreamHint::write_through, ilp>;
    }
  }
  return nullptr;
}

template <int ilp>
StreamKernel kernel_of(StreamWork work, StreamHint hint) {
  switch (work) {
    case StreamWork::read: return kernel_of<StreamWork::read, ilp>(hint);
    case StreamWork::write: return kernel_of<StreamWork::write, ilp>(hint);
    case StreamWork::copy: return kernel_of<StreamWork::copy, ilp>(hint);
    case StreamWork::add: break;
  }
  return nullptr;
}

}  // namespace

StreamKernel hinted_stream(const StreamCode& code) {
  if (code.element_bytes != hinted_bytes || code.load != Load::ca) return nullptr;
  return select_kernel<StreamKernel, 1, 2, 4, 8, 16>(
      code.ilp, [&](auto factor) { return kernel_of<factor.value>(code.work, code.hint); });
}

}  // namespace sonde::kernels
