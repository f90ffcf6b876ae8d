// Load paths, and the places of buffers. Part of the seam: the probes of probe.hpp use both.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sonde {

/// How a load is issued; docs/load-paths.md says what each path is in PTX. The first
/// four load from global memory: through all levels, past the L1, through the read-only path, or
/// fetched anew each time. `constant`: from the constant bank, an address space of its own of at
/// most 64 KiB. `texture_1d`: from a linear texture. `texture_2d`: from a texture with rows of
/// texture_row_bytes, whose order of tiles the device chooses; an offset is row * texture_row_bytes
/// + place in the row. `atomic`: answered at the point of coherence. `instruction`: an access
/// executes code of an own address space, from that offset to the end of its block.
enum class LoadPath {
  all_levels,
  past_l1,
  read_only,
  uncached,
  constant,
  texture_1d,
  texture_2d,
  atomic,
  instruction
};
inline constexpr std::size_t load_path_count = 9;

std::string_view to_text(LoadPath path);

/// A block of code that a chase through `instruction` executes: eight instructions of 16 bytes.
inline constexpr std::uint64_t code_block_bytes = 128;
/// A block may be entered at multiples of this, and is executed from there to its end: at least an
/// addition and the return, 16 bytes each.
inline constexpr std::uint64_t code_entry_bytes = 32;
/// Bytes of code that an access at this offset executes.
constexpr std::uint64_t executed_bytes(std::uint64_t offset_bytes) {
  return code_block_bytes - offset_bytes % code_block_bytes;
}

/// Where a buffer lies in the memory of a device. Each number stands for a place that the device
/// draws from its seed, so that another number brings other physical pages. Buffers of one number
/// may overlap; the next probe overwrites what they held.
using Place = std::uint32_t;

}  // namespace sonde
