// Facts about GPUs that several parts of the program use, each with its source. A threshold that
// only one method uses stands with that method.
#pragma once

#include "base/units.hpp"

#include <cstdint>

namespace sonde {

/// CUDA programming guide: a warp has 32 threads on every GPU so far.
inline constexpr std::uint32_t warp_threads = 32;

/// cudaMalloc memory lies in pages of 2 MiB since Fermi (Mei 2014; CUDA driver API, virtual memory
/// management): buffers are aligned to them.
inline constexpr std::uint64_t large_page_bytes = 2_MiB;
/// The smallest pages that any GPU is known to translate (Wong 2010: 4 KiB on GT200).
inline constexpr std::uint64_t smallest_page_bytes = 4_KiB;

/// The smallest line or sector of any GPU (Wong 2010, Mei and Chu 2016: 32 B).
inline constexpr std::uint64_t smallest_line_bytes = 32;
/// The line of most caches since Fermi (Mei and Chu 2016).
inline constexpr std::uint64_t common_line_bytes = 128;
/// Above the longest known line of a data cache (Wong 2010: 256 B in texture, constant caches).
inline constexpr std::uint64_t longest_line_bytes = 1_KiB;
/// No miss is known to bring lines this far apart (Wong 2010: 64 B; four 128 B lines are above it).
inline constexpr std::uint64_t longest_fetch_bytes = 512;

/// Twice the largest L1 known (256 KiB of an H100's SM).
inline constexpr std::uint64_t largest_l1_bytes = 512_KiB;
/// Four times the largest L2 known (126 MB of a B200).
inline constexpr std::uint64_t largest_l2_bytes = 512_MiB;

}  // namespace sonde
