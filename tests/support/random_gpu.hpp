// GPUs that nobody built: what inference gives back of them it cannot have been tuned for.
#pragma once

#include <cstdint>
#include <string>

namespace sonde::test {

/// The model file (docs/simulated-gpus.md) of a plausible GPU drawn from a seed. What is left out
/// because no load could show it: page walks need an L2 that holds two lines of 512 bytes for every
/// TLB entry, and where pages lie anywhere, physical caches have no remainder as index.
std::string draw_gpu(std::uint64_t seed);

}  // namespace sonde::test
