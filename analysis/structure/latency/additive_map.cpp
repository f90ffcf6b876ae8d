// Means by row and column, and the one that stands out.
#include "analysis/structure/latency/additive_map.hpp"

#include "analysis/statistics.hpp"

#include <boost/math/distributions/normal.hpp>

#include <algorithm>
#include <cmath>

namespace sonde {

AdditiveFit fit_additive(const std::vector<std::vector<double>>& map) {
  const auto rows = static_cast<double>(map.size());
  const auto columns = static_cast<double>(map.front().size());
  AdditiveFit fit;
  fit.column_cycles.resize(map.front().size());
  for (const std::vector<double>& row : map) {
    double sum = 0;
    for (std::size_t column = 0; column < row.size(); ++column) {
      sum += row[column];
      fit.column_cycles[column] += row[column] / rows;
    }
    fit.row_cycles.push_back(sum / columns);
    fit.mean_cycles += sum / columns / rows;
  }
  for (double& cycles : fit.row_cycles) cycles -= fit.mean_cycles;
  for (double& cycles : fit.column_cycles) cycles -= fit.mean_cycles;
  double left = 0;
  double all = 0;
  for (std::size_t row = 0; row < map.size(); ++row) {
    for (std::size_t column = 0; column < map[row].size(); ++column) {
      const double beyond = map[row][column] - fit.mean_cycles;
      all += beyond * beyond;
      left += std::pow(beyond - fit.row_cycles[row] - fit.column_cycles[column], 2);
    }
  }
  fit.residual_cycles = std::sqrt(left / (rows * columns));
  fit.r2 = all > 0 ? 1 - left / all : 1;
  return fit;
}

std::optional<HighOutlier> find_high_outlier(std::span<const double> values, double floor) {
  constexpr double by_chance = 1e-3;  // that the largest of them lies so high
  constexpr std::size_t fewest = 4;
  if (values.size() < fewest) return std::nullopt;
  const double middle = median(std::vector(values.begin(), values.end()));
  const double scale = normal_scale * median_absolute_deviation(values);
  const auto largest = std::ranges::max_element(values);
  const double excess = *largest - middle;
  const boost::math::normal normal;
  const double least_score = boost::math::quantile(
      normal, std::pow(1 - by_chance, 1.0 / static_cast<double>(values.size())));
  if (excess < floor || excess < least_score * scale) return std::nullopt;
  return HighOutlier{.place = static_cast<std::size_t>(largest - values.begin()),
                     .excess = excess,
                     .score = scale > 0 ? excess / scale : excess / floor};
}

}  // namespace sonde
