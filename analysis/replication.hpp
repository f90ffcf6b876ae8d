// From replicates to one value. A replicate is a measurement with newly drawn place in memory, SM
// and order of accesses. Pure; jobs/run/replicates measures them.
#pragma once

#include "analysis/results.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace sonde {

/// When there are enough replicates.
struct StoppingRule {
  /// Standard error of the centre, relative. A tenth of the tolerance of 3 % between devices: ten
  /// values of one device then differ by at most a third of the tolerance (the range of ten normal
  /// values is 3.1 standard deviations).
  double relative_error = 0.003;
  std::size_t least = 5;  // three agree by chance in one of 16 tries, at a deviation of 2 %
  std::size_t most = 24;
};

/// True if these replicates suffice. At least `least` are needed, since few may agree by chance.
bool is_enough(std::span<const double> values, const StoppingRule& rule);

/// The robust centre of replicates, and their deviations.
struct ReplicateSummary {
  double center = 0;           // mean without the outer fifths
  double repeatability = 0;    // standard deviation within a replicate; median over replicates
  double reproducibility = 0;  // standard deviation between replicates; 0 for fewer than two
  std::size_t replicates = 0;
  std::uint64_t samples = 0;  // of all replicates
};

/// Mean without the outer tenths: it resolves less than a cycle. @pre not empty
double value_of_replicate(const std::vector<double>& samples);

/// @pre at least one replicate, each with a sample
ReplicateSummary summarize_replicates(std::span<const std::vector<double>> samples_of_replicates);

/// Standard deviation of single values: by the median absolute deviation, but at least half of the
/// sample deviation; the sample deviation for fewer than five values, 0 for fewer than two.
double deviation_between(std::span<const double> values);

/// A finding with status ok; all numbers come from the summary.
Finding found_replicated(std::string metric, const ReplicateSummary& summary);

/// A finding with its own value; adds the deviations and counts of its replicates.
Finding with_replicates(Finding finding, const ReplicateSummary& summary);

}  // namespace sonde
