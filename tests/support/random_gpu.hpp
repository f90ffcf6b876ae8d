// GPUs that nobody built: what inference gives back of them it cannot have been tuned for.
#pragma once

#include <cstdint>
#include <string>

namespace sonde::test {

/// The model file (docs/simulated-gpus.md) of a plausible GPU drawn from a seed: what is drawn and
/// what is left out stands in docs/methods/confidence.md. Ranges are widened, never narrowed.
std::string draw_gpu(std::uint64_t seed);

}  // namespace sonde::test
