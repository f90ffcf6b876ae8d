// Error counters of the driver that stand still: how a device's totals compare with its peers'.
#include "analysis/fleet/error_counts.hpp"

#include "analysis/fleet/calibration.hpp"
#include "analysis/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace sonde {
namespace {

constexpr double least_factor = 10;  // an order of magnitude: errors come in bursts

struct Counter {
  const char* metric;
  const char* what;
  std::uint64_t Health::*count;
};

constexpr Counter counters[] = {
    {"health.ecc_corrected_total", "corrected memory errors since its driver was loaded",
     &Health::ecc_corrected},
    {"health.remapped_rows", "remapped memory rows", &Health::remapped_rows},
};

double anscombe(double count) { return 2 * std::sqrt(count + 3.0 / 8); }

std::vector<double> counts_of(const RunResult& run, const ComparisonGroup& group,
                              const Counter& counter) {
  std::vector<double> counts;
  for (std::size_t device : group.devices) {
    const DeviceResult& one = run.devices[device];
    counts.push_back(
        static_cast<double>(std::max(one.before.*counter.count, one.after.*counter.count)));
  }
  return counts;
}

void compare_counts(const RunResult& run, const ComparisonGroup& group, const Counter& counter,
                    const ReduceOptions& options, std::vector<Charge>& charges) {
  const std::vector<double> counts = counts_of(run, group, counter);
  std::vector<double> stable;
  std::ranges::transform(counts, std::back_inserter(stable), anscombe);
  const double centre = median(stable);
  const double scale = std::max(1.0, normal_scale * median_absolute_deviation(stable));
  const double cut = counts.size() < least_scored_devices
                         ? least_small_group_score
                         : score_cut(counts.size(), options.false_alarm);
  const double usual = median(counts);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const double score = (stable[i] - centre) / scale;
    if (score < cut || counts[i] < least_factor * std::max(1.0, usual)) continue;
    const std::size_t device = group.devices[i];
    charges.push_back(
        {.device = device,
         .node = run.devices[device].node,
         .ground = Ground::peers,
         .severity = Severity::warn,
         .trouble = Trouble::ecc_corrected,
         .metric = counter.metric,
         .value = fmt::format("{:.0f}", counts[i]),
         .reference = fmt::format("{:g}", usual),
         .score = score,
         .n = counts.size(),
         .reason = fmt::format("{:.0f} {} where its peers have {:g} (median), n={}", counts[i],
                               counter.what, usual, counts.size()),
         .evidence = fmt::format("score {:.1f}, healthy groups of {} stay below {:.1f}", score,
                                 counts.size(), cut)});
  }
}

}  // namespace

std::vector<Charge> error_count_charges(const RunResult& run,
                                        const std::vector<ComparisonGroup>& groups,
                                        const ReduceOptions& options) {
  std::vector<Charge> charges;
  for (const ComparisonGroup& group : groups) {
    if (group.devices.size() < least_group) continue;
    for (const Counter& counter : counters) {
      compare_counts(run, group, counter, options, charges);
    }
  }
  return charges;
}

}  // namespace sonde
