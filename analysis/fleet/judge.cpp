// Devices that deviate from their group in one number: from series and their statistics to
// findings, which reduce.cpp turns into verdicts.
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

constexpr std::size_t least_discovery_devices = 16;

std::string shown_value(const Series& series, double value) {
  return series.reference == 1 ? percent_text(value) : format_quantity(value, series.unit);
}

/// "placement.l2_latency_cycles (median)" for a summary of a map.
std::string name_of(const Series& series) {
  return series.summary.empty() ? series.metric : series.metric + " (" + series.summary + ")";
}

FleetFinding finding_for(const RunResult& run, const Series& series, const Standing& standing) {
  return {.device = standing.device,
          .node = run.devices[standing.device].node,
          .metric = name_of(series),
          .value = shown_value(series, standing.value),
          .deviation_fraction = standing.deviation_fraction,
          .score = standing.score,
          .n = series.samples.size()};
}

/// The spread of a map differs more between healthy dies than its median does, and a slow SM is
/// named on its own: summaries of the spread (their reference is 1) get twice the tolerance.
Tolerance series_tolerance(const Series& series, const ReduceOptions& options) {
  Tolerance tolerance = tolerance_for(series.metric, options);
  if (series.reference == 1) {
    tolerance.warn *= 2;
    tolerance.fail *= 2;
  }
  return tolerance;
}

/// What a value is held against, and the standard deviation of that.
struct Reference {
  double value = 0;
  double deviation = 0;
};

/// The group's median: it moves as a median of n usual devices does.
Reference median_of(const Series& series, double median) {
  const auto n = static_cast<double>(series.samples.size());
  return {.value = median, .deviation = median_error * typical_repeat(series) / std::sqrt(n)};
}

/// Large enough to matter, and more than the replicates of this device, of a usual one, and of both
/// sides together explain.
bool matters(const Series& series, const Sample& sample, const Reference& reference,
             double fraction, const ReduceOptions& options) {
  const double deviation = std::abs(sample.value - reference.value);
  const double repeat = std::max(sample.repeat, typical_repeat(series));
  const double least = std::max(repeat / options.gage_limit,
                                options.within_factor * std::hypot(repeat, reference.deviation));
  return std::abs(fraction) >= series_tolerance(series, options).warn && deviation > least &&
         deviation >= 1.5 * series.resolution;
}

Severity severity_of(const Series& series, const Sample& sample, double fraction,
                     const ReduceOptions& options) {
  if (!is_worse(series.better, fraction)) return Severity::info;
  const bool far = std::abs(fraction) >= series_tolerance(series, options).fail;
  // Clocks move with power and cooling: a slow one is a reason to look, its effects may fail.
  const bool covariate = series.metric.starts_with("conditions.");
  return far && sample.confidence >= 0.5 && !covariate ? Severity::fail : Severity::warn;
}

/// Two devices: who is wrong cannot be known.
void judge_pair(const RunResult& run, const Series& series, const ReduceOptions& options,
                std::vector<FleetFinding>& findings) {
  const double values[] = {series.samples[0].value, series.samples[1].value};
  const double middle = series.reference_at((values[0] + values[1]) / 2);
  if (!(middle > 0)) return;
  for (std::size_t i = 0; i < 2; ++i) {
    const Sample& sample = series.samples[i];
    const Sample& other = series.samples[1 - i];
    const double fraction = (sample.value - other.value) / middle;
    if (!matters(series, sample, {other.value, other.repeat}, fraction, options)) return;
  }
  for (std::size_t i = 0; i < 2; ++i) {
    const double fraction = (values[i] - values[1 - i]) / middle;
    FleetFinding finding = finding_for(run, series,
                                       {.device = series.samples[i].device,
                                        .value = values[i],
                                        .deviation_fraction = fraction,
                                        .score = FleetFinding::no_number});
    finding.reference = shown_value(series, values[1 - i]);
    finding.severity = series.better == Better::neither ? Severity::info : Severity::warn;
    finding.reason =
        fmt::format("{}, differs from its only peer's {} by {}, n=2: cannot tell which is wrong",
                    finding.value, finding.reference, percent_text(fraction));
    findings.push_back(finding);
  }
}

/// Two equal halves with a gap between them that is far larger than either is wide.
bool splits_in_halves(const Series& series, const ReduceOptions& options) {
  std::vector<double> values = values_of(series);
  const std::size_t half = values.size() / 2;
  if (values.size() % 2 != 0 || series.better == Better::neither) return false;
  std::ranges::sort(values);
  const double gap = values[half] - values[half - 1];
  const double extent = std::max(
      {values[half - 1] - values.front(), values.back() - values[half], series.resolution});
  const double reference = series.reference_at(median(values));
  Sample upper = series.samples.front();
  upper.value = values[half];
  return reference > 0 && gap >= 8 * extent &&
         matters(series, upper, {values[half - 1], typical_repeat(series)}, gap / reference,
                 options);
}

void judge_halves(const RunResult& run, const Series& series, const MetricStatistics& statistics,
                  std::vector<FleetFinding>& findings) {
  for (const Standing& standing : standings(series, statistics)) {
    FleetFinding finding = finding_for(run, series, standing);
    finding.severity = Severity::warn;
    finding.reason = fmt::format(
        "{}, the group falls into two equal halves {} apart, n={}: cannot tell which is wrong",
        finding.value,
        percent_text((statistics.max - statistics.min) / series.reference_at(statistics.median)),
        series.samples.size());
    findings.push_back(finding);
  }
}

bool sticks_out(const Standing& standing, const MetricStatistics& statistics) {
  const double cut = statistics.threshold > 0 ? statistics.threshold : least_small_group_score;
  return std::abs(standing.score) >= cut;
}

void explain(const Series& series, const MetricStatistics& statistics, const Standing& standing,
             const ReduceOptions& options, FleetFinding& finding) {
  const std::size_t n = series.samples.size();
  finding.reference = shown_value(series, statistics.median);
  const char* direction = standing.deviation_fraction > 0 ? "above" : "below";
  finding.reason =
      series.reference == 1
          ? fmt::format("{} where its peers have {}, n={}", finding.value, finding.reference, n)
          : fmt::format("{} is {} {} its peers' {}, n={}", finding.value,
                        percent_text(standing.deviation_fraction), direction, finding.reference, n);
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

/// A deviation between replicates that comes near the tolerance: the metric cannot tell a device
/// that is out from one that was measured in another place.
bool scatters_too_much(const Series& series, const ReduceOptions& options) {
  const double reference = series.reference_at(median(values_of(series)));
  return reference > 0 && series_tolerance(series, options).warn * reference <
                              options.within_factor * typical_reproduced(series);
}

FleetFinding too_much_scatter(const Series& series, const ReduceOptions& options) {
  const double reference = series.reference_at(median(values_of(series)));
  FleetFinding finding;
  finding.metric = name_of(series);
  finding.n = series.samples.size();
  finding.reason = fmt::format(
      "not judged: its tolerance of {:g} % is less than {:g} times the {} by which its value "
      "scatters between replicates (standard deviation), n={}",
      100 * series_tolerance(series, options).warn, options.within_factor,
      percent_text(typical_reproduced(series) / reference), finding.n);
  return finding;
}

bool is_compared(const Series& series) {
  return series.samples.size() >= 2 && series.not_compared.empty();
}

/// For each sample of each series whether it is a discovery when all groups that are large enough
/// count as one family of tests; samples of smaller groups pass untested.
std::vector<std::vector<bool>> find_discoveries(const std::vector<Series>& all,
                                                const std::vector<MetricStatistics>& statistics,
                                                const ReduceOptions& options) {
  struct Place {
    std::size_t series = 0;
    std::size_t sample = 0;
  };
  std::vector<std::vector<bool>> passes;
  std::vector<Place> tested;
  std::vector<double> p_values;
  std::map<std::size_t, ScoreTail> tails;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::size_t n = all[i].samples.size();
    passes.emplace_back(n, n < least_discovery_devices);
    if (n < least_discovery_devices || !is_compared(all[i]) || scatters_too_much(all[i], options)) {
      continue;
    }
    if (tails.count(n) == 0) tails[n] = fit_score_tail(n);
    const std::vector<Standing> places = standings(all[i], statistics[i]);
    for (std::size_t j = 0; j < n; ++j) {
      tested.push_back({.series = i, .sample = j});
      p_values.push_back(score_p_value(places[j].score, tails[n]));
    }
  }
  const std::vector<bool> found = discoveries(p_values, options.false_discovery);
  for (std::size_t test = 0; test < tested.size(); ++test) {
    passes[tested[test].series][tested[test].sample] = found[test];
  }
  return passes;
}

/// Three devices and more: those that lie clear of the others, by an amount that matters.
void judge_group(const RunResult& run, const Series& series, const MetricStatistics& statistics,
                 const std::vector<bool>& is_discovery, const ReduceOptions& options,
                 std::vector<FleetFinding>& findings) {
  const std::vector<Standing> places = standings(series, statistics);
  for (std::size_t i = 0; i < places.size(); ++i) {
    const Standing& place = places[i];
    const Sample& sample = series.samples[i];
    if (!is_discovery[i] || !sticks_out(place, statistics) ||
        !matters(series, sample, median_of(series, statistics.median), place.deviation_fraction,
                 options)) {
      continue;
    }
    FleetFinding finding = finding_for(run, series, place);
    finding.severity = severity_of(series, sample, place.deviation_fraction, options);
    explain(series, statistics, place, options, finding);
    findings.push_back(finding);
  }
}

}  // namespace

bool is_worse(Better better, double difference) {
  return (better == Better::lower && difference > 0) ||
         (better == Better::higher && difference < 0);
}

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
  const auto discovered = find_discoveries(all, statistics, options);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Series& series = all[i];
    if (!is_compared(series)) continue;
    if (scatters_too_much(series, options)) {
      // Metrics without a better direction give no verdict anyway.
      if (series.better != Better::neither) findings.push_back(too_much_scatter(series, options));
      continue;
    }
    if (series.samples.size() == 2) {
      judge_pair(run, series, options, findings);
    } else if (splits_in_halves(series, options)) {
      judge_halves(run, series, statistics[i], findings);
    } else {
      judge_group(run, series, statistics[i], discovered[i], options, findings);
    }
  }
  return findings;
}

}  // namespace sonde
