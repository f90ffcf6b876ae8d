// Splits a map of latencies by SM and slice into two sides of the chip, with the cost of the far
// one. Luo et al. (arXiv 2501.12084) and Jin et al. (MICRO 2024) describe L2s of two partitions.
#pragma once

#include <vector>

namespace sonde {

struct TwoSides {
  std::vector<int>
      side_of_row;  // 0 (the side of the first row) or 1; empty: there are no two sides
  std::vector<int> side_of_column;  // near rows have the same number
  double far_cycles = 0;            // beyond near
};

/// Sides are the signs of the leading singular vectors of the map without row and column means;
/// there are two sides if the signs explain half of the variance.
/// @param map [row][column], not empty, all rows equally long
TwoSides find_two_sides(const std::vector<std::vector<double>>& map);

struct AdditiveFit {
  double mean_cycles = 0;
  std::vector<double> row_cycles;     // by SM, relative to the mean
  std::vector<double> column_cycles;  // by slice, relative to the mean
  double variance = 0;                // of the map
  double residual_cycles = 0;         // standard deviation of the residuals
  double r2 = 0;                      // fraction of the variance that the fit explains
};

/// Least squares for a full table: means of rows and columns. @pre rows are equally long, not empty
AdditiveFit fit_additive(const std::vector<std::vector<double>>& map);

}  // namespace sonde
