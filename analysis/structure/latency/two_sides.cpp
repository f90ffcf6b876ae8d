// Power iteration for the leading singular vectors; only their signs are used.
#include "analysis/structure/latency/two_sides.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace sonde {
namespace {

using Map = std::vector<std::vector<double>>;

constexpr int iterations = 30;  // the second singular value of a map with two sides is far smaller
constexpr double least_explained = 0.5;

Map beyond_sums(const Map& map) {
  const AdditiveFit fit = fit_additive(map);
  Map beyond = map;
  for (std::size_t row = 0; row < map.size(); ++row) {
    for (std::size_t column = 0; column < map[row].size(); ++column) {
      beyond[row][column] -= fit.mean_cycles + fit.row_cycles[row] + fit.column_cycles[column];
    }
  }
  return beyond;
}

void normalize(std::vector<double>& values) {
  double square = 0;
  for (const double value : values) square += value * value;
  if (square == 0) return;
  for (double& value : values) value /= std::sqrt(square);
}

std::vector<double> times(const Map& map, const std::vector<double>& columns) {
  std::vector<double> rows;
  for (const std::vector<double>& row : map) {
    double sum = 0;
    for (std::size_t column = 0; column < row.size(); ++column)
      sum += row[column] * columns[column];
    rows.push_back(sum);
  }
  normalize(rows);
  return rows;
}

std::vector<double> transposed_times(const Map& map, const std::vector<double>& rows) {
  std::vector<double> columns(map.front().size());
  for (std::size_t row = 0; row < map.size(); ++row) {
    for (std::size_t column = 0; column < columns.size(); ++column) {
      columns[column] += map[row][column] * rows[row];
    }
  }
  normalize(columns);
  return columns;
}

/// Starts with the row that differs most from the means.
std::vector<double> strongest_row(const Map& map) {
  const auto square = [](const std::vector<double>& row) {
    double sum = 0;
    for (const double value : row) sum += value * value;
    return sum;
  };
  return *std::ranges::max_element(map, {}, square);
}

/// 0 for values with the sign of `first`.
std::vector<int> sides_of(const std::vector<double>& values, double first) {
  std::vector<int> sides;
  for (const double value : values) sides.push_back((value < 0) == (first < 0) ? 0 : 1);
  return sides;
}

/// +1 and -1, less their mean.
std::vector<double> signs_of(const std::vector<int>& sides) {
  std::vector<double> signs;
  double sum = 0;
  for (const int side : sides) sum += signs.emplace_back(side == 0 ? 1 : -1);
  for (double& sign : signs) sign -= sum / static_cast<double>(sides.size());
  return signs;
}

}  // namespace

TwoSides find_two_sides(const Map& map) {
  const Map beyond = beyond_sums(map);
  std::vector<double> columns = strongest_row(beyond);
  std::vector<double> rows;
  for (int i = 0; i < iterations; ++i) {
    rows = times(beyond, columns);
    columns = transposed_times(beyond, rows);
  }
  // Hits are slow if row and column have the same sign: then the column lies on the other side.
  for (double& column : columns) column = -column;
  TwoSides sides{.side_of_row = sides_of(rows, rows.front()),
                 .side_of_column = sides_of(columns, rows.front())};
  // Row and column means contain a part of unequal sides; signs_of subtracts it.
  const std::vector<double> of_rows = signs_of(sides.side_of_row);
  const std::vector<double> of_columns = signs_of(sides.side_of_column);
  double along = 0;
  double signs = 0;
  double all = 0;
  for (std::size_t row = 0; row < beyond.size(); ++row) {
    for (std::size_t column = 0; column < columns.size(); ++column) {
      const double sign = of_rows[row] * of_columns[column];
      along -= sign * beyond[row][column];
      signs += sign * sign;
      all += beyond[row][column] * beyond[row][column];
    }
  }
  if (signs == 0 || along * along < least_explained * all * signs) return {};
  sides.far_cycles = 2 * along / signs;
  return sides;
}

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
  fit.variance = all / (rows * columns);
  fit.residual_cycles = std::sqrt(left / (rows * columns));
  fit.r2 = all > 0 ? 1 - left / all : 1;
  return fit;
}

}  // namespace sonde
