// Separates the samples of each replicate by partition.
#include "analysis/structure/latency/memory_replicates.hpp"

#include "analysis/structure/latency/latency_classes.hpp"
#include "analysis/structure/latency/near_far.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace sonde {
namespace {

/// Fewer replicates with both partitions may be chance.
constexpr double least_share_of_replicates = 0.25;
constexpr std::size_t least_replicates = 2;

/// Samples of each replicate by partition; replicates without samples there are left out.
struct Parted {
  std::vector<std::vector<double>> near;
  std::vector<std::vector<double>> far;

  void add(const std::vector<double>& samples, const NearFar& partitions) {
    const double threshold_cycles = (partitions.near_cycles + partitions.far_cycles) / 2;
    std::vector<double> sooner;
    std::vector<double> later;
    for (const double cycles : samples) {
      (cycles <= threshold_cycles ? sooner : later).push_back(cycles);
    }
    if (!sooner.empty()) near.push_back(std::move(sooner));
    if (!later.empty()) far.push_back(std::move(later));
  }
};

/// Two partitions; closer groups lie in one partition (pages and channels of DRAM).
std::optional<NearFar> split_partitions(const std::vector<double>& samples) {
  const auto groups = split_near_far({&samples, 1});
  const bool far_apart =
      groups && groups->far_cycles - groups->near_cycles >= least_partition_gap_cycles;
  return far_apart ? groups : std::nullopt;
}

/// All samples together show the partitions best, unless SMs differ too much in their distance;
/// then each replicate is split alone.
Parted part(std::span<const std::vector<double>> samples) {
  std::vector<double> pooled;
  for (const auto& of_replicate : samples) {
    pooled.insert(pooled.end(), of_replicate.begin(), of_replicate.end());
  }
  const auto of_all = split_partitions(pooled);
  Parted parted;
  for (const std::vector<double>& of_replicate : samples) {
    const auto partitions = of_all ? of_all : split_partitions(of_replicate);
    if (partitions) parted.add(of_replicate, *partitions);
  }
  return parted;
}

/// Standard deviation of the mean of two independent values.
double of_middle(double one, double other) { return std::hypot(one, other) / 2; }

}  // namespace

MemorySummary summarize_memory_replicates(std::span<const std::vector<double>> samples) {
  MemorySummary summary{.all = summarize_replicates(samples)};
  const Parted parted = part(samples);
  const auto wanted = least_share_of_replicates * static_cast<double>(samples.size());
  const std::size_t both = std::min(parted.near.size(), parted.far.size());
  if (both < least_replicates || static_cast<double>(both) < wanted) return summary;
  const MemorySummary::Partitions partitions{.near = summarize_replicates(parted.near),
                                             .far = summarize_replicates(parted.far)};
  const auto& [near, far] = partitions;
  summary.all.center = (near.center + far.center) / 2;
  summary.all.repeatability = of_middle(near.repeatability, far.repeatability);
  summary.all.reproducibility = of_middle(near.reproducibility, far.reproducibility);
  summary.partitions = partitions;
  return summary;
}

Finding found_memory(std::string metric, const MemorySummary& memory) {
  Finding finding = found_replicated(std::move(metric), memory.all);
  if (memory.partitions) {
    finding.modes = {memory.partitions->near.center, memory.partitions->far.center};
    finding.reason = "the middle between the near and the far partition";
  }
  return finding;
}

}  // namespace sonde
