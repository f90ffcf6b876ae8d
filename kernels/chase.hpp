// Dependent chains of global loads on chosen SMs: each load timed on its own, or a plain loop timed
// as a whole (Mei and Chu 2016; Saavedra 1992). Also the same kernel without the load: its windows
// are the overhead of the others.
#pragma once

#include "kernels/placement.hpp"

#include <cuda_runtime_api.h>

#include <cstdint>

namespace sonde::kernels {

/// `chain`: each word holds the address of the next, so a load needs no arithmetic. `script`: the
/// order stands in shared memory, and a word's value, zero, is added to the next address.
enum class Order { chain, script };

/// What stands between the clock reads of a window without a load.
enum class Overhead { empty, sink };

/// Lanes on one SM are warps of one block; each has its sink word in the block's first 64 bytes.
inline constexpr unsigned max_lanes_per_sm = 16;
inline constexpr unsigned sink_bytes = 64;
/// Windows of the last bin or longer share it.
inline constexpr unsigned chase_bins = 2048;

struct ChaseTask {
  std::uint64_t start_address = 0;  // chain: first word; script: base that offsets are added to
  const std::uint32_t* script = nullptr;  // offsets in units
  std::uint32_t script_length = 0;
  std::uint32_t turn = 0;
};

struct ChaseLaunch {
  Placement placement;
  const std::int32_t* lane_of_warp = nullptr;  // [rank * warps + warp]; -1: none
  const ChaseTask* tasks = nullptr;            // [lane]
  LaneResult* results = nullptr;               // [lane]
  std::uint16_t* records = nullptr;            // [lane * recorded]
  std::uint32_t* histograms = nullptr;         // [lane * chase_bins], or null for none
  std::uint64_t rehearsal_address = 0;  // chain: a word holding its own address; script: a zero
  std::uint64_t warmup = 0;
  std::uint64_t timed = 0;
  std::uint64_t recorded = 0;
  std::uint64_t amortised = 0;
  std::uint32_t unit_bytes = 8;  // of a script
  std::uint32_t warps = 1;
  std::uint32_t lanes = 1;
  std::uint32_t script_capacity = 0;  // entries that each warp keeps in shared memory
  std::uint32_t rounds = 2;           // a rehearsal and the measurement; not known to the compiler
  bool in_turn = false;
};

/// Shared memory that one block of the launch needs: sinks, and per warp histogram, record and
/// script.
unsigned chase_shared_bytes(const ChaseLaunch& launch);

/// Queues the chase; timed windows if launch.timed > 0, else the amortised loop, for chains alone:
/// the loop of a script would also hold its reading.
cudaError_t launch_chase(const ChaseLaunch& launch, Load load, Order order,
                         const LaunchShape& shape, cudaStream_t stream);

/// Queues `launch.timed` windows without a load.
cudaError_t launch_overhead(const ChaseLaunch& launch, Overhead overhead, const LaunchShape& shape,
                            cudaStream_t stream);

}  // namespace sonde::kernels
