// See near_far.hpp.
#include "analysis/structure/near_far.hpp"

#include "analysis/statistics.hpp"

#include <algorithm>

namespace sonde {
namespace {

/// A normal spread cut at its middle explains 0.64 of its variance, a uniform one 0.75.
constexpr double least_explained = 0.82;
/// Both halves serve a fair part of the lines, by design of the hash that deals them.
constexpr double least_fraction = 0.1;
/// The valley: the middle third between the centers holds fewer than a uniform spread would (1/4
/// of the values between the quartile centers) by far.
constexpr double most_in_valley = 0.1;

bool has_two_humps(const TwoModes& split, std::span<const double> values) {
  const double count = static_cast<double>(values.size());
  const double smaller = static_cast<double>(std::min(split.low.count, split.high.count));
  if (split.explained_fraction < least_explained || smaller < least_fraction * count) return false;
  const double third = (split.high.center - split.low.center) / 3;
  const auto in_valley = std::count_if(values.begin(), values.end(), [&](double value) {
    return value > split.low.center + third && value < split.high.center - third;
  });
  return static_cast<double>(in_valley) <= most_in_valley * count;
}

}  // namespace

std::optional<NearFar> split_near_far(std::span<const std::vector<double>> latencies_of_sm) {
  std::vector<double> near_cycles, far_cycles, near_fractions;
  for (const std::vector<double>& latencies : latencies_of_sm) {
    if (latencies.size() < 2) continue;
    const TwoModes split = split_in_two(latencies);
    if (!has_two_humps(split, latencies)) continue;
    near_cycles.push_back(split.low.center);
    far_cycles.push_back(split.high.center);
    near_fractions.push_back(static_cast<double>(split.low.count) /
                             static_cast<double>(latencies.size()));
  }
  if (near_cycles.empty() || 2 * near_cycles.size() < latencies_of_sm.size()) return std::nullopt;
  const int sms = static_cast<int>(near_cycles.size());
  return NearFar{median(std::move(near_cycles)), median(std::move(far_cycles)),
                 median(std::move(near_fractions)), sms};
}

}  // namespace sonde
