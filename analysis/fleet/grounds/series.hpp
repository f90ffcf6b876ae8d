// One number of every device of a group, and which of the devices agree with each other: all are
// compared with these, so that a faulty device moves neither the reference nor the scatter that
// others are judged by.
#pragma once

#include "analysis/fleet/fleet.hpp"

#include <cmath>
#include <functional>
#include <string>
#include <vector>

namespace sonde {

/// Fingerprints are compared if somebody is better in them.
inline bool is_compared_map(const Metric& metric) {
  return metric.kind == MetricKind::fingerprint && metric.better != Better::neither;
}
/// By GPU of the node: compared between devices as maps are, but its places are no units of the
/// die.
inline bool is_link_list(const Metric& metric) { return metric.name.starts_with("peer."); }
/// Maps by SM or slice: a unit in them may stand out.
inline bool is_unit_map(const Metric& metric) {
  return is_compared_map(metric) && !is_link_list(metric);
}
/// By slice of the L2; all others of these maps are by SM.
inline bool is_slice_map(const Metric& metric) {
  return metric.name == "cache.l2.slice_latency_cycles";
}

struct Sample {
  std::size_t device = 0;
  double value = 0;
  double repeat = 0;  // standard deviation of the value, from its replicates, else its repeats
  double confidence = 1;
  double reproduced = 0;  // the same from replicates; 0: there is only one
};

struct Series {
  Metric metric;  // of a summary of a map with the unit, direction and tolerances of that
  std::string summary = "";  // of a per-SM map: which number of it
  std::size_t group = 0;
  std::vector<Sample> samples = {};
  double resolution = 0;  // smallest step of a value: whole cycles
  /// What deviations are fractions of; 0: the median. Summaries that are fractions already say 1.
  double reference = 0;

  double reference_at(double median) const { return reference != 0 ? reference : std::abs(median); }
};

/// Calls `take` with every number of every group of the analysis, one after the other: continuous
/// metrics of its registry, and the summaries of per-SM maps.
void for_each_series(const RunResult& run, const FleetAnalysis& analysis,
                     const std::function<void(Series series)>& take);

/// How far from the centre a device lies that agrees with the majority: by score; where these are
/// few, at most the tolerance that fails, as few that scatter evenly tell nothing of a fault.
double agreeing_distance(const Series& series, std::size_t agreeing, double center, double scale);

/// Of a sample; 0 for fewer than two values.
double standard_deviation(const std::vector<double>& values);

/// The median of that number of the samples: one device that scatters hides nothing. @pre samples
/// not empty
double typical(const Series& series, double Sample::*number);

/// The least difference between two devices that their replicates and the clock cannot explain.
/// @param repeat standard deviation of the value of either
double least_difference(const Series& series, double one_repeat, double other_repeat);

/// Of a metric with n, median, MAD, min, max and CV of plain numbers.
MetricStatistics statistics_of(const Metric& metric, std::size_t group,
                               const std::vector<double>& values);

/// The same, with scale and cut by those that agree, and the three furthest out. These start with
/// the densest half of the values, and take in all that lie within the cut, until nothing changes
/// (the shorth; Andrews et al. 1972, with the trimming of SuperBench, ATC'24). Nobody agrees if the
/// densest half is wider than the tolerance at which a device fails (of two devices: at which it
/// warns), or if what agrees is not more than half. Adding a device that lies outside, or moving
/// one further out, changes neither center nor scale.
MetricStatistics describe(const Series& series);

}  // namespace sonde
