// A map of latencies by SM and slice where both lie on one of two sides of the chip: what a hit
// takes longer on the other side. Luo et al. (arXiv 2501.12084) and Jin et al. (MICRO 2024)
// describe L2s of two partitions.
#pragma once

#include <vector>

namespace sonde {

struct TwoSides {
  std::vector<int> side_of_row;     // 0, as of the first row, or 1; empty: there are no two sides
  std::vector<int> side_of_column;  // the same number: near
  double far_cycles = 0;            // beyond near
};

/// Sides are those of the signs of the leading singular vectors of the map, without the means of
/// rows and columns; there are two if those signs alone explain half of its variance.
/// @param map by row and column, not empty, all rows as long
TwoSides find_two_sides(const std::vector<std::vector<double>>& map);

struct AdditiveFit {
  double mean_cycles = 0;
  std::vector<double> row_cycles;     // by SM, beyond the mean
  std::vector<double> column_cycles;  // by slice, beyond the mean
  double residual_cycles = 0;         // standard deviation of what the sum leaves
  double r2 = 0;                      // share of the variance that the sum explains
};

/// Least squares for a full table: means of rows and columns. @pre all rows are as long, and not
/// empty
AdditiveFit fit_additive(const std::vector<std::vector<double>>& map);

}  // namespace sonde
