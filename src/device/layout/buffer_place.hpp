// Where buffers lie in the memory that a backend took once and for all: drawn anew for each place,
// so that measurements which are repeated see other physical pages.
#pragma once

#include "device/probe/probe.hpp"

#include <cstdint>
#include <optional>

namespace sonde::layout {

/// What places are multiples of, if the memory has several such multiples for the buffer: more than
/// any known TLB entry covers, so that buffers of every place begin with an entry.
inline constexpr std::uint64_t widest_place_bytes = std::uint64_t{512} << 20;

/// Offset of the place in the memory, drawn from seed and place among the multiples of
/// `widest_place_bytes`, or of a smaller power of two down to 2 MiB where that leaves too few.
/// @return nothing if the buffer is larger than the memory
std::optional<std::uint64_t> place_buffer(std::uint64_t seed, Place place,
                                          std::uint64_t buffer_bytes, std::uint64_t memory_bytes);

}  // namespace sonde::layout
