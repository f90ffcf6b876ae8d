// What a run takes for each GPU, as measured: sizes are those of one simulated H200, most that its
// processes and files ever took together. Real GPUs write the same kinds of traces.
#pragma once

#include "base/units.hpp"

#include <cstdint>
#include <string_view>

namespace sonde {

struct Demand {
  std::uint64_t disk_bytes = 0;    // for one GPU: its shard and the run file at the same time
  std::uint64_t memory_bytes = 0;  // for one rank, with its worker
};

/// `sonde run --backend sim:h200`, 2026-11-22: quick 5.9 MB on the disk and 83 MB of memory,
/// standard 63 MB and 553 MB. Twice that on the disk, since GPUs with more levels take more
/// probes; 512 MB more memory for CUDA's own in the worker.
inline Demand predict_demand(std::string_view suite) {
  if (suite == "quick") return {.disk_bytes = 12_MiB, .memory_bytes = 600_MiB};
  return {.disk_bytes = 128_MiB, .memory_bytes = 1100_MiB};
}

}  // namespace sonde
