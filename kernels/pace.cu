// Empty launches, launches that occupy their SMs, and readings of both clocks under load. Hardware
// effects: the time from the end of a launch to the begin of the next; the SM clock while all SMs
// compute. Source of error: arithmetic that the compiler removes or shortens (the factor is a
// parameter, the result may be stored; checked in SASS).
#include "kernels/pace.hpp"
#include "kernels/placement.cuh"

namespace sonde::kernels {
namespace {

__global__ void empty_kernel() {}

__global__ void busy_kernel(BlockTimes* times, std::uint64_t busy_ns) {
  if (threadIdx.x > 0) return;
  const std::uint64_t begin_ns = read_globaltimer();
  const std::uint64_t begin_cycles = read_clock();
  std::uint64_t end_ns = read_globaltimer();
  while (end_ns - begin_ns < busy_ns) end_ns = read_globaltimer();
  const std::uint64_t end_cycles = read_clock();
  times[blockIdx.x] = {read_sm(), 1, begin_cycles, end_cycles, begin_ns, end_ns};
}

/// Called by the first thread of a block. @return false if the deadline passed first
__device__ bool read_pace(const PaceLaunch& launch, ClockReading* readings,
                          const Deadline& deadline) {
  std::uint64_t now_ns = read_globaltimer();
  std::uint64_t due_ns = now_ns;
  for (std::uint32_t i = 0; i < launch.samples; ++i) {
    while (now_ns < due_ns) now_ns = read_globaltimer();
    due_ns += launch.interval_ns;
    const std::uint64_t clock_cycles = read_clock();
    now_ns = read_globaltimer();
    readings[i] = {clock_cycles, now_ns};
    if (deadline.passed()) return false;
  }
  return true;
}

/// Multiplies and adds in eight chains until told to stop: enough to keep a scheduler busy.
__device__ float compute_until(const volatile std::uint32_t& stop, float factor) {
  constexpr int chains = 8;
  constexpr int rounds = 32;
  float values[chains];
#pragma unroll
  for (int j = 0; j < chains; ++j) {
    values[j] = factor * static_cast<float>(threadIdx.x * chains + j);
  }
  while (stop == 0) {
#pragma unroll
    for (int i = 0; i < rounds; ++i) {
#pragma unroll
      for (int j = 0; j < chains; ++j) values[j] = fmaf(values[j], factor, 0.7071f);
    }
  }
  float sum = 0;
#pragma unroll
  for (int j = 0; j < chains; ++j) sum += values[j];
  return sum;
}

__global__ void __launch_bounds__(1024, 1) pace_kernel(const __grid_constant__ PaceLaunch launch) {
  extern __shared__ std::uint32_t shared_words[];  // pace_shared_bytes
  std::uint32_t& stop = shared_words[0];
  const int rank = hold_wanted_sm(launch.placement);
  if (rank < 0) return;
  if (threadIdx.x == 0) stop = 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    const Deadline deadline(launch.placement.limit_ns);
    const std::uint32_t sm = read_sm();
    ClockReading* readings = launch.readings + static_cast<std::uint64_t>(rank) * launch.samples;
    const std::uint64_t begin = read_clock();
    const bool in_time = start_together(launch.placement, launch.placement.wanted, deadline) &&
                         read_pace(launch, readings, deadline);
    const std::uint64_t end = read_clock();
    launch.results[rank] = {lane_status(in_time, sm), sm, end - begin, 0};
    *const_cast<volatile std::uint32_t*>(&stop) = 1;
  } else if (threadIdx.x >= 32) {
    const float sum = compute_until(stop, launch.factor);
    if (sum == 0.1234567f) *launch.sink = sum;  // keeps the arithmetic
  }
}

}  // namespace

cudaError_t launch_empty(unsigned blocks, cudaStream_t stream) {
  empty_kernel<<<blocks, 32, 0, stream>>>();
  return cudaGetLastError();
}

cudaError_t launch_busy(BlockTimes* times, std::uint64_t busy_ns, unsigned blocks,
                        cudaStream_t stream) {
  busy_kernel<<<blocks, 32, 0, stream>>>(times, busy_ns);
  return cudaGetLastError();
}

const Kernel<PaceLaunch> pace = pace_kernel;

}  // namespace sonde::kernels
