// Independent loads from the constant bank, many in flight at once.
#pragma once

#include "kernels/placement.hpp"

#include <cuda_runtime_api.h>

#include <cstdint>

namespace sonde::kernels {

/// Loads in flight of each thread.
inline constexpr unsigned constant_ilp = 8;
inline constexpr unsigned constant_stream_shared_bytes = 8;  // of a block

/// Each thread goes round its own piece of the bank, from the same offset in it. The kernel reads
/// this struct from memory, because its parameters are constants themselves.
struct ConstantRoute {
  std::uint32_t start_bytes[2] = {};  // in the piece: of the first and the second block of the SM
  std::uint32_t blocks = 1;           // of the SM
  std::uint32_t step_bytes = 0;
  std::uint32_t piece_bytes = 0;
};

/// A row has constant_ilp loads. If an SM has two blocks, the second half of the warps of its block
/// makes the loads of the second; on other SMs it makes none.
struct ConstantStreamLaunch {
  Placement placement;
  LaneResult* results = nullptr;          // [rank]; final_value: sum of all words, mod 2^32
  const ConstantRoute* routes = nullptr;  // [rank]
  std::uint32_t warps = 1;                // of a block of the probe
  std::uint32_t warp_threads = 1;         // threads of each warp that load
  std::uint32_t warmup_rows = 0;
  std::uint32_t timed_rows = 0;
};

/// Queues a copy of `bank_bytes` bytes (chase.hpp) of pinned or device memory to the streams' bank.
cudaError_t fill_constant_stream_bank(const void* bytes, cudaStream_t stream);

extern const Kernel<ConstantStreamLaunch> constant_stream;

}  // namespace sonde::kernels
