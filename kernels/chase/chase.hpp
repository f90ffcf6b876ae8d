// Dependent chains of loads on chosen SMs: each load timed on its own, or a plain loop timed as a
// whole (Mei and Chu 2016; Saavedra 1992). Also the same kernel without the load: its timed windows
// are the overhead of the others.
#pragma once

#include "kernels/placement.hpp"

#include <cuda_runtime_api.h>

#include <cstdint>

namespace sonde::kernels {

/// What the loads go through: global memory by a cache operator, or by an atomic addition; the
/// constant bank; a texture.
enum class ChasePath { ca, cg, nc, cv, atomic, constant, texture_1d, texture_2d };

/// `chain`: each word holds the place of the next, so a load needs no arithmetic. `script`: the
/// order stands in shared memory, and a word's value, zero, is added to the next place.
enum class Order { chain, script };

/// What a chase kernel does: the warm-up of one lane by a whole warp, or the lanes' own warm-up and
/// what they measure.
enum class Part { shared_warm_up, windows, amortised };

/// What stands between the clock reads of a timed window without a load.
enum class Overhead { empty, sink };

/// Lanes on one SM are warps of one block; each has its sink word in the block's first 64 bytes.
inline constexpr unsigned max_lanes_per_sm = 16;
inline constexpr unsigned sink_bytes = 64;
/// All that a file may declare __constant__.
inline constexpr unsigned bank_bytes = 65536;
/// Of 8 bytes, in a row of a two-dimensional texture.
inline constexpr unsigned row_texels_log2 = 9;
inline constexpr unsigned row_texels = 1u << row_texels_log2;
/// Code to execute: blocks of 8 instructions of 16 bytes (since Volta), 512 KiB and one block more
/// to rehearse on.
inline constexpr unsigned code_block_bytes = 128;
inline constexpr unsigned code_blocks = 4097;
inline constexpr unsigned code_additions = 7;
/// Timed windows of the last bin or longer share it.
inline constexpr unsigned chase_bins = 2048;

/// A word of global memory to be stored, and what it holds already.
struct StoredWord {
  std::uint64_t address;
  std::uint64_t value;
};

/// Places are addresses in global memory, offsets in the constant bank, texels of a linear texture,
/// and column + row * 2^32 of one with two dimensions.
struct ChaseTask {
  std::uint64_t start = 0;                // chain: first place; script: what steps are added to
  const std::uint32_t* script = nullptr;  // steps in units
  const StoredWord* stores = nullptr;     // made between warm-up and timed loads
  std::uint32_t script_length = 0;
  std::uint32_t store_count = 0;
  std::uint32_t turn = 0;
};

/// A thread's part of a warm-up that a warp makes together: where the chain of every 32nd access
/// begins, from that thread's on, and how many loads it makes.
struct WarmUpShare {
  std::uint64_t start;
  std::uint64_t accesses;
};

struct ChaseLaunch {
  Placement placement;
  const std::int32_t* lane_of_warp = nullptr;  // [rank * warps + warp]; -1: none
  const ChaseTask* tasks = nullptr;            // [lane]
  LaneResult* results = nullptr;               // [lane]
  std::uint16_t* records = nullptr;            // [lane * recorded]
  std::uint32_t* histograms = nullptr;         // [lane * chase_bins], or null for none
  std::uint64_t texture = 0;                   // object to fetch from
  std::uint64_t rehearsal_place = 0;  // chain: a word holding its own place; script: a zero
  std::uint64_t warmup = 0;
  std::uint64_t timed = 0;
  std::uint64_t recorded = 0;
  std::uint64_t amortised = 0;
  std::uint32_t script_unit = 8;  // in what places count: bytes, or texels
  std::uint32_t warps = 1;
  std::uint32_t lanes = 1;  // that begin together, those of a launch beside it counted, too
  std::uint32_t script_capacity = 0;  // entries that each warp keeps in shared memory
  std::uint32_t rounds = 2;           // a rehearsal and the measurement; not known to the compiler
  bool in_turn = false;
  const WarmUpShare* shares = nullptr;  // [thread of the warp] of a shared warm-up
};

/// The kernel of that part; null: scripts are neither shared (a warm-up goes by chains) nor
/// amortised (the loop would also hold the reading of the script). A shared warm-up is that of a
/// launch's only lane by `launch.shares`, many loads at a time, in the order of the list but for
/// neighbours. results[thread] tells where each share ended. The L1 is empty when the next kernel
/// begins.
Kernel<ChaseLaunch> find_chase(ChasePath path, Order order, Part part);

/// Queues a copy of `bank_bytes` bytes, of pinned or device memory, to the bank that chases go
/// through.
cudaError_t fill_constant_bank(const void* bytes, cudaStream_t stream);

/// Addresses of the blocks of code, `code_blocks` of them; they ought to lie code_block_bytes
/// apart.
cudaError_t read_code_addresses(std::uint64_t* addresses);

/// A chase by script whose accesses execute code: a place is the address where one enters. Timed
/// windows only. A lane's final value is the number of additions that it executed, or 2^24 if
/// there were more; a whole block makes code_additions.
extern const Kernel<ChaseLaunch> code_chase;

/// `launch.timed` timed windows without a load.
Kernel<ChaseLaunch> find_overhead(Overhead overhead);

}  // namespace sonde::kernels
