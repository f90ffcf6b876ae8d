// One number of every device of a group, and how the devices stand to each other in it.
#pragma once

#include "analysis/fleet/fleet.hpp"

#include <cmath>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace sonde {

struct Sample {
  std::size_t device = 0;
  double value = 0;
  double repeat = 0;  // standard deviation of the value, from its replicates, else its repeats
  double confidence = 1;
  std::string_view node;  // that of the device, as long as the run lives
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
  Tolerance tolerance{"", 0.03, 0.05};  // likewise

  double reference_at(double median) const { return reference != 0 ? reference : std::abs(median); }
};

/// Calls `take` with every number of every group, one after the other: continuous metrics, and the
/// summaries of per-SM maps.
void for_each_series(const RunResult& run, const std::vector<ComparisonGroup>& groups,
                     std::span<const Metric> registry,
                     const std::function<void(Series series)>& take);

/// All of them.
std::vector<Series> collect_series(const RunResult& run, const std::vector<ComparisonGroup>& groups,
                                   std::span<const Metric> registry);

/// The SM clock of each group, as the probes saw it. @param conditions of each device
std::vector<Series> clock_series(const RunResult& run, const std::vector<ComparisonGroup>& groups,
                                 const std::vector<DeviceConditions>& conditions);

std::vector<double> values_of(const Series& series);

/// Median of the repeats' deviations. @pre samples not empty
double typical_repeat(const Series& series);
/// Median of the deviations between replicates. A median, so that one device that scatters hides
/// nothing. @pre samples not empty
double typical_reproduced(const Series& series);

/// n, median, MAD, min, max and CV of plain numbers.
void fill_numbers(MetricStatistics& statistics, const std::vector<double>& values);

/// Nested random effects by the method of moments: nodes, devices within a node, repeats (Searle,
/// Casella and McCulloch 1992, ch. 3); negative estimates are 0. One device per node everywhere:
/// what lies between them counts as device.
VarianceComponents variance_components(const std::vector<Sample>& samples);

}  // namespace sonde
