// Finds the rule by which an SM takes blocks, from the blocks of each shape that it held at once.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace sonde {

/// A shape of blocks, and the number of them that an SM held at once.
struct HeldBlocks {
  int registers_per_thread = 0;
  int block_threads = 0;
  int blocks = 0;
};

/// Limits of an SM. Registers of a thread are rounded up to multiples of `register_unit`, threads
/// of a block to multiples of `thread_quantum`. The register file has `parts` equal parts; the
/// registers of a warp lie in one part.
struct OccupancyRule {
  int registers_per_sm = 0;
  int register_unit = 1;
  int thread_quantum = 1;
  int parts = 1;
  int most_blocks = 0;
  int most_threads = 0;
};

/// Common properties of all rules that explain every observation; set if the rules agree.
struct FoundRule {
  std::size_t rules = 0;  // 0: no rule explains them
  std::optional<int> registers_per_sm;
  std::optional<int> register_unit;
  std::optional<int> thread_quantum;
};

/// Tries all rules with units and quanta of powers of two, registers in steps of 1024, 1, 2 or 4
/// parts, and the largest number of blocks and threads seen (Wong 2010: 4 registers, 64 threads;
/// CUDA occupancy calculator: 256 registers of a warp, 4 parts since Kepler).
FoundRule find_occupancy_rule(std::span<const HeldBlocks> held);

/// The most blocks, and the most threads in whole warps, of any shape.
int most_blocks(std::span<const HeldBlocks> held);
int most_threads(std::span<const HeldBlocks> held);

}  // namespace sonde
