// Independent accesses to global memory, as many in flight as asked: reads, writes and copies.
#pragma once

#include "kernels/placement.hpp"

#include <cstdint>

namespace sonde::kernels {

/// add: 1 to each word of 4 bytes, by reductions that nobody waits for.
enum class StreamWork { read, write, copy, add };

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
  int element_bytes = 16;  // add: 4
  int ilp = 1;
  bool has_groups = false;   // reads of Load::cg and writes of 16 bytes, or additions; no hint
  bool times_tiles = false;  // reads of 16 bytes, Load::ca, no hint
};

/// A tile that was timed: from before its loads were issued until the last had arrived.
struct StreamWindow {
  std::uint32_t sm;
  std::uint32_t cycles;  // 0: not timed
};

/// Warps that take chunks of lists instead of tiles: those of one group of SMs.
struct StreamGroupLaunch {
  std::uint32_t begin = 0;   // of its list in all of them
  std::uint32_t chunks = 0;  // in its list
  std::uint32_t warps = 0;   // in all of its blocks
};
inline constexpr std::uint32_t stream_most_groups = 2;
inline constexpr std::uint32_t stream_group_chunk_bytes = 4096;

/// Which SM is of which group, and what the groups take.
struct StreamGroupsLaunch {
  const std::int32_t* group_of_sm = nullptr;  // [max_sms]
  const std::uint32_t* lists = nullptr;       // numbers of chunks, group after group
  std::uint32_t* ranks = nullptr;             // [stream_most_groups] blocks so far, 0 before
  std::uint32_t warp_chunks = 0;              // that each warp takes
  StreamGroupLaunch of[stream_most_groups];
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
  StreamGroupsLaunch groups;
  SmSpan* spans = nullptr;        // [max_sms], of chosen SMs
  std::uint32_t* sink = nullptr;  // never written
  std::uint32_t* timed_out = nullptr;
};

/// Most threads of a block; with many elements in flight, registers would be spilled to memory.
constexpr int stream_max_threads(int element_bytes, int ilp) {
  return element_bytes * ilp >= 128 ? 512 : 1024;
}

/// Null if there is none. A write lays the pattern of memory.hpp.
Kernel<StreamLaunch> find_stream(const StreamCode& code);

}  // namespace sonde::kernels
