// Streams of constants. Hardware effect: the rate at which constant caches serve LDC with register
// addresses. A thread's loads are independent: it computes the addresses of a row first, and uses
// no value before all loads of the row are issued. Sources of error: kernel parameters are
// constants, too, so the loop must read none and contain one row (checked in SASS); loads that the
// compiler removes (each is part of a sum that the host checks).
#include "kernels/chase/chase.hpp"
#include "kernels/chase/constant_stream.hpp"
#include "kernels/placement.cuh"

namespace sonde::kernels {
namespace {

__constant__ __align__(256) unsigned char constant_stream_bank[bank_bytes];

/// Rows between two checks of the deadline: at most a few milliseconds.
constexpr std::uint32_t chunk_rows = 1024;

/// Goes round and round a thread's piece of the bank.
class PieceReader {
 public:
  __device__ PieceReader(const ConstantRoute& route, std::uint32_t block, std::uint32_t thread)
      : step_bytes_(__ldcg(&route.step_bytes)),
        piece_bytes_(__ldcg(&route.piece_bytes)),
        at_bytes_(__ldcg(&route.start_bytes[block])) {
    base_ = static_cast<std::uint32_t>(__cvta_generic_to_constant(constant_stream_bank)) +
            thread * piece_bytes_;
  }

  __device__ __forceinline__ void read_row() {
    std::uint32_t places[constant_ilp];
    std::uint32_t values[constant_ilp];
#pragma unroll
    for (unsigned j = 0; j < constant_ilp; ++j) {
      places[j] = base_ + at_bytes_;
      // Beyond the end the difference is smaller; before the end it wraps around.
      const std::uint32_t next_bytes = at_bytes_ + step_bytes_;
      at_bytes_ = min(next_bytes, next_bytes - piece_bytes_);
    }
#pragma unroll
    for (unsigned j = 0; j < constant_ilp; ++j) {
      asm volatile("ld.const.u32 %0, [%1];"
                   : "=r"(values[j])
                   : "l"(std::uint64_t{places[j]})
                   : "memory");
    }
    // Adds the last value first: no addition can start, and stall the warp, before the last load.
#pragma unroll
    for (unsigned j = constant_ilp; j-- > 0;) {
      asm volatile("add.u32 %0, %0, %1;" : "+r"(sum_) : "r"(values[j]));
    }
  }

  /// @return false if the deadline passed
  __device__ bool read_rows(std::uint32_t rows, const Deadline& deadline) {
    for (; rows > 0; rows -= min(rows, chunk_rows)) {
      const std::uint32_t chunk = min(rows, chunk_rows);
#pragma unroll 1
      for (std::uint32_t i = 0; i < chunk; ++i) read_row();
      if (deadline.passed()) return false;
    }
    return true;
  }

  __device__ std::uint32_t sum() const { return sum_; }

 private:
  std::uint32_t step_bytes_;
  std::uint32_t piece_bytes_;
  std::uint32_t at_bytes_;
  std::uint32_t base_;
  std::uint32_t sum_ = 0;
};

__global__ void __launch_bounds__(1024, 1)
    constant_stream_kernel(const __grid_constant__ ConstantStreamLaunch launch) {
  extern __shared__ std::uint32_t shared_words[];  // constant_stream_shared_bytes
  std::uint32_t& block_sum = shared_words[0];
  std::uint32_t& late = shared_words[1];
  const int rank = hold_wanted_sm(launch.placement);
  if (rank < 0) return;
  const Deadline deadline(launch.placement.limit_ns);
  const std::uint32_t sm = read_sm();
  const std::uint32_t warp = threadIdx.x / 32 % launch.warps;
  const std::uint32_t block = threadIdx.x / 32 / launch.warps;
  const bool loads =
      threadIdx.x % 32 < launch.warp_threads && block < __ldcg(&launch.routes[rank].blocks);
  const std::uint32_t thread = warp * launch.warp_threads + threadIdx.x % 32;
  PieceReader reader(launch.routes[rank], block, thread);
  if (threadIdx.x == 0) block_sum = late = 0;
  bool in_time = !loads || reader.read_rows(launch.warmup_rows, deadline);
  if (!pass_barrier()) return;
  if (threadIdx.x == 0) {
    in_time = start_together(launch.placement, launch.placement.wanted, deadline) && in_time;
  }
  if (!pass_barrier()) return;
  const std::uint64_t begin = read_clock();
  if (loads) in_time = reader.read_rows(launch.timed_rows, deadline) && in_time;
  if (!pass_barrier()) return;
  const std::uint64_t end = read_clock();
  atomicAdd(&block_sum, reader.sum());
  if (!in_time) late = 1;
  if (!pass_barrier() || threadIdx.x > 0) return;
  launch.results[rank] = {lane_status(late == 0, sm), sm, end - begin, block_sum};
}

}  // namespace

cudaError_t fill_constant_stream_bank(const void* bytes, cudaStream_t stream) {
  return cudaMemcpyToSymbolAsync(constant_stream_bank, bytes, bank_bytes, 0, cudaMemcpyDefault,
                                 stream);
}

const Kernel<ConstantStreamLaunch> constant_stream = constant_stream_kernel;

}  // namespace sonde::kernels
