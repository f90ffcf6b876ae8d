// Repeats a measurement, each time at another place in memory, on another SM and in another order,
// until its centre is known well enough.
#pragma once

#include "analysis/replication.hpp"
#include "jobs/run/job_run.hpp"

#include <cstddef>
#include <functional>
#include <string_view>
#include <vector>

namespace sonde {

/// The random choices of a replicate.
struct Draw {
  Place place = 0;
  int sm = 0;
  std::uint64_t seed = 0;  // for the order of its accesses
};

/// The `number`-th draw of a measurement. No two draws share a place; no two share an SM until all
/// SMs are used. Consecutive draws are spread over all SMs by steps of the golden ratio, because
/// neighbouring SMs share a GPC: the mean then hardly depends on the first SM, which is random.
/// @param what names the measurement
Draw draw_replicate(const JobRun& run, std::string_view what, std::size_t number);

/// The samples of each replicate.
struct Replicates {
  std::vector<std::vector<double>> samples = {};

  /// All samples, replicate after replicate.
  std::vector<double> pooled() const;
};

/// The median of each column of rows of equal length.
std::vector<double> medians_by_place(const std::vector<std::vector<double>>& rows);

/// A finding with status `ok` and all its numbers from one or more replicates.
Finding found_replicated(std::string metric, const Replicates& replicates);

/// The same, with the median of all samples as its value.
Finding found_pooled(std::string metric, const Replicates& replicates, double confidence = 1);

/// How many replicates a suite takes.
StoppingRule stopping_rule(SuiteLevel level);

/// Measures replicates until the rule is satisfied. A replicate on a throttled GPU is replaced by
/// the next draw, within the rule's total. If too few others are left, the throttled replicates
/// count after all; else the job's result says how many were dropped.
/// @param measure returns the samples of a draw; none if there was nothing to sample
/// @throws whatever `measure` throws
Replicates measure_replicates(JobRun& run, std::string_view what,
                              const std::function<std::vector<double>(const Draw&)>& measure,
                              const StoppingRule& rule);

/// The same with the stopping rule of this run's suite.
Replicates measure_replicates(JobRun& run, std::string_view what,
                              const std::function<std::vector<double>(const Draw&)>& measure);

}  // namespace sonde
