// Streams by plain loads and stores; finds the kernels of the other files. Hardware effect: the
// throughput of the memory behind a load path for many independent accesses.
#include "kernels/stream/stream_kernel.cuh"

namespace sonde::kernels {
namespace {

template <StreamWork work, Load load, int bytes, int ilp>
__global__ void __launch_bounds__(stream_max_threads(bytes, ilp), 1)
    stream_kernel(const __grid_constant__ StreamLaunch launch) {
  run_stream<Access<work, load, bytes>, ilp>(launch);
}

template <StreamWork work, int bytes, int ilp>
StreamKernel kernel_of(Load load) {
  if (load == Load::cg) return stream_kernel<work, Load::cg, bytes, ilp>;
  return load == Load::ca ? stream_kernel<work, Load::ca, bytes, ilp> : nullptr;
}

template <int bytes, int ilp>
StreamKernel kernel_of(StreamWork work, Load load) {
  switch (work) {
    case StreamWork::read: return kernel_of<StreamWork::read, bytes, ilp>(load);
    case StreamWork::copy: return kernel_of<StreamWork::copy, bytes, ilp>(load);
    // Writes do not load: one kernel serves all load paths.
    case StreamWork::write: return stream_kernel<StreamWork::write, Load::ca, bytes, ilp>;
    case StreamWork::add: break;
  }
  return nullptr;
}

StreamKernel plain_stream(const StreamCode& code) {
  return select_kernel<StreamKernel, 4, 8, 16>(code.element_bytes, [&](auto bytes) {
    return select_kernel<StreamKernel, 1, 2, 4, 8, 16>(code.ilp, [&](auto factor) {
      return kernel_of<bytes.value, factor.value>(code.work, code.load);
    });
  });
}

}  // namespace

StreamKernel find_stream(const StreamCode& code) {
  if (code.has_groups) return grouped_stream(code);
  if (code.work == StreamWork::add) return adding_stream(code);
  if (code.engine == StreamEngine::bulk) return bulk_stream(code.work);
  if (code.times_tiles) return timed_stream(code);
  return code.hint == StreamHint::none ? plain_stream(code) : hinted_stream(code);
}

}  // namespace sonde::kernels
