// Dependent chains of loads on chosen SMs: each load timed alone, or a plain loop timed as a whole
// (Mei and Chu 2016; Saavedra 1992). The same kernel without the load measures their overhead.
#pragma once

#include "kernels/placement.hpp"

#include <cuda_runtime_api.h>

#include <cstdint>

namespace sonde::kernels {

/// What loads access: global memory by cache operator, constant bank, texture, or global memory by
/// atomic addition.
enum class ChasePath { ca, cg, nc, cv, constant, texture_1d, texture_2d, atomic };

/// `chain`: each word holds the next place, so a load needs no arithmetic. `script`: shared memory
/// holds the order; each loaded word is zero and is added to the next place.
enum class Order { chain, script };

/// The part of a chase that a kernel runs: the warm-up of one lane by a whole warp; or the warm-up
/// and the measurement of the lanes, with timed windows or amortised.
enum class Part { shared_warm_up, windows, amortised };

/// Between the clock reads of a timed window without a load.
enum class Overhead { empty, sink };

/// Lanes on one SM are warps of one block; their sink words are the block's first 64 bytes.
inline constexpr unsigned max_lanes_per_sm = 16;
inline constexpr unsigned sink_bytes = 64;
/// The largest size of a __constant__ variable.
inline constexpr unsigned bank_bytes = 65536;
/// Texels of 8 bytes in a row of a two-dimensional texture.
inline constexpr unsigned row_texels_log2 = 9;
inline constexpr unsigned row_texels = 1u << row_texels_log2;
/// Code to execute: blocks of 8 instructions of 16 bytes (since Volta). 512 KiB and a rehearsal
/// block.
inline constexpr unsigned code_block_bytes = 128;
inline constexpr unsigned code_blocks = 4097;
inline constexpr unsigned code_additions = 7;
/// The last bin also counts all longer windows.
inline constexpr unsigned chase_bins = 2048;

/// A word of global memory that is stored again with the value that it already holds.
struct StoredWord {
  std::uint64_t address;
  std::uint64_t value;
};

/// Places are addresses in global memory, offsets in the constant bank, texels of a linear texture,
/// or column + row * 2^32 of a two-dimensional texture.
struct ChaseTask {
  std::uint64_t start = 0;                // chain: first place; script: base of all steps
  const std::uint32_t* script = nullptr;  // steps in units
  const StoredWord* stores = nullptr;     // made between the warm-up and the timed loads
  std::uint32_t script_length = 0;
  std::uint32_t store_count = 0;
  std::uint32_t turn = 0;
};

/// A thread's part of a shared warm-up: the start of its chain, which has every 32nd access from
/// the thread's number on, and the number of its loads.
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
  std::uint64_t texture = 0;                   // object
  std::uint64_t rehearsal_place = 0;  // chain: a word that holds its own place; script: a zero
  std::uint64_t warmup = 0;
  std::uint64_t timed = 0;
  std::uint64_t recorded = 0;
  std::uint64_t amortised = 0;
  std::uint32_t script_unit = 8;  // unit of places: bytes or texels
  std::uint32_t warps = 1;
  std::uint32_t lanes = 1;  // lanes that start together, including those of a launch beside it
  std::uint32_t script_capacity = 0;  // entries of each warp in shared memory
  std::uint32_t rounds = 2;           // a rehearsal and the measurement; unknown to the compiler
  bool in_turn = false;
  const WarmUpShare* shares = nullptr;  // [thread of the warp] of a shared warm-up
};

/// The kernel of a part; null for scripts that are shared (a warm-up needs chains) or amortised
/// (the loop would also time reading the script). A shared warm-up runs the only lane of a launch
/// by `launch.shares`: many loads at a time, in the order of the list except for neighbours.
/// results[thread] has the end of each share. The L1 is empty when the next kernel begins.
Kernel<ChaseLaunch> find_chase(ChasePath path, Order order, Part part);

/// Queues a copy of `bank_bytes` bytes, from pinned or device memory, to the bank of the chases.
cudaError_t fill_constant_bank(const void* bytes, cudaStream_t stream);

/// Addresses of the `code_blocks` blocks of code; they should be code_block_bytes apart.
cudaError_t read_code_addresses(std::uint64_t* addresses);

/// A chase by script whose accesses execute code: a place is an address to call. Timed windows
/// only. A lane's final value is the number of executed additions, or 2^24 if there were more; a
/// whole block makes code_additions.
extern const Kernel<ChaseLaunch> code_chase;

/// `launch.timed` timed windows without a load.
Kernel<ChaseLaunch> find_overhead(Overhead overhead);

}  // namespace sonde::kernels
