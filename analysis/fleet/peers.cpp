// From series and their statistics to charges on the ground of peers.
#include "analysis/fleet/peers.hpp"

#include "analysis/fleet/describe.hpp"
#include "analysis/fleet/majority.hpp"
#include "analysis/fleet/tolerance.hpp"
#include "analysis/fleet/value_text.hpp"
#include "analysis/statistics.hpp"
#include "base/units.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace sonde {
namespace {

constexpr std::size_t least_discovery_devices = 16;
// Of the score that a discovery needs at least: below this share of it no rounding makes it one.
constexpr double rounding_share = 0.999;
constexpr double least_failing_confidence = 0.5;

std::string shown_value(const Series& series, double value) {
  return series.reference == 1 ? percent_text(value) : format_quantity(value, series.unit);
}

/// "placement.l2_latency_cycles (median)" for a summary of a map.
std::string name_of(const Series& series) {
  return series.summary.empty() ? series.metric : series.metric + " (" + series.summary + ")";
}

Charge charge_for(const RunResult& run, const Series& series, const Standing& standing) {
  const auto sample = std::ranges::find(series.samples, standing.device, &Sample::device);
  return {.device = standing.device,
          .node = run.devices[standing.device].node,
          .ground = Ground::peers,
          .metric = name_of(series),
          .value = shown_value(series, standing.value),
          .size = standing.deviation_fraction,
          .score = standing.score,
          .certainty = sample->confidence,
          .n = series.samples.size()};
}

/// Large enough to matter, and more than the replicates of this device, of a usual one, and of the
/// majority's median explain. @param members of the majority
bool matters(const Series& series, const Sample& sample, double center, std::size_t members,
             const ReduceOptions& options) {
  const double usual = typical_repeat(series);
  const double of_center = median_error * usual / std::sqrt(static_cast<double>(members));
  const double difference = std::abs(sample.value - center);
  return difference >= series_tolerance(series, options).warn * series.reference_at(center) &&
         difference > least_difference(series, std::max(sample.repeat, usual), of_center, options);
}

Severity severity_of(const Series& series, const Sample& sample, double fraction,
                     const ReduceOptions& options) {
  if (!is_worse(series.better, fraction)) return Severity::info;
  const bool far = std::abs(fraction) >= series_tolerance(series, options).fail;
  // Clocks move with power and cooling: a slow one is a reason to look, its effects may fail.
  const bool covariate = series.metric.starts_with("conditions.");
  return far && sample.confidence >= least_failing_confidence && !covariate ? Severity::fail
                                                                            : Severity::warn;
}

std::string reason_of(const Series& series, const MetricStatistics& statistics,
                      const Charge& charge) {
  const std::size_t n = series.samples.size();
  if (series.reference == 1) {
    return fmt::format("{} where its peers have {}, n={}", charge.value, charge.reference, n);
  }
  return fmt::format(
      "{} is {} {} its peers' {}, n={}{}", charge.value, percent_text(charge.size),
      charge.size > 0 ? "above" : "below", charge.reference, n,
      statistics.agreeing < n - 1 ? fmt::format(", of which {} agree", statistics.agreeing) : "");
}

std::string evidence_of(const Series& series, const MetricStatistics& statistics,
                        const Charge& charge, const ReduceOptions& options) {
  const double warn = series_tolerance(series, options).warn;
  const std::string text =
      fmt::format("{:.1f} x the tolerance of {:g} %", std::abs(charge.size) / warn, 100 * warn);
  return statistics.threshold > 0
             ? fmt::format("{}; score {:.1f}, healthy groups of {} stay below {:.1f}", text,
                           std::abs(charge.score), statistics.agreeing, statistics.threshold)
             : fmt::format(
                   "{}; {:.0f} x the scatter of the group, but {} devices are too few for "
                   "a score verdict",
                   text, std::abs(charge.score), series.samples.size());
}

/// Metrics whose tolerance is less than what their replicates scatter.
bool scatters_too_much(const Series& series, double reference, const ReduceOptions& options) {
  return reference > 0 && series_tolerance(series, options).warn * reference <
                              options.within_factor * typical_reproduced(series);
}

Charge note_of(const Series& series, std::string reason) {
  return {.ground = Ground::peers,
          .metric = name_of(series),
          .n = series.samples.size(),
          .reason = std::move(reason)};
}

Charge too_much_scatter(const Series& series, double reference, const ReduceOptions& options) {
  return note_of(
      series,
      fmt::format("not judged: its tolerance of {:g} % is less than {:g} times the {} "
                  "by which its value scatters between replicates (standard "
                  "deviation), n={}",
                  100 * series_tolerance(series, options).warn, options.within_factor,
                  percent_text(typical_reproduced(series) / reference), series.samples.size()));
}

/// "2 have 4.5 TB/s; 1 has 3.6 TB/s (node01 rank 2)": the smallest part by name.
std::string parts_text(const RunResult& run, const Series& series,
                       const std::vector<std::vector<std::size_t>>& parts) {
  const auto smallest = std::ranges::min_element(parts, {}, &std::vector<std::size_t>::size);
  std::vector<std::string> texts;
  for (const std::vector<std::size_t>& part : parts) {
    std::vector<double> values;
    std::vector<std::size_t> devices;
    for (const std::size_t i : part) {
      values.push_back(series.samples[i].value);
      devices.push_back(series.samples[i].device);
    }
    texts.push_back(fmt::format("{} {} {}", part.size(), part.size() == 1 ? "has" : "have",
                                shown_value(series, median(values))));
    if (&part == &*smallest) texts.back() += " (" + name_devices(run, devices) + ")";
  }
  return fmt::format("{}", fmt::join(texts, "; "));
}

}  // namespace

void PeerJudge::add(const Series& series, const MetricStatistics& statistics) {
  if (series.samples.size() < 2 || !series.not_compared.empty()) return;
  const double reference = series.reference_at(statistics.center);
  if (scatters_too_much(series, reference, options_)) {
    // Metrics without a better direction give no verdict anyway.
    if (series.better != Better::neither) {
      charges_.push_back({too_much_scatter(series, reference, options_), {}});
    }
  } else if (statistics.ambiguous) {
    charge_all(series, {});
  } else {
    charge_outliers(series, statistics);
  }
}

std::vector<Charge> PeerJudge::take() {
  const std::vector<bool> found = discoveries(p_values_, options_.false_discovery, tests_);
  std::vector<Charge> charges;
  for (Doubted& one : charges_) {
    if (!one.test || found[*one.test]) charges.push_back(std::move(one.charge));
  }
  return charges;
}

/// All groups that are large enough count as one family of tests. @returns the number of the test,
/// if the score can be a discovery; nothing for a smaller group
std::optional<std::size_t> PeerJudge::test(double score, std::size_t n) {
  if (n < least_discovery_devices) return {};
  p_values_.push_back(score_p_value(score, tail_of(n)));
  return p_values_.size() - 1;
}

/// Every device of a group that falls into parts.
/// @param test that must be a discovery, if it depends on one
void PeerJudge::charge_all(const Series& series, std::optional<std::size_t> test) {
  const auto parts = parts_of(series, options_);
  if (parts.size() < 2) {
    if (series.better != Better::neither) {
      charges_.push_back(
          {note_of(series, fmt::format("not judged: devices scatter too far apart, n={}",
                                       series.samples.size())),
           {}});
    }
    return;
  }
  const double best =
      series.samples[(series.better == Better::lower ? parts.back().back() : parts.front().back())]
          .value;
  const std::string text = parts_text(run_, series, parts);
  for (const Sample& sample : series.samples) {
    Charge charge =
        charge_for(run_, series,
                   {.device = sample.device,
                    .value = sample.value,
                    .deviation_fraction = (sample.value - best) / series.reference_at(best),
                    .score = Charge::no_number});
    charge.undecided = true;
    charge.severity = series.better == Better::neither ? Severity::info : Severity::warn;
    if (series.samples.size() == 2) {
      const Sample& other = series.samples[&sample == &series.samples[0] ? 1 : 0];
      charge.reference = shown_value(series, other.value);
      charge.size =
          (sample.value - other.value) / series.reference_at((sample.value + other.value) / 2);
      charge.reason =
          fmt::format("{}, differs from its only peer's {} by {}, n=2: cannot tell which is wrong",
                      charge.value, charge.reference, percent_text(charge.size));
    } else {
      charge.reason = fmt::format(
          "{}; the group falls into parts, n={}: {}: cannot tell which "
          "is wrong",
          charge.value, series.samples.size(), text);
    }
    charges_.push_back({std::move(charge), test});
  }
}

/// Those that lie clear of the majority, by an amount that matters. One that is as much better as a
/// failing one is worse may be the only healthy device.
void PeerJudge::charge_outliers(const Series& series, const MetricStatistics& statistics) {
  const std::size_t n = series.samples.size();
  const std::vector<Standing> places = standings(series, statistics);
  const double cut = score_limit(statistics.agreeing, options_);
  const double fail = series_tolerance(series, options_).fail;
  std::vector<Doubted> outliers;
  std::optional<std::size_t> better;  // of the outliers
  if (n >= least_discovery_devices) tests_ += n;
  for (std::size_t i = 0; i < n; ++i) {
    const Standing& place = places[i];
    if (n >= least_discovery_devices && std::abs(place.score) < least_score(n)) continue;
    const auto number = test(place.score, n);
    if (std::abs(place.score) < cut ||
        !matters(series, series.samples[i], statistics.center, statistics.agreeing, options_)) {
      continue;
    }
    Charge charge = charge_for(run_, series, place);
    charge.severity = severity_of(series, series.samples[i], charge.size, options_);
    charge.reference = shown_value(series, statistics.center);
    charge.reason = reason_of(series, statistics, charge);
    charge.evidence = evidence_of(series, statistics, charge, options_);
    const bool is_better = is_worse(series.better, -charge.size) && std::abs(charge.size) >= fail;
    if (is_better && !better) better = outliers.size();
    outliers.push_back({std::move(charge), number});
  }
  if (better) return charge_all(series, outliers[*better].test);
  std::ranges::move(outliers, std::back_inserter(charges_));
}

const ScoreTail& PeerJudge::tail_of(std::size_t n) {
  const auto [known, is_new] = tails_.try_emplace(n);
  if (is_new) known->second = fit_score_tail(n);
  return known->second;
}

/// Scores below it are never discoveries. @pre n >= least_discovery_devices
double PeerJudge::least_score(std::size_t n) {
  return rounding_share * score_at(options_.false_discovery, tail_of(n));
}

}  // namespace sonde
