// Where buffers lie in the memory that a backend allocated once. Each place is drawn anew, so that
// replicates see other physical pages.
#pragma once

#include "device/probe/probe.hpp"

#include <cstdint>
#include <optional>

namespace sonde::layout {

/// Places are multiples of this, if the memory has room for several of them. It is more than any
/// known TLB entry covers, so that every buffer begins with an entry.
inline constexpr std::uint64_t widest_place_bytes = std::uint64_t{512} << 20;

/// Offset of the place in the memory, drawn from seed and place among the multiples of
/// `widest_place_bytes`, or of a smaller power of two down to 2 MiB if there are too few.
/// @return nothing if the buffer is larger than the memory
std::optional<std::uint64_t> place_buffer(std::uint64_t seed, Place place,
                                          std::uint64_t buffer_bytes, std::uint64_t memory_bytes);

}  // namespace sonde::layout
