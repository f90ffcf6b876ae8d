// GPUs that nobody built: what inference gives back of them it cannot have been tuned for.
#pragma once

#include <cstdint>
#include <string>

namespace sonde::test {

/// The model file (docs/simulated-gpus.md) of a plausible GPU drawn from a seed. What is left out:
/// TLBs of more entries than there are KiB in the L2, since page chases need a line for each; a
/// first TLB that reaches less far than the L2, or whose entries are larger than those behind it;
/// physical caches with a remainder as index where pages lie anywhere.
std::string draw_gpu(std::uint64_t seed);

}  // namespace sonde::test
