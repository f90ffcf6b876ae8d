// A map of latencies by SM and slice as a sum: what belongs to the SM and what to the slice (Alpay
// and Basaran, arXiv 2606.22588).
#pragma once

#include <optional>
#include <span>
#include <vector>

namespace sonde {

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

/// A value that lies above all others by more than chance would have it.
struct HighOutlier {
  std::size_t place = 0;
  double excess = 0;  // over the median
  double score = 0;   // the same in robust standard deviations
};

/// The largest value, if normal values would bring one so high once in a thousand times, and at
/// least `floor` above the median. A few of the values may be outliers, half of them not.
std::optional<HighOutlier> find_high_outlier(std::span<const double> values, double floor);

}  // namespace sonde
