// Summaries of per-SM maps that do not depend on the order of SMs, and the SMs that stand apart.
#include "analysis/fleet/fingerprint.hpp"

#include "analysis/fleet/calibration.hpp"
#include "analysis/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

namespace sonde {
namespace {

/// Positive where worse.
double badness(double value, double center, Better better) {
  return better == Better::higher ? center - value : value - center;
}

/// Standard deviation of normal values, some of them outliers. Of values in two groups, as those of
/// the near and the far, the median absolute deviation reaches from one to the other, and says more
/// than twice what their ends say.
double robust_scale(const std::vector<double>& known) {
  constexpr double end = 0.05;
  constexpr double normal_end = 1.6449;  // of the standard normal distribution, from its centre
  const double of_ends = (quantile(known, 1 - end) - quantile(known, end)) / (2 * normal_end);
  return std::min(normal_scale * median_absolute_deviation(known), of_ends);
}

}  // namespace

std::vector<double> known_values(std::span<const double> values) {
  std::vector<double> known;
  std::ranges::copy_if(values, std::back_inserter(known),
                       [](double value) { return std::isfinite(value); });
  return known;
}

std::vector<double> sorted_profile(std::span<const double> values, std::size_t points) {
  std::vector<double> sorted = known_values(values);
  std::ranges::sort(sorted);
  const double center = median(sorted);
  std::vector<double> profile;
  for (std::size_t i = 0; i < points; ++i) {
    const double place =
        static_cast<double>(i * (sorted.size() - 1)) / static_cast<double>(points - 1);
    const auto below = static_cast<std::size_t>(place);
    const std::size_t above = std::min(below + 1, sorted.size() - 1);
    const double value =
        std::lerp(sorted[below], sorted[above], place - static_cast<double>(below));
    profile.push_back((value - center) / std::abs(center));
  }
  return profile;
}

std::vector<double> profile_distances(const std::vector<std::vector<double>>& profiles) {
  std::vector<double> distances(profiles.size(), 0);
  if (profiles.empty()) return distances;
  const std::size_t points = profiles.front().size();
  for (std::size_t point = 0; point < points; ++point) {
    std::vector<double> here;
    for (const auto& profile : profiles) here.push_back(profile[point]);
    const double center = median(here);
    for (std::size_t i = 0; i < profiles.size(); ++i) {
      distances[i] += std::abs(here[i] - center) / static_cast<double>(points);
    }
  }
  return distances;
}

std::vector<OutlyingSm> outlying_sms(std::span<const double> values, Better better,
                                     double resolution, double tolerance, double floor_fraction) {
  const std::vector<double> known = known_values(values);
  if (known.size() < least_scored_devices) return {};
  const double center = median(known);
  const double size = std::abs(center);
  const double tolerated = std::max(tolerance * size, 1.5 * resolution);
  const auto is_beyond = [&](double value) { return badness(value, center, better) >= tolerated; };
  if (!(size > 0) || std::ranges::none_of(known, is_beyond)) return {};
  const double scale = std::max(
      {robust_scale(known), normal_scale * resolution / std::sqrt(12.0), floor_fraction * size});
  if (!(scale > 0)) return {};
  // One healthy device in a thousand would show such an SM by chance, were its SMs Gaussian.
  const double least = std::max(calibration_for(known.size()).cut_01_percent * scale, tolerated);
  std::vector<OutlyingSm> found;
  double worst_of_rest = 0;
  double least_found = std::numeric_limits<double>::infinity();
  for (std::size_t sm = 0; sm < values.size(); ++sm) {
    const double deviation = badness(values[sm], center, better);
    if (deviation >= least) {
      found.push_back({.sm = static_cast<int>(sm),
                       .value = values[sm],
                       .deviation_fraction = (values[sm] - center) / size,
                       .score = (values[sm] - center) / scale});
      least_found = std::min(least_found, deviation);
    } else {
      worst_of_rest = std::max(worst_of_rest, deviation);
    }
  }
  const auto most = std::max<std::size_t>(2, known.size() * 3 / 100);
  if (found.size() > most || least_found - worst_of_rest < least_found / 2) return {};
  return found;
}

}  // namespace sonde
