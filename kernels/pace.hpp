// The order of launches, and the rate of the SM clocks while the SMs work.
#pragma once

#include "kernels/clocks.hpp"

#include <cuda_runtime_api.h>

#include <cstdint>

namespace sonde::kernels {

/// The SM of a block, and both clocks at its begin and end.
struct BlockTimes {
  std::uint32_t sm;
  std::uint32_t ran;  // 1
  std::uint64_t begin_cycles;
  std::uint64_t end_cycles;
  std::uint64_t begin_ns;
  std::uint64_t end_ns;
};

/// Queues a kernel of `blocks` warps that do nothing.
cudaError_t launch_empty(unsigned blocks, cudaStream_t stream);

/// Queues a kernel whose blocks stay for `busy_ns`. @param times [blocks]
cudaError_t launch_busy(BlockTimes* times, std::uint64_t busy_ns, unsigned blocks,
                        cudaStream_t stream);

inline constexpr unsigned pace_shared_bytes = 4;  // of a block

struct PaceLaunch {
  Placement placement;
  LaneResult* results = nullptr;     // [rank]
  ClockReading* readings = nullptr;  // [rank * samples]
  float* sink = nullptr;             // never written
  std::uint32_t samples = 0;
  std::uint64_t interval_ns = 0;
  float factor = 0;  // of the multiplications; unknown to the compiler
};

/// The first thread of a block reads the clocks; all warps but the first compute meanwhile.
extern const Kernel<PaceLaunch> pace;

}  // namespace sonde::kernels
