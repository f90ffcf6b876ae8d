// One number for every device of a group, and which devices agree. All devices are compared with
// those that agree, so a faulty device affects neither the reference nor the scatter.
#pragma once

#include "analysis/fleet/fleet.hpp"

#include <cmath>
#include <functional>
#include <string>
#include <vector>

namespace sonde {

/// Fingerprints are compared if they have a better direction.
inline bool is_compared_map(const Metric& metric) {
  return metric.kind == MetricKind::fingerprint && metric.better != Better::neither;
}
/// Lists by GPU of the node: compared like maps, but their places are no units of the die.
inline bool is_link_list(const Metric& metric) { return metric.name.starts_with("peer."); }
/// Maps by SM or slice, in which a single unit may deviate.
inline bool is_unit_map(const Metric& metric) {
  return is_compared_map(metric) && !is_link_list(metric);
}
/// By slice of the L2; the other unit maps are by SM.
inline bool is_slice_map(const Metric& metric) {
  return metric.name == "cache.l2.slice_latency_cycles";
}

struct Sample {
  std::size_t device = 0;
  double value = 0;
  double repeat =
      0;  // standard deviation of the value: from its replicates, else within one replicate
  double confidence = 1;
  double reproduced = 0;  // the same from replicates only; 0: a single replicate
};

struct Series {
  Metric metric;             // of a summary of a map: with its unit, direction and tolerances
  std::string summary = "";  // of a per-SM map: the summary
  std::size_t group = 0;
  std::vector<Sample> samples = {};
  double resolution = 0;  // smallest step of a value; 1 for whole cycles
  /// Divisor of deviations; 0: the median. 1 for summaries that are fractions already.
  double reference = 0;

  double reference_at(double median) const { return reference != 0 ? reference : std::abs(median); }
};

/// Calls `take` for every group with every continuous metric, and with the summaries of maps.
void for_each_series(const RunResult& run, const FleetAnalysis& analysis,
                     const std::function<void(Series series)>& take);

/// Largest distance from the centre at which a device agrees with the majority: by score, at least
/// the tolerance; of few devices at most the failing tolerance, since few even values prove no
/// fault.
double agreeing_distance(const Series& series, std::size_t agreeing, double center, double scale);

/// Sample standard deviation; 0 for fewer than two values.
double standard_deviation(const std::vector<double>& values);

/// Median of a number over the samples: one device that scatters hides nothing. @pre not empty
double typical(const Series& series, double Sample::*number);

/// The least difference between two devices that their replicates and the clock cannot explain.
/// @param one_repeat, other_repeat standard deviations of the two values
double least_difference(const Series& series, double one_repeat, double other_repeat);

/// n, median, MAD, min, max and CV of a metric's values.
MetricStatistics statistics_of(const Metric& metric, std::size_t group,
                               const std::vector<double>& values);

/// The same, with scale and cut from the devices that agree, and with the three furthest devices.
/// Starts with the densest half of the values, and adds all values within the cut, until nothing
/// changes (the shorth; Andrews et al. 1972, with the trimming of SuperBench, ATC'24). Nobody
/// agrees if the densest half is wider than the failing tolerance (of two devices: the warning
/// tolerance), or if at most half agree. Devices outside change neither center nor scale.
MetricStatistics describe(const Series& series);

}  // namespace sonde
