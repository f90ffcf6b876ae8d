// The simulation behind the table in analysis/fleet/tolerance.cpp: the tool prints its rows, and
// a test sees that they come out again.
#pragma once

#include "analysis/fleet/tolerance.hpp"
#include "analysis/statistics.hpp"
#include "base/random.hpp"

#include <boost/math/distributions/normal.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace sonde {

/// Plays `groups` healthy groups of n Gaussian devices and returns the row of the table for n.
inline Calibration simulate_calibration(std::size_t n, std::size_t groups, std::uint64_t seed) {
  Random random(seed);
  const boost::math::normal normal;
  std::vector<double> largest_scores(groups);
  std::vector<double> values(n);
  for (double& largest : largest_scores) {
    for (double& value : values) {
      value = boost::math::quantile(normal, std::max(random.unit(), 1e-15));
    }
    const double center = median(values);
    const double scale = 1.4826 * median_absolute_deviation(values);
    largest = 0;
    for (const double value : values) largest = std::max(largest, std::abs(value - center) / scale);
  }
  return {.n = n,
          .cut_1_percent = quantile(largest_scores, 0.99),
          .cut_01_percent = quantile(largest_scores, 0.999)};
}

}  // namespace sonde
