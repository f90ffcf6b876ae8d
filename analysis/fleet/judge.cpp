#include "analysis/fleet/judge.hpp"

#include "analysis/fleet/calibration.hpp"
#include "analysis/fleet/value_text.hpp"
#include "analysis/statistics.hpp"
#include "base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace sonde {
namespace {

// With fewer than 9 devices no score proves anything, but one below this shows that the group
// itself scatters as much. Between the 10 % cuts of 4 (4.8) and 3 devices in the calibration table.
constexpr double least_small_group_score = 5;
constexpr std::size_t least_discovery_devices = 16;

struct Candidate {
  std::size_t series = 0;
  std::size_t sample = 0;
  Standing standing;
};

const std::string& node_of(const RunResult& run, std::size_t device) {
  return run.devices[device].node;
}

std::string metric_name(const Series& series) {
  return series.summary.empty() ? series.metric : series.metric + " (" + series.summary + ")";
}

FleetFinding finding_for(const RunResult& run, const Series& series, const Standing& standing) {
  FleetFinding finding;
  finding.device = standing.device;
  finding.node = node_of(run, standing.device);
  finding.metric = metric_name(series);
  finding.value = series.reference == 1 ? percent_text(standing.value)
                                        : format_quantity(standing.value, series.unit);
  finding.deviation_fraction = standing.deviation_fraction;
  finding.score = standing.score;
  finding.n = series.samples.size();
  return finding;
}

/// How a map is shaped differs more between healthy dies than its median does, and a slow SM is
/// named by its own: summaries of the shape (their reference is 1) get twice the room.
Tolerance series_tolerance(const Series& series, const ReduceOptions& options) {
  Tolerance tolerance = tolerance_for(series.metric, options);
  if (series.reference == 1) {
    tolerance.warn *= 2;
    tolerance.fail *= 2;
  }
  return tolerance;
}

double typical_repeat(const Series& series) {
  std::vector<double> repeats;
  for (const Sample& sample : series.samples) repeats.push_back(sample.repeat);
  return median(repeats);
}

/// Large enough to matter, and more than the repeats of this device or a usual one explain.
bool matters(const Series& series, const Sample& sample, double deviation, double fraction,
             const ReduceOptions& options) {
  const double repeat = std::max(sample.repeat, typical_repeat(series));
  const double least = std::max(options.within_factor, 1 / options.gage_limit) * repeat;
  return std::abs(fraction) >= series_tolerance(series, options).warn &&
         std::abs(deviation) > least && std::abs(deviation) >= 1.5 * series.resolution;
}

Severity severity_of(const Series& series, const Sample& sample, double fraction,
                     const ReduceOptions& options) {
  const bool worse =
      (series.worse == Worse::high && fraction > 0) || (series.worse == Worse::low && fraction < 0);
  if (!worse) return Severity::info;
  const bool far = std::abs(fraction) >= series_tolerance(series, options).fail;
  // Clocks move with power and cooling: a slow one is a reason to look, its effects may fail.
  const bool covariate = series.metric.starts_with("conditions.");
  return far && sample.confidence >= 0.5 && !covariate ? Severity::fail : Severity::warn;
}

/// Two devices: who is wrong cannot be known.
void judge_pair(const RunResult& run, const Series& series, const ReduceOptions& options,
                std::vector<FleetFinding>& findings) {
  const double values[] = {series.samples[0].value, series.samples[1].value};
  const double middle =
      series.reference != 0 ? series.reference : std::abs(values[0] + values[1]) / 2;
  const double difference = values[0] - values[1];
  if (!(middle > 0)) return;
  if (!matters(series, series.samples[0], difference, difference / middle, options) ||
      !matters(series, series.samples[1], difference, difference / middle, options)) {
    return;
  }
  for (std::size_t i = 0; i < 2; ++i) {
    const double fraction = (values[i] - values[1 - i]) / middle;
    FleetFinding finding =
        finding_for(run, series, {series.samples[i].device, values[i], fraction, std::nan("")});
    const Standing other{series.samples[1 - i].device, values[1 - i], -fraction, 0};
    finding.reference = finding_for(run, series, other).value;
    finding.severity = series.worse == Worse::both ? Severity::info : Severity::warn;
    finding.reason = fmt::format(
        "{}, differs from its only peer's {} by {}, n=2: cannot tell "
        "which is wrong",
        finding.value, finding.reference, percent_text(fraction));
    findings.push_back(finding);
  }
}

/// Two equal halves with a gap between them that is far larger than either is wide.
bool splits_in_halves(const Series& series, const ReduceOptions& options) {
  std::vector<double> values;
  for (const Sample& sample : series.samples) values.push_back(sample.value);
  const std::size_t half = values.size() / 2;
  if (values.size() % 2 != 0 || series.worse == Worse::both) return false;
  std::sort(values.begin(), values.end());
  const double gap = values[half] - values[half - 1];
  const double width = std::max(
      {values[half - 1] - values.front(), values.back() - values[half], series.resolution});
  const double reference = series.reference != 0 ? series.reference : std::abs(median(values));
  return reference > 0 && gap >= 8 * width &&
         matters(series, series.samples[0], gap, gap / reference, options);
}

void judge_halves(const RunResult& run, const Series& series, const MetricStatistics& statistics,
                  std::vector<FleetFinding>& findings) {
  for (const Standing& standing : standings(series, statistics)) {
    FleetFinding finding = finding_for(run, series, standing);
    finding.severity = Severity::warn;
    finding.reason = fmt::format(
        "{}, the group falls into two equal halves {} apart, n={}: cannot tell which is wrong",
        finding.value,
        percent_text((statistics.max - statistics.min) /
                     (series.reference != 0 ? series.reference : std::abs(statistics.median))),
        series.samples.size());
    findings.push_back(finding);
  }
}

bool sticks_out(const Standing& standing, const MetricStatistics& statistics) {
  const double cut = statistics.threshold > 0 ? statistics.threshold : least_small_group_score;
  return std::abs(standing.score) >= cut;
}

void explain(const RunResult& run, const Series& series, const MetricStatistics& statistics,
             const Standing& standing, const ReduceOptions& options, FleetFinding& finding) {
  const std::size_t n = series.samples.size();
  Standing center = standing;
  center.value = statistics.median;
  finding.reference = finding_for(run, series, center).value;
  const char* side = standing.deviation_fraction > 0 ? "above" : "below";
  finding.reason =
      series.reference == 1
          ? fmt::format("{} where its peers have {}, n={}", finding.value, finding.reference, n)
          : fmt::format("{} is {} {} its peers' {}, n={}", finding.value,
                        percent_text(standing.deviation_fraction), side, finding.reference, n);
  const double warn = series_tolerance(series, options).warn;
  finding.evidence = fmt::format("{:.1f} x the tolerance of {:g} %",
                                 std::abs(standing.deviation_fraction) / warn, 100 * warn);
  if (statistics.threshold > 0) {
    finding.evidence += fmt::format("; score {:.1f}, healthy groups of {} stay below {:.1f}",
                                    std::abs(standing.score), n, statistics.threshold);
  } else {
    finding.evidence += fmt::format(
        "; {:.0f} x the scatter of the group, but {} devices are too few for a score verdict",
        std::abs(standing.score), n);
  }
}

/// Which candidates remain when everything that was compared counts as one family of tests.
std::vector<bool> keep_discoveries(const std::vector<Series>& all,
                                   const std::vector<MetricStatistics>& statistics, double q) {
  std::vector<double> p_values;
  std::map<std::size_t, ScoreTail> tails;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].samples.size() < least_discovery_devices) continue;
    const std::size_t n = all[i].samples.size();
    if (tails.count(n) == 0) tails[n] = fit_score_tail(n);
    for (const Standing& standing : standings(all[i], statistics[i])) {
      p_values.push_back(score_p_value(standing.score, tails[n]));
    }
  }
  return discoveries(p_values, q);
}

}  // namespace

Tolerance tolerance_for(std::string_view metric, const ReduceOptions& options) {
  Tolerance best = options.tolerance;
  for (const Tolerance& tolerance : options.tolerances) {
    if (metric.starts_with(tolerance.prefix) && tolerance.prefix.size() >= best.prefix.size()) {
      best = tolerance;
    }
  }
  return best;
}

std::vector<FleetFinding> judge_series(const RunResult& run, const std::vector<Series>& all,
                                       const std::vector<MetricStatistics>& statistics,
                                       const ReduceOptions& options) {
  std::vector<FleetFinding> findings;
  const std::vector<bool> discovered = keep_discoveries(all, statistics, options.false_discovery);
  std::size_t test = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Series& series = all[i];
    const bool in_family = series.samples.size() >= least_discovery_devices;
    if (series.samples.size() == 2) judge_pair(run, series, options, findings);
    if (series.samples.size() < 3) continue;
    if (splits_in_halves(series, options)) {
      judge_halves(run, series, statistics[i], findings);
      if (in_family) test += series.samples.size();
      continue;
    }
    const std::vector<Standing> places = standings(series, statistics[i]);
    for (std::size_t j = 0; j < places.size(); ++j) {
      const bool is_discovery = !in_family || discovered[test++];
      const double deviation = places[j].value - statistics[i].median;
      if (!is_discovery || !sticks_out(places[j], statistics[i]) ||
          !matters(series, series.samples[j], deviation, places[j].deviation_fraction, options)) {
        continue;
      }
      FleetFinding finding = finding_for(run, series, places[j]);
      finding.severity =
          severity_of(series, series.samples[j], places[j].deviation_fraction, options);
      explain(run, series, statistics[i], places[j], options, finding);
      findings.push_back(finding);
    }
  }
  return findings;
}

}  // namespace sonde
