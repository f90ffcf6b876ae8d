// Per-SM maps. They belong to the die: two healthy GPUs differ in every place of them, so devices
// are compared by what does not depend on which SM is which; within a device, an SM that stands
// apart from all others is named.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace sonde {

/// Invariants of a map.
struct MapSummary {
  double median = 0;
  double worst_over_median = 0;  // (worst - median) / |median|, >= 0
  std::size_t modes = 0;         // groups of SMs with a latency of their own
};

enum class WorseSide { high, low };

/// @pre values not empty
MapSummary summarize_map(std::span<const double> values, WorseSide worse);

/// Sorted, less its median, as fractions of it, at `points` equidistant quantiles.
std::vector<double> sorted_profile(std::span<const double> values, std::size_t points);

/// Mean distance of each profile from the pointwise median of all (the Wasserstein-1 distance of
/// the two distributions, in fractions of the median). @pre all of one length
std::vector<double> profile_distances(const std::vector<std::vector<double>>& profiles);

/// An SM that is worse than all others of its device.
struct OutlyingSm {
  int sm = 0;
  double value = 0;
  double deviation_fraction = 0;  // from the median of the map
  double score = 0;
};

/// SMs on the worse side whose robust score passes the cut calibrated for so many SMs, which
/// deviate by `tolerance` and by 1.5 steps of `resolution`, and which stand apart: at most 3 % of
/// the SMs (two at least, a TPC), and nearer to each other than to the rest. A far GPC is a group
/// of many and no finding. Empty for fewer than 9 SMs.
std::vector<OutlyingSm> outlying_sms(std::span<const double> values, WorseSide worse,
                                     double resolution, double tolerance, double floor_fraction);

}  // namespace sonde
