// How a path names the places of a buffer, and how its words may stand for each other: pure, no
// GPU.
#pragma once

#include "device/cuda/chain.hpp"
#include "device/probe.hpp"
#include "kernels/chase.hpp"

#include <cstdint>

namespace sonde::cuda {

/// @throws Error for `instruction`, whose blocks are not loaded
kernels::ChasePath to_chase_path(LoadPath path);

/// Words are 8 bytes, four in a sector; in the constant bank 4 bytes, eight in a sector; in a
/// two-dimensional texture only pairs of texels surely lie in one sector (its 32 B hold 16 B of two
/// rows).
WordLayout word_layout(LoadPath path);

/// What a word holds that leads to `offset_bytes` (kernels::ChaseTask says how places look).
/// @param base_address of the buffer, where places are addresses
std::uint64_t place_of(LoadPath path, std::uint64_t base_address, std::uint64_t offset_bytes);

/// The step of a script in what the places of the path count.
std::uint32_t script_unit(LoadPath path, std::uint32_t unit_bytes);

/// Whether places are addresses of plain memory: ca, cg, nc, cv, atomic.
bool has_addresses(LoadPath path);

/// The word of the constant bank farthest from all that the words visit: there the timed loop is
/// rehearsed. In a bank that is visited as a whole it is the last word.
/// @param taken_offsets_bytes of the words that chains go through
std::uint64_t free_bank_offset(const std::vector<std::uint64_t>& taken_offsets_bytes);

}  // namespace sonde::cuda
