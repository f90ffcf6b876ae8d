// Simulated GPUs that cannot be reached any more, as one that "has fallen off the bus".
#pragma once

#include <cstdint>

namespace sonde::sim {

/// Makes the memory that keeps it, which this process shares with all that it forks from now on: a
/// worker loses the GPU, the next one cannot open it. Call it before the first fork; later calls do
/// nothing. @throws Error if there is no memory
void prepare_to_lose_gpus();

/// From now on the GPU with this die cannot be reached. The last one counts: a process and those
/// that it forks measure one GPU.
void lose_gpu(std::uint64_t seed_of_die);

bool is_gpu_gone(std::uint64_t seed_of_die);

}  // namespace sonde::sim
