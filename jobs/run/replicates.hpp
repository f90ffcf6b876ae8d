// Measures the same thing again and again, each time at another place in memory, on another SM and
// in another order, until its centre is known well enough.
#pragma once

#include "analysis/replication.hpp"
#include "jobs/run/job_run.hpp"

#include <cstddef>
#include <functional>
#include <string_view>
#include <vector>

namespace sonde {

/// What a replicate draws.
struct Draw {
  Place place = 0;
  int sm = 0;
  std::uint64_t seed = 0;  // of its order of accesses
};

/// The `number`-th draw of a measurement: places and, up to the number of SMs, SMs differ from
/// those of all others. Any few draws in a row lie all over the SMs, which share a GPC with their
/// neighbours (steps of the golden ratio), so that their mean hardly depends on the first one,
/// which the seed of the job draws.
/// @param what names the measurement
Draw draw_replicate(const JobRun& run, std::string_view what, std::size_t number);

/// The samples of each replicate.
struct Replicates {
  std::vector<std::vector<double>> samples = {};

  /// All samples, replicate after replicate.
  std::vector<double> pooled() const;
};

/// The median of each place over rows of one length.
std::vector<double> medians_by_place(const std::vector<std::vector<double>>& rows);

/// A finding with status ok, all of its numbers from the replicates. @pre there is one
Finding found_replicated(std::string metric, const Replicates& replicates);

/// The same but for its value, the median of all samples.
Finding found_pooled(std::string metric, const Replicates& replicates, double confidence = 1);

/// How many replicates the suite of this run allows itself.
StoppingRule stopping_rule(SuiteLevel level);

/// Measures replicates until the rule ends it. One that met a throttled GPU is measured again with
/// the next draw, but at most as many as the rule allows in all; if too few are left without them,
/// they count after all. The job says how many were dropped.
/// @param measure the samples of one draw; none if it found nothing to sample
/// @throws whatever `measure` throws
Replicates measure_replicates(JobRun& run, std::string_view what,
                              const std::function<std::vector<double>(const Draw&)>& measure,
                              const StoppingRule& rule);

/// The same by the rule of the suite.
Replicates measure_replicates(JobRun& run, std::string_view what,
                              const std::function<std::vector<double>(const Draw&)>& measure);

}  // namespace sonde
