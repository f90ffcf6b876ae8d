// Independent accesses to global memory, many in flight at once: reads, writes, copies, additions.
#pragma once

#include "kernels/placement.hpp"

#include <cstdint>

namespace sonde::kernels {

/// add: adds 1 to each word of 4 bytes, by reductions without an answer.
enum class StreamWork { read, write, copy, add };

/// The tiles, of threads x ilp elements each, that a block takes one after the other.
enum class StreamOrder : std::uint32_t {
  apart,  // the blocks share the tiles of all passes
  same    // every block takes all tiles
};

/// Cache hints of loads and stores (PTX ISA: .L1::no_allocate, .cs, .wt).
enum class StreamHint { none, no_allocate, evict_first, write_through };

/// Loads and stores by threads, or whole tiles by the copy engine (sm_90).
enum class StreamEngine { threads, bulk };
/// Tiles of a block in flight, each in shared memory.
inline constexpr std::uint32_t stream_bulk_stages = 4;
/// Space before the tiles for a barrier each. It keeps the tiles at multiples of 128 bytes.
inline constexpr std::uint32_t stream_barrier_bytes = 128;
/// Shared memory of a block.
constexpr std::uint64_t stream_bulk_bytes(std::uint64_t tile_bytes) {
  return stream_barrier_bytes + stream_bulk_stages * tile_bytes;
}

/// Selects a kernel.
struct StreamCode {
  StreamWork work = StreamWork::read;
  Load load = Load::ca;                // or cg
  StreamHint hint = StreamHint::none;  // others than none: only elements of 16 bytes and Load::ca
  StreamEngine engine = StreamEngine::threads;
  int element_bytes = 16;  // add: 4
  int ilp = 1;
  bool has_groups = false;   // only reads of 16 bytes with Load::cg, writes of 16 bytes, or
                             // additions; without hint
  bool times_tiles = false;  // only reads of 16 bytes with Load::ca; without hint
};

/// A timed tile: from before the issue of its loads until the last value has arrived.
struct StreamWindow {
  std::uint32_t sm;
  std::uint32_t cycles;  // 0: not timed
};

/// Warps that take chunks from a list instead of tiles: all warps of a group of SMs.
struct StreamGroupLaunch {
  std::uint32_t begin = 0;   // of its list in `lists`
  std::uint32_t chunks = 0;  // in its list
  std::uint32_t warps = 0;   // in all blocks of the group
};
inline constexpr std::uint32_t stream_most_groups = 2;  // in a launch
inline constexpr std::uint32_t stream_group_chunk_bytes = 4096;

/// The group of each SM, and the lists of the groups.
struct StreamGroupsLaunch {
  const std::int32_t* group_of_sm = nullptr;  // [max_sms]
  const std::uint32_t* lists = nullptr;       // numbers of chunks, one group after the other
  std::uint32_t* ranks = nullptr;  // [stream_most_groups] blocks so far; 0 before the launch
  std::uint32_t warp_chunks = 0;   // chunks for each warp
  StreamGroupLaunch of[stream_most_groups];
};

struct StreamLaunch {
  Placement placement;           // wanted == 0: all blocks work, on any SM
  const void* source = nullptr;  // read, copy
  void* destination = nullptr;   // write, copy
  std::uint64_t elements = 0;    // in one pass
  std::uint64_t tiles = 0;       // whole tiles among the elements
  std::uint64_t rest_begin = 0;  // first element after them
  std::uint32_t workers = 0;     // blocks that share the tiles; not more than tiles
  std::uint32_t passes = 1;
  StreamOrder order = StreamOrder::apart;
  std::uint32_t tile_bytes = 0;     // bulk
  std::uint32_t window_step = 1;    // times each tile whose number is a multiple of this
  StreamWindow* windows = nullptr;  // [tiles / window_step, rounded up]
  StreamGroupsLaunch groups;
  SmSpan* spans = nullptr;        // [max_sms]; only with chosen SMs
  std::uint32_t* sink = nullptr;  // never written
  std::uint32_t* timed_out = nullptr;
};

/// Most threads of a block: with more elements in flight registers would be spilled to memory.
constexpr int stream_max_threads(int element_bytes, int ilp) {
  return element_bytes * ilp >= 128 ? 512 : 1024;
}

/// Null if there is no such kernel. Writes use the pattern of pattern.cuh.
Kernel<StreamLaunch> find_stream(const StreamCode& code);

}  // namespace sonde::kernels
