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

/// What loads and stores say about the data (PTX ISA: .L1::no_allocate, .cs, .wt).
enum class StreamHint { none, no_allocate, evict_first, write_through };

/// Loads and stores of threads, or tiles by the copy engine (sm_90).
enum class StreamEngine { threads, bulk };
/// Tiles of a block that the engine has under way, each in shared memory.
inline constexpr std::uint32_t stream_bulk_stages = 4;
/// In front of them: a barrier for each; the engine wants tiles at multiples of 128 bytes.
inline constexpr std::uint32_t stream_barrier_bytes = 128;
/// Shared memory of a block.
constexpr std::uint64_t stream_bulk_bytes(std::uint64_t tile_bytes) {
  return stream_barrier_bytes + stream_bulk_stages * tile_bytes;
}

/// Which kernel.
struct StreamCode {
  StreamWork work = StreamWork::read;
  Load load = Load::ca;
  StreamHint hint = StreamHint::none;  // others: elements of 16 bytes, Load::ca
  StreamEngine engine = StreamEngine::threads;
  int element_bytes = 16;
  int ilp = 1;
  bool times_tiles = false;  // reads of 16 bytes, Load::ca, no hint
};

/// A tile that was timed: from before its loads were issued until the last had arrived.
struct StreamWindow {
  std::uint32_t sm;
  std::uint32_t cycles;  // 0: not timed
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
  std::uint32_t tile_bytes = 0;     // bulk
  std::uint32_t window_step = 1;    // the tiles whose number is a multiple of it are timed
  StreamWindow* windows = nullptr;  // [tiles / window_step, rounded up]
  SmSpan* spans = nullptr;          // [max_sms], of chosen SMs
  std::uint32_t* sink = nullptr;    // never written
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
cudaError_t launch_stream(const StreamLaunch& launch, const StreamCode& code,
                          const LaunchShape& shape, cudaStream_t stream);

}  // namespace sonde::kernels
