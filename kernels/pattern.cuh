// Data of streams: no zeros, because memory and links may handle zeros better than real data.
#pragma once

#include <cstdint>

namespace sonde::kernels {

/// A 4-byte word, by Knuth's factor for multiplicative hashing (2^32 / golden ratio).
__device__ inline std::uint32_t pattern_word(std::uint64_t index) {
  return static_cast<std::uint32_t>(index) * 2654435761u | 1u;
}

}  // namespace sonde::kernels
