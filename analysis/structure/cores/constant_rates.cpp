// Sums and comparisons of rates; the thresholds allow for the cost of starting a launch.
#include "analysis/structure/cores/constant_rates.hpp"

#include "analysis/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace sonde {
namespace {

/// Blocks start within a microsecond of each other; a launch lasts about twenty.
constexpr double plateau_tolerance = 0.07;
constexpr double least_span = 1.5;
/// Larger ratios count as equal rates, smaller ones than other_share as different; else unclear.
constexpr double same_share = 0.9;
constexpr double other_share = 0.8;

enum class Comparison { same, more, unclear };

/// Compares the rate of a group alone with that of all SMs.
Comparison compare(double in_group, double in_all) {
  if (!std::isfinite(in_group) || !(in_all > 0)) return Comparison::unclear;
  if (in_all >= same_share * in_group) return Comparison::same;
  return in_all <= other_share * in_group ? Comparison::more : Comparison::unclear;
}

}  // namespace

double total_bytes_per_cycle(std::span<const LaneTrace> lanes, double load_bytes) {
  double loads = 0;
  std::uint64_t longest_cycles = 0;
  for (const LaneTrace& lane : lanes) {
    loads += static_cast<double>(lane.accesses);
    longest_cycles = std::max(longest_cycles, lane.elapsed_cycles);
  }
  if (longest_cycles == 0) return std::numeric_limits<double>::quiet_NaN();
  return loads * load_bytes / static_cast<double>(longest_cycles);
}

std::optional<double> find_plateau(std::span<const double> blocks, std::span<const double> rates) {
  std::optional<double> longest;
  for (std::size_t first = rates.size(); first-- > 0;) {
    const auto of_plateau = rates.subspan(first);
    const double middle = median(std::vector<double>(of_plateau.begin(), of_plateau.end()));
    const bool level = std::ranges::all_of(of_plateau, [&](double rate) {
      return std::abs(rate - middle) <= plateau_tolerance * middle;
    });
    if (level && blocks.back() >= least_span * blocks[first]) longest = blocks[first];
  }
  return longest;
}

std::optional<std::string_view> find_bottleneck(const GroupRates& rates) {
  const bool beyond_tpc = compare(rates.in_tpc, rates.in_all) == Comparison::more;
  if (beyond_tpc && !std::isfinite(rates.in_gpc)) return "gpc or device";
  struct Group {
    std::string_view name;
    double rate;
  };
  for (const Group& group : {Group{"sm", rates.alone}, Group{"tpc", rates.in_tpc},
                             Group{"gpc", rates.in_gpc}, Group{"device", rates.in_all}}) {
    const Comparison comparison = compare(group.rate, rates.in_all);
    if (comparison == Comparison::same) return group.name;
    if (comparison == Comparison::unclear) return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace sonde
