// Where loads go: the ways into the memory hierarchy, and where in memory a buffer lies. Part of
// the seam: the probes of probe.hpp are made of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sonde {

/// The ways into the hierarchy. docs/load-paths.md says what each is in CUDA and in HIP. Loads of
/// global memory: through all levels, past the L1, through the read-only path, fetched anew each
/// time. `constant`: the constant bank, a space of its own of at most 64 KiB. `texture_1d`: fetches
/// from a linear texture. `texture_2d`: from one of rows of texture_row_bytes in whatever order of
/// tiles the device keeps; an offset is row * texture_row_bytes + place in the row. `atomic`:
/// answered at the point of coherence. `instruction`: an access executes code from that offset, in
/// a space of its own, to the end of its block (device/probe/code_blocks.hpp).
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

/// Where in the memory of a device a buffer lies: each number stands for a place that the device
/// drew from its seed, so that other numbers bring other physical pages. Buffers of one number may
/// overlap; what they held is lost with the next probe.
using Place = std::uint32_t;

}  // namespace sonde
