// How a load path names the places of a buffer, and which of its words may stand for each other.
// The words of a chase and the tasks of its lanes are filled with such places.
#pragma once

#include "device/layout/chain.hpp"

namespace sonde::layout {

/// What a texel of a chase through a texture holds: the next place.
inline constexpr std::uint64_t texel_bytes = 8;

/// Words are 8 bytes, four in a sector; in the constant bank 4 bytes, eight in a sector; in a
/// two-dimensional texture only pairs of texels surely lie in one sector (its 32 B hold 16 B of two
/// rows).
WordLayout word_layout(LoadPath path);

/// What a word holds that leads to `offset_bytes`: an address in global memory, an offset in the
/// constant bank, a texel of a linear texture, column + row * 2^32 of one with two dimensions.
/// @param base_address of the buffer, where places are addresses
std::uint64_t place_of(LoadPath path, std::uint64_t base_address, std::uint64_t offset_bytes);

/// Where the timed loop is rehearsed on a path whose places are none of addresses: so far behind
/// the probe's buffer that they share no line, and no tile of any order.
struct RehearsalPlace {
  std::uint64_t offset_bytes = 0;  // 0 for other paths
  std::uint64_t span_bytes = 0;    // of the buffer, with this place if it is in it
};
RehearsalPlace rehearsal_behind(LoadPath path, std::uint64_t buffer_bytes);

/// The step of a script in what the places of the path count.
std::uint32_t script_unit(LoadPath path, std::uint32_t unit_bytes);

/// Whether places are texels.
bool is_texture(LoadPath path);

/// Whether places are addresses of plain memory: loads of any cache operator, and atomics.
bool has_addresses(LoadPath path);

/// The last word of the constant bank that no chain goes through: there the timed loop is
/// rehearsed. In a bank that is taken as a whole it is the last word.
/// @param taken_offsets_bytes of the words that chains go through
std::uint64_t free_bank_offset(const std::vector<std::uint64_t>& taken_offsets_bytes);

}  // namespace sonde::layout
