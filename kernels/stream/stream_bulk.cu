// Streams by the engine that copies whole tiles between global and shared memory (PTX ISA,
// cp.async.bulk). Hardware effect: the throughput of memory without loads and stores of threads.
// One thread of a block requests the tiles, stream_bulk_stages at a time. The loop contains no
// other access to global memory, which tests/sass checks. Empty below compute capability 9.0.
#include "kernels/stream/stream_kernel.cuh"

namespace sonde::kernels {
namespace {

#if __CUDA_ARCH__ >= 900

/// The tiles of a block, one after the other.
class TileCursor {
 public:
  __device__ explicit TileCursor(const StreamLaunch& launch)
      : at_(blockIdx.x), step_(launch.workers), tiles_(launch.tiles) {}
  /// @return the offset of the next tile
  __device__ std::uint64_t next(std::uint32_t tile_bytes) {
    const std::uint64_t offset_bytes = at_ * tile_bytes;
    at_ += step_;
    if (at_ >= tiles_) at_ -= tiles_;
    return offset_bytes;
  }

 private:
  std::uint64_t at_, step_, tiles_;
};

__device__ __forceinline__ void init_barrier(std::uint32_t barrier) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier) : "memory");
}

/// The tile has arrived when the barrier's phase ends.
__device__ __forceinline__ void load_tile(std::uint32_t to, const void* from, std::uint32_t bytes,
                                          std::uint32_t barrier) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
          "r"(to),
      "l"(from), "r"(bytes), "r"(barrier)
      : "memory");
}

__device__ __forceinline__ void store_tile(void* to, std::uint32_t from, std::uint32_t bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(from),
               "r"(bytes)
               : "memory");
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

/// Waits until all stores except the last have read their tiles.
__device__ __forceinline__ void wait_for_all_stores_but_one() {
  asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");
}

__device__ __forceinline__ void wait_for_all_stores() {
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

/// @return whether the phase has ended; waits for a time that the hardware chooses
__device__ __forceinline__ bool try_wait(std::uint32_t barrier, std::uint32_t parity) {
  std::uint32_t ended;
  asm volatile(
      "{\n\t.reg .pred p;\n\t"
      "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n\t"
      "selp.u32 %0, 1, 0, p;\n\t}"
      : "=r"(ended)
      : "r"(barrier), "r"(parity)
      : "memory");
  return ended != 0;
}

/// @return false if the deadline passed first
__device__ __forceinline__ bool wait_for_tile(std::uint32_t barrier, std::uint32_t parity,
                                              LateDeadline& deadline) {
  while (!try_wait(barrier, parity)) {
    if (deadline.passed()) return false;
  }
  return true;
}

template <StreamWork work>
__device__ void move_tiles(const StreamLaunch& launch, std::uint32_t stages,
                           std::uint32_t barriers) {
  const auto* source = static_cast<const std::byte*>(launch.source);
  auto* destination = static_cast<std::byte*>(launch.destination);
  const std::uint64_t all = launch.tiles * launch.passes;
  if (blockIdx.x >= launch.workers) return;
  const std::uint64_t mine = (all - blockIdx.x + launch.workers - 1) / launch.workers;
  const std::uint32_t bytes = launch.tile_bytes;
  TileCursor loads(launch);
  TileCursor stores(launch);
  LateDeadline deadline(launch.placement.limit_ns);
  const auto load = [&](std::uint32_t stage) {
    load_tile(stages + stage * bytes, source + loads.next(bytes), bytes, barriers + 8 * stage);
  };
  const std::uint64_t first = mine < stream_bulk_stages ? mine : stream_bulk_stages;
  for (std::uint32_t i = 0; i < first; ++i) load(i);
  for (std::uint64_t i = 0; i < mine; ++i) {
    const auto stage = static_cast<std::uint32_t>(i % stream_bulk_stages);
    const auto parity = static_cast<std::uint32_t>(i / stream_bulk_stages % 2);
    if (!wait_for_tile(barriers + 8 * stage, parity, deadline)) {
      *launch.timed_out = 1;
      break;
    }
    if constexpr (work == StreamWork::read) {
      if (i + stream_bulk_stages < mine) load(stage);
    } else {
      store_tile(destination + stores.next(bytes), stages + stage * bytes, bytes);
      // The store before this one has now read its tile: the next load may overwrite it.
      wait_for_all_stores_but_one();
      const auto before =
          static_cast<std::uint32_t>((i + stream_bulk_stages - 1) % stream_bulk_stages);
      if (i > 0 && i - 1 + stream_bulk_stages < mine) load(before);
    }
  }
  if constexpr (work == StreamWork::copy) wait_for_all_stores();
}

#endif

template <StreamWork work>
__global__ void __launch_bounds__(32)
    bulk_stream_kernel(const __grid_constant__ StreamLaunch launch) {
#if __CUDA_ARCH__ >= 900
  extern __shared__ __align__(128) std::byte barriers_and_stages[];
  if (threadIdx.x > 0) return;
  const std::uint32_t first = shared_address(barriers_and_stages);
  for (std::uint32_t i = 0; i < stream_bulk_stages; ++i) init_barrier(first + 8 * i);
  // Makes the initialised barriers visible to the engine.
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  move_tiles<work>(launch, first + stream_barrier_bytes, first);
#endif
}

}  // namespace

StreamKernel bulk_stream(StreamWork work) {
  switch (work) {
    case StreamWork::read: return bulk_stream_kernel<StreamWork::read>;
    case StreamWork::copy: return bulk_stream_kernel<StreamWork::copy>;
    case StreamWork::write:
    case StreamWork::add: break;
  }
  return nullptr;
}

}  // namespace sonde::kernels
