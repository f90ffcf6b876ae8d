// Bypass kernel. Hardware effect: contention for lines and miss resources of one L1 among warps
// that use it and warps that do not. A timed window ends when the last of a warp's 32 loads has
// arrived; each address depends on the value before (a zero that only the memory knows), so that
// every warp has one access in flight.
#include "kernels/bypass.hpp"
#include "kernels/launch.cuh"
#include "kernels/placement.cuh"

namespace sonde::kernels {
namespace {

/// Accesses between two looks at the deadline.
constexpr std::uint64_t chunk_accesses = 1024;
constexpr std::uint32_t sinks_bytes = 128;  // one word per warp of a block

template <Load load>
__device__ __forceinline__ std::uint32_t load_word(std::uint64_t address) {
  std::uint32_t value;
  if constexpr (load == Load::ca) {
    asm volatile("ld.global.u32 %0, [%1];" : "=r"(value) : "l"(address) : "memory");
  } else {
    asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(value) : "l"(address) : "memory");
  }
  return value;
}

/// A parameter of the launch would be fetched anew for every access. threadIdx.y is zero, but ptxas
/// cannot know.
__device__ std::uint32_t in_register(std::uint32_t parameter) { return parameter + threadIdx.y; }

/// Where a thread stands. The address of the next access is ready but for the value of the last
/// one.
struct Cursor {
  std::uint64_t base;
  std::uint64_t next;
  std::uint32_t offset;
  std::uint32_t step;
  std::uint32_t wrap;
  std::uint32_t value;

  __device__ __forceinline__ std::uint64_t next_address() {
    std::uint64_t address;
    asm volatile("add.u64 %0, %1, %2;" : "=l"(address) : "l"(next), "l"(std::uint64_t{value}));
    offset += step;
    offset -= offset >= wrap ? wrap : 0;
    next = base + offset;
    return address;
  }
};

template <Load load>
__device__ void untimed_accesses(Cursor& cursor, std::uint64_t count, const Deadline& deadline) {
  for (std::uint64_t done = 0; done < count && !deadline.passed(); done += chunk_accesses) {
    const auto chunk = static_cast<unsigned>(min(count - done, chunk_accesses));
#pragma unroll 4
    for (unsigned i = 0; i < chunk; ++i) cursor.value = load_word<load>(cursor.next_address());
  }
}

__device__ void untimed_accesses(bool cached, Cursor& cursor, std::uint64_t count,
                                 const Deadline& deadline) {
  if (cached) {
    untimed_accesses<Load::ca>(cursor, count, deadline);
  } else {
    untimed_accesses<Load::cg>(cursor, count, deadline);
  }
}

template <Load load>
__device__ void timed_accesses(Cursor& cursor, std::uint32_t count, std::uint32_t sink,
                               std::uint32_t record) {
  const unsigned one = unknown_one();
#pragma unroll 1
  for (std::uint32_t i = 0; i < count; i += one) {
    const std::uint64_t address = cursor.next_address();
    const std::uint64_t begin = read_clock();
    cursor.value = load_word<load>(address);
    store_shared_u32(sink, cursor.value);
    const std::uint64_t end = read_clock();
    const std::uint32_t cycles = cycles_between(begin, end);
    if (threadIdx.x % 32 == 0) store_shared_u16(record, cycles);
    record += 2;
  }
}

__global__ void __launch_bounds__(1024) bypass_kernel(const __grid_constant__ BypassLaunch launch) {
  extern __shared__ __align__(16) unsigned char shared[];
  const int rank = hold_wanted_sm(launch.placement);
  if (rank < 0) return;
  const Deadline deadline(launch.placement.limit_ns);
  const std::uint32_t sm = read_sm();
  const std::uint32_t warp = threadIdx.x / 32;
  const std::uint32_t thread = threadIdx.x % 32;
  const bool cached = warp < launch.cached_warps;
  const std::uint32_t sink = shared_address(shared) + warp * 4;
  const std::uint32_t record_offset = sinks_bytes + warp * launch.accesses * 2;
  const std::uint32_t record = shared_address(shared) + record_offset;
  const std::uint64_t base = reinterpret_cast<std::uint64_t>(launch.base) +
                             warp * launch.warp_base_step_bytes +
                             thread * launch.thread_stride_bytes;
  Cursor cursor{
      base, base, 0, in_register(launch.access_step_bytes), in_register(launch.working_set_bytes),
      0};
  if (threadIdx.x == 0) start_together(launch.placement, launch.placement.wanted, deadline);
  __syncthreads();
  untimed_accesses(cached, cursor, launch.warmup, deadline);
  if (!pass_barrier()) return;
  if (cached) {
    timed_accesses<Load::ca>(cursor, launch.accesses, sink, record);
  } else {
    timed_accesses<Load::cg>(cursor, launch.accesses, sink, record);
  }
  if (!pass_barrier()) return;
  // Once more without timed windows: the time of a warp shall not hold what recording costs.
  const std::uint64_t begin = read_clock();
  untimed_accesses(cached, cursor, launch.accesses, deadline);
  store_shared_u32(sink, cursor.value);
  const std::uint64_t elapsed_cycles = read_clock() - begin;
  const bool in_time = !deadline.passed();
  __syncthreads();
  const std::uint64_t lane = static_cast<std::uint64_t>(rank) * launch.warps + warp;
  const auto* windows = reinterpret_cast<const std::uint16_t*>(shared + record_offset);
  for (std::uint32_t i = thread; i < launch.accesses; i += 32) {
    launch.records[lane * launch.accesses + i] = windows[i];
  }
  if (thread == 0) {
    launch.results[lane] = {lane_status(in_time, sm), sm, elapsed_cycles, cursor.value};
  }
}

}  // namespace

unsigned bypass_shared_bytes(const BypassLaunch& launch) {
  return sinks_bytes + launch.warps * launch.accesses * 2;
}

cudaError_t launch_bypass(const BypassLaunch& launch, const LaunchShape& shape,
                          cudaStream_t stream) {
  return launch_kernel(bypass_kernel, launch, shape, stream);
}

}  // namespace sonde::kernels
