// One number of every device of a group.
#pragma once

#include "analysis/fleet/fleet.hpp"

#include <cmath>
#include <functional>
#include <string>
#include <vector>

namespace sonde {

struct Sample {
  std::size_t device = 0;
  double value = 0;
  double repeat = 0;  // standard deviation of the value, from its replicates, else its repeats
  double confidence = 1;
  double reproduced = 0;  // the same from replicates; 0: there is only one
};

struct Series {
  std::string metric;
  std::string summary;  // of a per-SM map: which number of it
  std::string unit;
  MetricKind kind = MetricKind::continuous;
  Better better = Better::neither;  // who deviates the other way is worse
  std::size_t group = 0;
  std::vector<Sample> samples;
  double resolution = 0;  // smallest step of a value: whole cycles
  /// What deviations are fractions of; 0: the median. Summaries that are fractions already say 1.
  double reference = 0;

  std::string not_compared;             // as in the registry
  Tolerance tolerance{"", 0.03, 0.05};  // of options, else of the registry

  double reference_at(double median) const { return reference != 0 ? reference : std::abs(median); }
};

/// Calls `take` with every number of every group, one after the other: continuous metrics, and the
/// summaries of per-SM maps.
void for_each_series(const RunResult& run, const std::vector<ComparisonGroup>& groups,
                     const ReduceOptions& options, const std::function<void(Series series)>& take);

/// The SM clock of each group, as the probes saw it. @param conditions of each device
std::vector<Series> clock_series(const std::vector<ComparisonGroup>& groups,
                                 const std::vector<DeviceConditions>& conditions,
                                 const ReduceOptions& options);

std::vector<double> values_of(const Series& series);
/// Of a sample; 0 for fewer than two values.
double standard_deviation(const std::vector<double>& values);

/// Medians of the deviations of single values, all and from replicates only: one device that
/// scatters hides nothing. @pre samples not empty
double typical_repeat(const Series& series);
double typical_reproduced(const Series& series);

/// The least difference between two devices that their replicates and the clock cannot explain.
/// @param repeat standard deviation of the value of either
double least_difference(const Series& series, double one_repeat, double other_repeat);

/// n, median, MAD, min, max and CV of plain numbers.
void fill_numbers(MetricStatistics& statistics, const std::vector<double>& values);

}  // namespace sonde
