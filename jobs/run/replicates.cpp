#include "jobs/run/replicates.hpp"

#include "analysis/statistics.hpp"
#include "base/random.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

namespace sonde {
namespace {

/// Multiples of it modulo 1 are spread most evenly (Weyl 1916).
constexpr double golden_ratio = 0.6180339887498949;

}  // namespace

Draw draw_replicate(const JobRun& run, std::string_view what, std::size_t number) {
  const int sm_count = run.info().sm_count;
  Random random(derive_seed(run.seed(), what));
  const double first = random.unit();
  std::vector<bool> taken(static_cast<std::size_t>(sm_count));
  std::size_t sm = 0;
  for (std::size_t i = 0; i <= number; ++i) {
    if (i % taken.size() == 0) taken.assign(taken.size(), false);
    const double turn = first + golden_ratio * static_cast<double>(i);
    sm = static_cast<std::size_t>((turn - std::floor(turn)) * sm_count);
    while (taken[sm]) sm = (sm + 1) % taken.size();
    taken[sm] = true;
  }
  return {.place = static_cast<Place>(number),
          .sm = static_cast<int>(sm),
          .seed = derive_seed(run.seed(), fmt::format("{} {}", what, number))};
}

std::vector<double> Replicates::pooled() const {
  std::vector<double> all;
  for (const auto& of_replicate : samples) {
    all.insert(all.end(), of_replicate.begin(), of_replicate.end());
  }
  return all;
}

std::vector<double> medians_by_place(const std::vector<std::vector<double>>& rows) {
  std::vector<double> medians;
  for (std::size_t place = 0; place < rows.front().size(); ++place) {
    std::vector<double> values;
    for (const std::vector<double>& row : rows) values.push_back(row[place]);
    medians.push_back(median(std::move(values)));
  }
  return medians;
}

Finding found_replicated(std::string metric, const Replicates& replicates) {
  return found_replicated(std::move(metric), summarize_replicates(replicates.samples));
}

Finding found_pooled(std::string metric, const Replicates& replicates, double confidence) {
  const std::vector<double> all = replicates.pooled();
  return with_replicates(found(std::move(metric), median(all), confidence, all.size()),
                         summarize_replicates(replicates.samples));
}

StoppingRule stopping_rule(SuiteLevel level) {
  if (level == SuiteLevel::quick) return {.least = 5, .most = 10};
  return {.least = 16, .most = 96};
}

Replicates measure_replicates(JobRun& run, std::string_view what,
                              const std::function<std::vector<double>(const Draw&)>& measure,
                              const StoppingRule& rule) {
  Replicates replicates;
  std::vector<double> values;  // of the replicates that count
  std::vector<std::vector<double>> throttled;
  for (std::size_t number = 0; number < rule.most; ++number) {
    const std::uint64_t throttled_before = run.throttled_probes();
    std::vector<double> samples = measure(draw_replicate(run, what, number));
    if (samples.empty()) continue;
    const bool well = run.throttled_probes() == throttled_before;
    if (well) values.push_back(value_of_replicate(samples));
    (well ? replicates.samples : throttled).push_back(std::move(samples));
    if (is_enough(values, rule)) break;
  }
  if (replicates.samples.size() >= rule.least) {
    run.drop_replicates(throttled.size());
    return replicates;
  }
  for (auto& samples : throttled) replicates.samples.push_back(std::move(samples));
  return replicates;
}

Replicates measure_replicates(JobRun& run, std::string_view what,
                              const std::function<std::vector<double>(const Draw&)>& measure) {
  return measure_replicates(run, what, measure, stopping_rule(run.level()));
}

}  // namespace sonde
