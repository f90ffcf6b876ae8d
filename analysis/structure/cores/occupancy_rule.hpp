// By what rule an SM takes blocks, from how many of each shape it held: registers, their units,
// slots. Input of jobs/registers.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace sonde {

/// Blocks of one shape, and how many of them an SM held at once.
struct HeldBlocks {
  int registers_per_thread = 0;
  int block_threads = 0;
  int blocks = 0;
};

/// What an SM holds. Registers of a thread are rounded up to multiples of `register_unit`, threads
/// of a block to multiples of `thread_quantum`; the registers lie in `parts` equal parts, and those
/// of a warp in one of them.
struct OccupancyRule {
  int registers_per_sm = 0;
  int register_unit = 1;
  int thread_quantum = 1;
  int parts = 1;
  int most_blocks = 0;
  int most_threads = 0;
};

/// What all rules have in common that explain every observation. A property is set if they agree
/// on it.
struct FoundRule {
  std::size_t rules = 0;  // 0: none explains them
  std::optional<int> registers_per_sm;
  std::optional<int> register_unit;
  std::optional<int> thread_quantum;
};

/// Tries all rules with units and quanta of powers of two, registers in steps of 1024, and parts of
/// 1, 2 and 4 (Wong 2010: 4 registers, 64 threads; CUDA occupancy calculator: 256 registers of a
/// warp, 4 parts since Kepler), and with the most blocks and threads that were ever seen.
FoundRule find_occupancy_rule(std::span<const HeldBlocks> held);

/// The most blocks that any shape had at once, and the most threads, in whole warps.
int most_blocks(std::span<const HeldBlocks> held);
int most_threads(std::span<const HeldBlocks> held);

}  // namespace sonde
