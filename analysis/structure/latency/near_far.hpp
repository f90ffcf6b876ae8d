// Near and far partitions of an L2 or a memory, from the latencies of many lines seen by many SMs.
#pragma once

#include <optional>
#include <span>
#include <vector>

namespace sonde {

struct NearFar {
  double near_cycles = 0;
  double far_cycles = 0;
  double near_fraction = 0;             // of the lines, over all SMs that see both partitions
  std::vector<double> near_by_sm = {};  // NaN for an SM that sees one
  std::vector<double> far_by_sm = {};
};

/// Every SM sees two groups of lines if they lie in two partitions of the chip (Jin et al., MICRO
/// 2024). The cut is made SM by SM, since SMs also differ by their distance from the slices: at the
/// valley of the density of latencies, if it parts the variance of the groups (without their tails)
/// as no single hump could be. The latencies beside those by SM are medians over the SMs.
/// @param latencies_of_sm for each SM the latency of every line
/// @return nullopt if less than a quarter of the SMs see two groups
std::optional<NearFar> split_near_far(std::span<const std::vector<double>> latencies_of_sm);

/// The same where the groups are partitions of the chip: least_partition_gap_cycles apart, and most
/// lines near to one SM are far from another. Slow translations part latencies, too, but alike for
/// all SMs.
std::optional<NearFar> split_sides(std::span<const std::vector<double>> latencies_of_sm);

}  // namespace sonde
