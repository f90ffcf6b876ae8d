// From replicates to one value: a replicate is a measurement that drew its place in memory, its SM
// and its order of accesses anew. Pure; jobs/run/replicates measures them.
#pragma once

#include "analysis/results.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace sonde {

/// When to measure no more replicates.
struct StoppingRule {
  /// Standard error of the centre over the centre. A tenth of the tolerance of 3 % by which devices
  /// are compared: ten values of one device then lie within a third of it (the range of ten normal
  /// values is 3.1 standard deviations).
  double relative_error = 0.003;
  std::size_t least = 3;
  std::size_t most = 24;
};

/// Whether the values of the replicates so far suffice. Two replicates that agree by chance do not
/// end it: `least` are always wanted.
bool is_enough(std::span<const double> values, const StoppingRule& rule);

/// The robust centre of the values of replicates, and how far apart they lie.
struct ReplicateSummary {
  double center = 0;           // mean without the outer fifths
  double repeatability = 0;    // standard deviation within a replicate: median over replicates
  double reproducibility = 0;  // standard deviation between values of replicates; 0: fewer than two
  std::size_t replicates = 0;
  std::uint64_t samples = 0;  // of all of them
};

/// The value of one replicate: the mean of its samples without the outer tenths, so that whole
/// cycles resolve below one. @pre not empty
double value_of_replicate(const std::vector<double>& samples);

/// @pre at least one replicate, each with a sample
ReplicateSummary summarize_replicates(std::span<const std::vector<double>> samples_of_replicates);

/// Standard deviation of single values: of normal ones from the median absolute deviation, or, of
/// fewer than five, the sample deviation. 0 for fewer than two.
double deviation_between(std::span<const double> values);

/// A finding with status ok, all of its numbers from the summary.
Finding found_replicated(std::string metric, const ReplicateSummary& summary);

/// A finding whose value was inferred otherwise, with the deviations and counts of its replicates.
Finding with_replicates(Finding finding, const ReplicateSummary& summary);

}  // namespace sonde
