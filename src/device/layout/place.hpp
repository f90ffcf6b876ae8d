// The place of a word is the value by which a load of a path finds it: an address, an offset or a
// texel. The words of a chase and the tasks of its lanes hold places.
#pragma once

#include "device/layout/chain.hpp"

namespace sonde::layout {

/// Bytes of a texel, which holds the next place.
inline constexpr std::uint64_t texel_bytes = 8;

/// Words are 8 bytes, four in a sector; in the constant bank 4 bytes, eight in a sector; in a
/// two-dimensional texture only pairs of texels surely lie in one sector (its 32 B hold 16 B of two
/// rows).
WordLayout word_layout(LoadPath path);

/// The place of an offset: an address in global memory, an offset in the constant bank, a texel of
/// a linear texture, column + row * 2^32 of a two-dimensional one.
/// @param base_address of the buffer, where places are addresses
std::uint64_t place_of(LoadPath path, std::uint64_t base_address, std::uint64_t offset_bytes);

/// Where the timed loop is rehearsed (run before it is timed, so that its code is cached) on a path
/// through textures: so far behind the probe's buffer that they share no line and no tile.
struct RehearsalPlace {
  std::uint64_t offset_bytes = 0;  // 0 for other paths
  std::uint64_t span_bytes = 0;    // of the buffer and, if it is in it, this place
};
RehearsalPlace rehearsal_behind(LoadPath path, std::uint64_t buffer_bytes);

/// The unit of a script, in units of the path's places.
std::uint32_t script_unit(LoadPath path, std::uint32_t unit_bytes);

/// True if places are texels.
bool is_texture(LoadPath path);

/// True if places are addresses: plain loads of any cache operator, and atomics.
bool has_addresses(LoadPath path);

/// Where the timed loop is rehearsed in the constant bank: the last word that no chain goes
/// through, or the last word of all if there is none.
/// @param taken_offsets_bytes of the words that chains go through
std::uint64_t free_bank_offset(const std::vector<std::uint64_t>& taken_offsets_bytes);

}  // namespace sonde::layout
