// Blocks of code, as chases through LoadPath::instruction execute them.
#pragma once

#include <cstdint>

namespace sonde {

/// Eight instructions of 16 bytes.
inline constexpr std::uint64_t code_block_bytes = 128;

/// A block may be entered at multiples of this, and is executed from there to its end: at least an
/// addition and the return, 16 bytes each.
inline constexpr std::uint64_t code_entry_bytes = 32;

/// Bytes of code that an access at this offset executes.
constexpr std::uint64_t executed_bytes(std::uint64_t offset_bytes) {
  return code_block_bytes - offset_bytes % code_block_bytes;
}

}  // namespace sonde
