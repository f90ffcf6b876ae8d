// The probe of the bandwidth of the constant caches, and which words each of its threads loads.
// Part of the seam: probe.hpp lists it among all others.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <vector>

namespace sonde {

inline constexpr std::uint64_t constant_bank_bytes = 64 * 1024;  // CUDA programming guide, table 24

/// Independent loads from the constant bank, by one block on each SM, or by two on the first of
/// them, all at once (Wong 2010, figure 19). The words that lie `step_bytes` apart in the first
/// `footprint_bytes` of the bank are divided among the warps x warp_threads threads of a block:
/// each goes round its own piece of consecutive words, with constant_loads_in_flight loads under
/// way. So a block reads the whole footprint before it reads a word again. The threads of each
/// block begin elsewhere in their pieces (constant_piece), so that no block reads just what another
/// one has read.
///
/// One lane for each SM: elapsed_cycles of all loads of its blocks, and their number. An untimed
/// round through all pieces comes first.
struct ConstantStreamProbe {
  std::vector<int> sms;  // distinct
  int warps = 1;         // of each block
  int warp_threads = 1;  // threads of each warp that load
  std::uint64_t footprint_bytes = 0;
  std::uint64_t step_bytes = 0;  // a multiple of 4
  std::uint64_t accesses = 0;    // of each thread, a multiple of constant_loads_in_flight
  int doubled_sms = 0;           // that run two blocks: the first of `sms`

  int blocks_on(std::size_t place) const {
    return place < static_cast<std::size_t>(doubled_sms) ? 2 : 1;
  }
};
inline constexpr std::uint64_t constant_loads_in_flight = 8;

/// The words of one thread, counted in steps from the beginning of the bank.
struct ConstantPiece {
  std::uint64_t first = 0;
  std::uint64_t words = 0;
  std::uint64_t start = 0;  // where in the piece the thread begins

  /// Offset in the bank of its load number `access`. @param step_bytes of the probe
  std::uint64_t offset_bytes(std::uint64_t access, std::uint64_t step_bytes) const {
    return (first + (start + access) % words) * step_bytes;
  }
};

/// The piece of one thread of a block on `sm`. @param thread 0 .. warps x warp_threads - 1, warp
/// after warp @param block of the SM: 0 or 1
ConstantPiece constant_piece(const ConstantStreamProbe& probe, int sm, int thread, int block = 0);

/// Untimed loads of each thread: a round through the piece, in whole rows of loads in flight.
std::uint64_t constant_warmup_accesses(const ConstantStreamProbe& probe);

nlohmann::json describe(const ConstantStreamProbe& probe);

/// @throws Error naming the field
void check(const ConstantStreamProbe& probe, int sm_count);

}  // namespace sonde
