// Distributed shared memory: blocks of a cluster read each other's shared memory.
#pragma once

#include "kernels/placement.hpp"

#include <cstdint>

namespace sonde::kernels {

/// One block of a cluster after the other chases through the shared memory of each block of the
/// cluster, including its own: a lane for each pair, by reader, then target. final_value is 0 if
/// the chain ended at the right place.
struct DsmChaseLaunch {
  ClusterLanes common;
  std::uint16_t* records = nullptr;  // [lane * accesses]
  std::uint32_t accesses = 0;        // of each pair
  std::uint32_t rounds = 2;          // a rehearsal and the measurement; unknown to the compiler
};

/// Dynamic shared memory of a block of a chase.
unsigned dsm_chase_bytes(int cluster_blocks, std::uint32_t accesses);

/// All threads of the block of rank r read the memory of rank (r + distance) mod cluster size;
/// either all blocks at once, or one block of the launch after the other. A lane for each block.
/// final_value is 0 if the block read what the other block had written.
struct DsmStreamLaunch {
  ClusterLanes common;
  std::uint32_t distance = 0;
  std::uint32_t passes = 0;
  std::uint32_t in_turn = 0;
};

/// Elements of 16 bytes that a thread loads in one pass, all in flight at once.
inline constexpr int dsm_ilp = 4;

/// Shared memory that a block reads in a pass.
inline constexpr unsigned dsm_stream_bytes(unsigned block_threads) {
  return block_threads * dsm_ilp * 16;
}

/// All clusters of such a launch must fit on the device at once.
extern const Kernel<DsmChaseLaunch> dsm_chase;
extern const Kernel<DsmStreamLaunch> dsm_stream;

}  // namespace sonde::kernels
