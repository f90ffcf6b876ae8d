// Independent accesses to global memory, as many in flight as asked: reads, writes and copies.
#pragma once

#include "kernels/placement.hpp"

#include <cuda_runtime_api.h>

#include <cstdint>

namespace sonde::kernels {

enum class StreamWork { read, write, copy };

/// Which tiles, of threads x ilp elements each, a block takes one after the other.
enum class StreamOrder : std::uint32_t {
  apart,  // the blocks divide those of all passes
  same    // each block takes all
};

struct StreamLaunch {
  Placement placement;           // wanted == 0: all blocks work, wherever they are
  const void* source = nullptr;  // read, copy
  void* destination = nullptr;   // write, copy
  std::uint64_t elements = 0;    // in one pass
  std::uint64_t tiles = 0;       // whole ones among them
  std::uint64_t rest_begin = 0;  // first element behind them
  std::uint32_t workers = 0;     // blocks that take tiles apart: no more than there are tiles
  std::uint32_t passes = 1;
  StreamOrder order = StreamOrder::apart;
  SmSpan* spans = nullptr;        // [max_sms], of chosen SMs
  std::uint32_t* sink = nullptr;  // never written
  std::uint32_t* timed_out = nullptr;
};

/// Whether `ilp` is one of the unroll factors that are compiled: 1, 2, 4, 8, 16.
constexpr bool stream_ilp_exists(int ilp) {
  return ilp == 1 || ilp == 2 || ilp == 4 || ilp == 8 || ilp == 16;
}

/// Most threads of a block; with many elements in flight, registers would be spilled to memory.
constexpr int stream_max_threads(int element_bytes, int ilp) {
  return element_bytes * ilp >= 128 ? 512 : 1024;
}

/// Queues one launch. A write lays the pattern of memory.hpp, shifted by nothing.
cudaError_t launch_stream(const StreamLaunch& launch, StreamWork work, Load load, int element_bytes,
                          int ilp, const LaunchShape& shape, cudaStream_t stream);

}  // namespace sonde::kernels
