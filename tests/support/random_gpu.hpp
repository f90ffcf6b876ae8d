// GPUs that nobody built: what inference gives back of them it cannot have been tuned for.
#pragma once

#include <cstdint>
#include <string>

namespace sonde::test {

/// Where simulated GPUs come from (docs/methods/confidence.md).
enum class Population { papers, plausible, odd };

/// The model file (docs/simulated-gpus.md) of an odd GPU: any that the simulator can express.
std::string draw_gpu(std::uint64_t seed);

/// The model file of a GPU that could be bought: of a generation from GT200 to Blackwell, within
/// the ranges of plausible_ranges.cpp.
std::string draw_plausible_gpu(std::uint64_t seed);

}  // namespace sonde::test
