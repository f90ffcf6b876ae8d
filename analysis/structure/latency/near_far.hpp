// Near and far partitions of an L2 or a memory, from latencies of many lines seen by many SMs.
#pragma once

#include <optional>
#include <span>
#include <vector>

namespace sonde {

struct NearFar {
  double near_cycles = 0;
  double far_cycles = 0;
  double near_fraction = 0;  // of the lines; median over the SMs that see both partitions
  std::vector<double> near_by_sm = {};  // NaN for an SM that sees only one group
  std::vector<double> far_by_sm = {};
};

/// Every SM sees two groups of lines if the lines lie in two partitions of the chip (Jin et al.,
/// MICRO 2024). Each SM has its own cut, because SMs differ in their distance to the slices: at the
/// valley of the density, if the two groups (without tails) explain more of the variance than
/// halves of one group could. Single values are medians over the SMs.
/// @param latencies_of_sm latency of every line, for each SM
/// @return nullopt if less than a quarter of the SMs see two groups
std::optional<NearFar> split_near_far(std::span<const std::vector<double>> latencies_of_sm);

/// The same, if the groups are partitions of the chip: least_partition_gap_cycles apart, and most
/// lines near to one SM are far from another. Slow translations also give two groups, but equal
/// ones for all SMs.
std::optional<NearFar> split_sides(std::span<const std::vector<double>> latencies_of_sm);

}  // namespace sonde
