// Latency of memory, or of a divided L2, from replicates. Where a device has two partitions, a
// replicate meets any mix of them: each is a value of its own, and the mix is none.
#pragma once

#include "analysis/replication.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sonde {

struct MemorySummary {
  ReplicateSummary all;  // of two partitions the middle, with its deviation
  struct Partitions {
    ReplicateSummary near;
    ReplicateSummary far;
  };
  std::optional<Partitions> partitions = {};
};

/// Two groups are looked for in all samples (split_near_far), or, as SMs differ in their distance
/// to both, in each replicate on its own; if a quarter of the replicates has samples of both,
/// values and deviations are those of the groups. @pre at least one replicate, each with a sample
MemorySummary summarize_memory_replicates(std::span<const std::vector<double>> samples);

/// The finding of its metric, with the partitions as modes.
Finding found_memory(std::string metric, const MemorySummary& memory);

}  // namespace sonde
