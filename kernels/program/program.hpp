// Programs of loads and stores as data (Dai et al., DAC 2016): the warps of one block on each
// wanted SM run them, some through the L1, others past it.
#pragma once

#include "kernels/placement.hpp"

#include <cstdint>

namespace sonde::kernels {

/// Most loads of a pass: their values, elements and bases are in registers.
inline constexpr int most_program_loads = 12;

/// How a load uses the L1 (PTX ISA, ld): plain, past it, or through it with a hint.
enum class L1Use : std::uint32_t { plain, past, no_allocate, evict_first };

/// A divisor; its inverse is (2^32 - 1) / value.
struct Divisor {
  std::uint32_t value = 1;
  std::uint32_t inverse = ~0u;
};

/// Coefficients of the element that a thread accesses, relative to ProgramLaunch::base.
struct ProgramAccess {
  std::uint32_t first = 0;
  std::uint32_t per_block_x = 0;
  std::uint32_t per_block_y = 0;
  std::uint32_t per_thread_x = 0;
  std::uint32_t per_thread_y = 0;
  std::uint32_t per_outer = 0;
  std::uint32_t per_inner = 0;
  std::uint32_t drawn_elements = 0;  // range of the random part; 0: none
  std::uint32_t drawn_step = 1;
  Divisor drawn_threads;        // neighbours that draw the same number
  std::uint32_t draw_hash = 0;  // of the program's seed and the draw
};

/// Passes of a loop: first + per_block * column of the block + per_warp * warp of the block.
struct ProgramPasses {
  std::int32_t first = 1;
  std::int32_t per_block = 0;
  std::int32_t per_warp = 0;
};

/// Counts of a warp, besides its LaneResult.
struct ProgramCounts {
  std::uint32_t accesses = 0;
  std::uint32_t windows = 0;
  std::uint64_t issue_cycles = 0;  // of timed loads
};

/// One kernel of a program. The body has loads first, then stores; bit i of a mask means body[i].
struct ProgramLaunch {
  Placement placement;
  std::uint64_t base = 0;            // address of element 0; all accessed elements are 0
  LaneResult* results = nullptr;     // [rank * warps + warp]; final_value: sum of all threads'
                                     // elements modulo 2^32, and of the loaded zeros
  ProgramCounts* counts = nullptr;   // [rank * warps + warp]
  std::uint16_t* records = nullptr;  // [(rank * warps + warp) * recorded]
  std::uint32_t recorded = 0;        // windows that a warp can record; 0: loads are not timed
  std::uint32_t warps = 1;           // of the block on an SM
  std::uint32_t warp_accesses = 0;   // a warp ends after the pass that reaches this number
  Divisor grid_x;
  std::uint32_t blocks = 1;
  Divisor block_x;
  Divisor block_threads;
  std::uint32_t block_warps = 1;
  std::uint32_t cached_warps = 0;   // the first warps of each block that load through the L1 ...
  std::uint32_t cached_blocks = 0;  // ... and the first blocks of an SM, all of whose warps do
  L1Use bypass = L1Use::past;
  ProgramPasses outer;
  ProgramPasses inner;
  std::uint32_t loads = 1;
  std::uint32_t in_every = 1;  // accesses in every pass of the inner loop, ...
  std::uint32_t in_first = 0;  // ... only in the first, ...
  std::uint32_t in_last = 0;   // ... and only in the last
  std::uint32_t waits = 0;     // loads that wait for the loads before them
  ProgramAccess body[most_program_loads];
};

/// Size of the sinks and of the records of all warps.
std::uint64_t program_shared_bytes(const ProgramLaunch& launch);

/// For one block of `warps` warps on every wanted SM. Warp s plays the warps s, s + warps, ... of
/// the SM's blocks (numbers rank + k * wanted SMs), again and again. Null for too many loads.
Kernel<ProgramLaunch> find_program(const ProgramLaunch& launch);

}  // namespace sonde::kernels
