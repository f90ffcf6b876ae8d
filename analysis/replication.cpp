#include "analysis/replication.hpp"

#include "analysis/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace sonde {
namespace {

constexpr double outer_samples = 0.1;
constexpr double outer_replicates = 0.2;
/// The median absolute deviation of fewer values is often 0 or far too small.
constexpr std::size_t least_for_mad = 5;

double sample_deviation(std::span<const double> values) {
  const auto n = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / (n - 1));
}

double center_of(std::span<const double> values) {
  return trimmed_mean({values.begin(), values.end()}, outer_replicates);
}

}  // namespace

double deviation_between(std::span<const double> values) {
  if (values.size() < 2) return 0;
  if (values.size() < least_for_mad) return sample_deviation(values);
  // The median absolute deviation sees only a group of more than half of the values.
  return std::max(normal_scale * median_absolute_deviation(values), sample_deviation(values) / 2);
}

bool is_enough(std::span<const double> values, const StoppingRule& rule) {
  if (values.size() >= rule.most) return true;
  if (values.size() < std::max<std::size_t>(rule.least, 2)) return false;
  const double error = deviation_between(values) / std::sqrt(static_cast<double>(values.size()));
  return error <= rule.relative_error * std::abs(center_of(values));
}

double value_of_replicate(const std::vector<double>& samples) {
  return trimmed_mean(samples, outer_samples);
}

ReplicateSummary summarize_replicates(std::span<const std::vector<double>> samples_of_replicates) {
  std::vector<double> values;
  std::vector<double> deviations;
  ReplicateSummary summary{.replicates = samples_of_replicates.size()};
  for (const std::vector<double>& samples : samples_of_replicates) {
    values.push_back(value_of_replicate(samples));
    deviations.push_back(normal_scale * median_absolute_deviation(samples));
    summary.samples += samples.size();
  }
  summary.center = center_of(values);
  summary.repeatability = median(std::move(deviations));
  summary.reproducibility = deviation_between(values);
  return summary;
}

Finding found_replicated(std::string metric, const ReplicateSummary& summary) {
  return with_replicates(found(std::move(metric), summary.center, 1, summary.samples), summary);
}

Finding with_replicates(Finding finding, const ReplicateSummary& summary) {
  finding.samples = summary.samples;
  finding.repeatability = summary.repeatability;
  finding.reproducibility = summary.reproducibility;
  finding.replicates = summary.replicates;
  return finding;
}

}  // namespace sonde
