// Cuts at a valley in the density of latencies, and checks how much variance the cut explains.
#include "analysis/structure/latency/near_far.hpp"

#include "analysis/statistics.hpp"
#include "analysis/structure/latency/latency_classes.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>

namespace sonde {
namespace {

/// A normal distribution cut in the middle explains 0.64 of its variance, a uniform one 0.75.
constexpr double least_gap_explained = 0.82;
/// Both partitions serve a fair part of the lines, by design of the hash that distributes them.
constexpr double least_fraction = 0.1;
/// Standard deviations that a group reaches; beyond lies a tail (refreshes and row conflicts of
/// DRAM), which must not hide the groups.
constexpr double group_reach = 3;
/// SMs in the middle lie equally far from both partitions (on an H200 half of them, for L2 hits).
constexpr double least_sm_fraction = 0.25;
constexpr std::size_t grid_points = 128;

/// A latency and its number; latencies are whole cycles, so few values differ.
struct Count {
  double cycles = 0;
  double count = 0;
};

std::vector<Count> count_equal(const std::vector<double>& values) {
  std::unordered_map<double, double> counts;
  for (double value : values) ++counts[value];
  std::vector<Count> sorted;
  sorted.reserve(counts.size());
  for (const auto& [cycles, count] : counts) sorted.push_back({cycles, count});
  std::ranges::sort(sorted, {}, &Count::cycles);
  return sorted;
}

/// Density of the values on an even grid from the smallest to the largest: Epanechnikov kernel,
/// bandwidth by Silverman's rule (Silverman 1986, eq. 3.31, and the kernel's factor of 2.34).
struct Density {
  std::vector<double> at;
  std::vector<double> height;
};

Density estimate_density(const std::vector<double>& values) {
  const std::vector<Count> counts = count_equal(values);
  const double all = static_cast<double>(values.size());
  double mean = 0;
  for (const auto& [cycles, count] : counts) mean += cycles * count / all;
  double variance = 0;
  for (const auto& [cycles, count] : counts) {
    variance += count * (cycles - mean) * (cycles - mean) / all;
  }
  const double quartiles = quantile(values, 0.75) - quantile(values, 0.25);
  const double deviation = std::sqrt(variance);
  const double scale = quartiles > 0 ? std::min(deviation, quartiles / 1.34) : deviation;
  const double reach = 2.34 * 0.9 * scale * std::pow(all, -0.2);

  Density density;
  for (std::size_t i = 0; i < grid_points; ++i) {
    const double at = std::lerp(counts.front().cycles, counts.back().cycles,
                                static_cast<double>(i) / (grid_points - 1));
    double height = 0;
    for (const auto& [cycles, count] : counts) {
      const double distance = (cycles - at) / reach;
      height += count * std::max(0.0, 1 - distance * distance);
    }
    density.at.push_back(at);
    density.height.push_back(height);
  }
  return density;
}

/// The lowest point of the density between its highest peak and the most prominent other peak.
std::optional<double> find_valley(const Density& density) {
  const std::vector<double>& height = density.height;
  const auto top =
      static_cast<std::size_t>(std::distance(height.begin(), std::ranges::max_element(height)));
  double best_prominence = 0;
  std::optional<double> valley;
  for (std::size_t i = 0; i < height.size(); ++i) {
    const auto [first, last] = std::minmax(i, top);
    const auto lowest = std::min_element(height.begin() + static_cast<std::ptrdiff_t>(first),
                                         height.begin() + static_cast<std::ptrdiff_t>(last) + 1);
    const double prominence = height[i] - *lowest;
    if (prominence <= best_prominence) continue;
    best_prominence = prominence;
    valley = density.at[static_cast<std::size_t>(std::distance(height.begin(), lowest))];
  }
  return valley;
}

struct Group {
  double center = 0;
  std::vector<double> members;  // without the tails
};

Group without_tails(std::vector<double> values) {
  Group group{median(values), {}};
  const double reach = group_reach * normal_scale * median_absolute_deviation(values);
  for (double value : values) {
    // Latencies are whole cycles: a group may have no deviation.
    if (std::abs(value - group.center) <= std::max(reach, 1.0)) group.members.push_back(value);
  }
  return group;
}

double explained_fraction(const Group& near, const Group& far) {
  double within = 0;
  for (const Group* group : {&near, &far}) {
    for (double value : group->members) {
      within += (value - group->center) * (value - group->center);
    }
  }
  const double near_count = static_cast<double>(near.members.size());
  const double far_count = static_cast<double>(far.members.size());
  const double distance = far.center - near.center;
  const double between = near_count * far_count / (near_count + far_count) * distance * distance;
  return between / (between + within);
}

/// The two groups that one SM sees.
std::optional<NearFar> split_lines(const std::vector<double>& latencies) {
  const auto [low, high] = std::ranges::minmax_element(latencies);
  if (latencies.size() < 2 || *low == *high) return std::nullopt;
  const auto valley = find_valley(estimate_density(latencies));
  if (!valley) return std::nullopt;
  std::vector<double> below, above;
  for (double latency : latencies) (latency < *valley ? below : above).push_back(latency);
  const double near_fraction =
      static_cast<double>(below.size()) / static_cast<double>(latencies.size());
  if (std::min(near_fraction, 1 - near_fraction) < least_fraction) return std::nullopt;
  const Group near = without_tails(std::move(below));
  const Group far = without_tails(std::move(above));
  if (explained_fraction(near, far) < least_gap_explained) return std::nullopt;
  return NearFar{
      .near_cycles = near.center, .far_cycles = far.center, .near_fraction = near_fraction};
}

/// True if most lines near to one SM are far from the other. False if a bound is NaN (one group).
bool are_on_two_sides(const std::vector<double>& one, double bound_of_one,
                      const std::vector<double>& other, double bound_of_other) {
  constexpr double most_lines = 0.8;
  double near = 0;
  double swapped = 0;
  for (std::size_t line = 0; line < one.size(); ++line) {
    if (!(one[line] < bound_of_one)) continue;
    ++near;
    if (other[line] > bound_of_other) ++swapped;
  }
  return near > 0 && swapped >= most_lines * near;
}

}  // namespace

std::optional<NearFar> split_near_far(std::span<const std::vector<double>> latencies_of_sm) {
  NearFar result;
  std::vector<double> near_cycles, far_cycles, near_fractions;
  for (const std::vector<double>& latencies : latencies_of_sm) {
    const auto split = split_lines(latencies);
    result.near_by_sm.push_back(split ? split->near_cycles : NAN);
    result.far_by_sm.push_back(split ? split->far_cycles : NAN);
    if (!split) continue;
    near_cycles.push_back(split->near_cycles);
    far_cycles.push_back(split->far_cycles);
    near_fractions.push_back(split->near_fraction);
  }
  const double sms_in_two = static_cast<double>(near_cycles.size());
  const double all_sms = static_cast<double>(latencies_of_sm.size());
  if (near_cycles.empty() || sms_in_two < least_sm_fraction * all_sms) return std::nullopt;
  result.near_cycles = median(near_cycles);
  result.far_cycles = median(far_cycles);
  result.near_fraction = median(near_fractions);
  return result;
}

std::optional<NearFar> split_sides(std::span<const std::vector<double>> latencies_of_sm) {
  auto groups = split_near_far(latencies_of_sm);
  if (!groups || groups->far_cycles - groups->near_cycles < least_partition_gap_cycles) return {};
  const auto bound = [&](std::size_t sm) {
    return (groups->near_by_sm[sm] + groups->far_by_sm[sm]) / 2;
  };
  for (std::size_t one = 0; one < latencies_of_sm.size(); ++one) {
    for (std::size_t other = 0; other < latencies_of_sm.size(); ++other) {
      if (are_on_two_sides(latencies_of_sm[one], bound(one), latencies_of_sm[other], bound(other)))
        return groups;
    }
  }
  return {};
}

}  // namespace sonde
