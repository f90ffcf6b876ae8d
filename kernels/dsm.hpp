// Distributed shared memory: blocks of a thread block cluster read the shared memory of each other.
#pragma once

#include "kernels/placement.hpp"

#include <cstdint>

namespace sonde::kernels {

/// Each block of a cluster, one after the other, chases through the shared memory of each block of
/// the cluster, its own among them: a lane for each pair, reader by reader, target by target.
/// final_value is 0 if the chain ended where it should.
struct DsmChaseLaunch {
  ClusterLanes common;
  std::uint16_t* records = nullptr;  // [lane * accesses]
  std::uint32_t accesses = 0;        // of each pair
  std::uint32_t rounds = 2;          // a rehearsal and the measurement; not known to the compiler
};

/// Shared memory that a block of the chase needs.
unsigned dsm_chase_bytes(int cluster_blocks, std::uint32_t accesses);

/// The block of rank r reads the memory of rank (r + distance) mod cluster size with all of its
/// threads, all blocks at once or one block of the whole launch after the other: a lane for each
/// block. final_value is 0 if what it read was what the other block had written.
struct DsmStreamLaunch {
  ClusterLanes common;
  std::uint32_t distance = 0;
  std::uint32_t passes = 0;
  std::uint32_t in_turn = 0;
};

/// Elements of 16 bytes that a thread of the stream loads in one pass, all in flight at once.
inline constexpr int dsm_ilp = 4;

/// Shared memory that a block of the stream reads in a pass.
inline constexpr unsigned dsm_stream_bytes(unsigned block_threads) {
  return block_threads * dsm_ilp * 16;
}

/// All clusters of these must be able to be on the device at once.
extern const Kernel<DsmChaseLaunch> dsm_chase;
extern const Kernel<DsmStreamLaunch> dsm_stream;

}  // namespace sonde::kernels
