// Latency of memory, or of a divided L2, from replicates. With two partitions each replicate
// accesses a random mix of them: each partition has its own value, the mix has none.
#pragma once

#include "analysis/replication.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sonde {

struct MemorySummary {
  ReplicateSummary all;  // with two partitions: the middle, and its deviation
  struct Partitions {
    ReplicateSummary near;
    ReplicateSummary far;
  };
  std::optional<Partitions> partitions = {};
};

/// Looks for two groups in all samples (split_near_far), else in each replicate alone, as SMs
/// differ in their distances. If a quarter of the replicates (two at least) has samples of each
/// group, values and deviations are those of the groups. @pre at least one replicate, each with a
/// sample
MemorySummary summarize_memory_replicates(std::span<const std::vector<double>> samples);

/// The finding of a metric, with the partitions as modes.
Finding found_memory(std::string metric, const MemorySummary& memory);

}  // namespace sonde
