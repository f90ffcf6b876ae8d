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

namespace sonde {
namespace {

constexpr std::size_t least_discovery_devices = 16;
// Of the score that a discovery needs at least: below this share of it no rounding makes it one.
constexpr double rounding_share = 0.999;

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
  double repeat = 0;  // standard deviation of the value of a usual device
};

/// The group's median: it moves as a median of n usual devices does.
Reference median_of(const Series& series, double median) {
  const auto n = static_cast<double>(series.samples.size());
  const double repeat = typical_repeat(series);
  return {.value = median, .deviation = median_error * repeat / std::sqrt(n), .repeat = repeat};
}

/// Large enough to matter, and more than the replicates of this device, of a usual one, and of both
/// sides together explain.
bool matters(const Series& series, const Sample& sample, const Reference& reference,
             double fraction, const ReduceOptions& options) {
  const double deviation = std::abs(sample.value - reference.value);
  const double repeat = std::max(sample.repeat, reference.repeat);
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
std::vector<FleetFinding> judge_pair(const RunResult& run, const Series& series,
                                     const ReduceOptions& options) {
  std::vector<FleetFinding> findings;
  const double values[] = {series.samples[0].value, series.samples[1].value};
  const double middle = series.reference_at((values[0] + values[1]) / 2);
  if (!(middle > 0)) return findings;
  const double repeat = typical_repeat(series);
  for (std::size_t i = 0; i < 2; ++i) {
    const Sample& sample = series.samples[i];
    const Sample& other = series.samples[1 - i];
    const double fraction = (sample.value - other.value) / middle;
    if (!matters(series, sample, {other.value, other.repeat, repeat}, fraction, options))
      return findings;
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
  return findings;
}

/// Two equal halves with a gap between them that is far larger than either is wide.
bool splits_in_halves(const Series& series, const MetricStatistics& statistics,
                      const ReduceOptions& options) {
  if (statistics.n % 2 != 0 || series.better == Better::neither) return false;
  std::vector<double> values = values_of(series);
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  const double below = *std::max_element(values.begin(), middle);
  const double above = *middle;
  const double extent =
      std::max({below - statistics.min, statistics.max - above, series.resolution});
  const double reference = series.reference_at(statistics.median);
  if (!(reference > 0) || above - below < 8 * extent) return false;
  Sample upper = series.samples.front();
  upper.value = above;
  const double repeat = typical_repeat(series);
  return matters(series, upper, {below, repeat, repeat}, (above - below) / reference, options);
}

std::vector<FleetFinding> judge_halves(const RunResult& run, const Series& series,
                                       const std::vector<Standing>& places,
                                       const MetricStatistics& statistics) {
  std::vector<FleetFinding> findings;
  for (const Standing& standing : places) {
    FleetFinding finding = finding_for(run, series, standing);
    finding.severity = Severity::warn;
    finding.reason = fmt::format(
        "{}, the group falls into two equal halves {} apart, n={}: cannot tell which is wrong",
        finding.value,
        percent_text((statistics.max - statistics.min) / series.reference_at(statistics.median)),
        series.samples.size());
    findings.push_back(finding);
  }
  return findings;
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
bool scatters_too_much(const Series& series, double reference, const ReduceOptions& options) {
  return reference > 0 && series_tolerance(series, options).warn * reference <
                              options.within_factor * typical_reproduced(series);
}

FleetFinding too_much_scatter(const Series& series, double reference,
                              const ReduceOptions& options) {
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

SeriesJudge::SeriesJudge(const RunResult& run, const ReduceOptions& options)
    : run_(run), options_(options) {}

void SeriesJudge::add(const Series& series, const MetricStatistics& statistics) {
  if (!is_compared(series)) return;
  const double reference = series.reference_at(statistics.median);
  if (scatters_too_much(series, reference, options_)) {
    // Metrics without a better direction give no verdict anyway.
    if (series.better != Better::neither) {
      findings_.push_back({too_much_scatter(series, reference, options_), {}});
    }
    return;
  }
  if (series.samples.size() == 2) {
    add_all(judge_pair(run_, series, options_));
    return;
  }
  const std::vector<Standing> places = standings(series, statistics);
  const std::vector<Outlier> outliers = test(places);
  if (splits_in_halves(series, statistics, options_)) {
    add_all(judge_halves(run_, series, places, statistics));
  } else {
    judge_group(series, statistics, places, outliers);
  }
}

std::vector<FleetFinding> SeriesJudge::take() {
  const std::vector<bool> found = discoveries(p_values_, options_.false_discovery, tests_);
  std::vector<FleetFinding> findings;
  for (Doubted& one : findings_) {
    if (!one.test || found[*one.test]) findings.push_back(std::move(one.finding));
  }
  return findings;
}

void SeriesJudge::add_all(std::vector<FleetFinding> findings) {
  for (FleetFinding& finding : findings) findings_.push_back({std::move(finding), {}});
}

/// All groups that are large enough count as one family of tests; who may be a discovery depends on
/// all of them. Samples of smaller groups pass untested.
std::vector<SeriesJudge::Outlier> SeriesJudge::test(const std::vector<Standing>& places) {
  std::vector<Outlier> outliers;
  if (places.size() < least_discovery_devices) {
    for (std::size_t i = 0; i < places.size(); ++i) outliers.push_back({i, {}});
    return outliers;
  }
  const ScoreTail& tail = tail_of(places.size());
  const double least_score = rounding_share * score_at(options_.false_discovery, tail);
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (std::abs(places[i].score) < least_score) continue;
    outliers.push_back({i, p_values_.size()});
    p_values_.push_back(score_p_value(places[i].score, tail));
  }
  tests_ += places.size();
  return outliers;
}

const ScoreTail& SeriesJudge::tail_of(std::size_t n) {
  const auto known = tails_.find(n);
  return known != tails_.end() ? known->second : tails_[n] = fit_score_tail(n);
}

/// Three devices and more: those that lie clear of the others, by an amount that matters.
void SeriesJudge::judge_group(const Series& series, const MetricStatistics& statistics,
                              const std::vector<Standing>& places,
                              const std::vector<Outlier>& outliers) {
  const Reference reference = median_of(series, statistics.median);
  for (const Outlier& outlier : outliers) {
    const Standing& place = places[outlier.sample];
    const Sample& sample = series.samples[outlier.sample];
    if (!sticks_out(place, statistics) ||
        !matters(series, sample, reference, place.deviation_fraction, options_)) {
      continue;
    }
    FleetFinding finding = finding_for(run_, series, place);
    finding.severity = severity_of(series, sample, place.deviation_fraction, options_);
    explain(series, statistics, place, options_, finding);
    findings_.push_back({std::move(finding), outlier.test});
  }
}

}  // namespace sonde
