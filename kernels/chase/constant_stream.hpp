// Independent loads from the constant bank, as many in flight as asked.
#pragma once

#include "kernels/placement.hpp"

#include <cuda_runtime_api.h>

#include <cstdint>

namespace sonde::kernels {

/// Loads that each thread has in flight.
inline constexpr unsigned constant_ilp = 8;
/// Shared memory that a block needs.
inline constexpr unsigned constant_stream_shared_bytes = 8;

/// Each thread goes round a piece of the bank of its own, from the same place in it. The kernel
/// reads this from memory, not from its parameters, which are constants themselves.
struct ConstantRoute {
  std::uint32_t start_bytes = 0;  // in the piece
  std::uint32_t step_bytes = 0;
  std::uint32_t piece_bytes = 0;
};

/// Rows are constant_ilp loads.
struct ConstantStreamLaunch {
  Placement placement;
  LaneResult* results = nullptr;          // [rank]; final_value: sum of all words, mod 2^32
  const ConstantRoute* routes = nullptr;  // [rank]
  std::uint32_t warp_threads = 1;         // of each warp that load
  std::uint32_t warmup_rows = 0;
  std::uint32_t timed_rows = 0;
};

/// Queues a copy of `bank_bytes` bytes (chase.hpp), of pinned or device memory, to the bank that
/// these streams read.
cudaError_t fill_constant_stream_bank(const void* bytes, cudaStream_t stream);

extern const Kernel<ConstantStreamLaunch> constant_stream;

}  // namespace sonde::kernels
