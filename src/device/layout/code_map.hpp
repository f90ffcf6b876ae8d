// Where the blocks of code lie that an instruction chase executes, by the addresses of functions
// that a backend reads.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace sonde::layout {

/// Blocks of code_block_bytes, one after the other, each at a multiple of its size. The last one is
/// for the rehearsal alone.
struct CodeMap {
  std::uint64_t first_address = 0;
  std::uint64_t blocks = 0;  // without the one for the rehearsal
  std::uint64_t rehearsal_address = 0;
  std::uint64_t additions_per_access = 0;  // of a whole block
  std::uint64_t return_offset_bytes = 0;  // of the return in each block; no access may lie after it
};

/// @param addresses of the functions that are the blocks, in any order; each is additions and, as
///   its last instruction, a return
/// @throws DeviceError if they do not lie one block apart
CodeMap map_code(std::vector<std::uint64_t> addresses, std::uint64_t instruction_bytes);

/// The final value of a lane after so many accesses round its list: the executed additions, counted
/// in a float up to 2^24.
/// @throws DeviceError if an access would enter a block behind its return
std::uint64_t counted_additions(const CodeMap& map, std::span<const std::uint64_t> offsets_bytes,
                                std::uint64_t accesses);

}  // namespace sonde::layout
