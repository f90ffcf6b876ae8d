// Collects comparable numbers from findings; finds their densest half, and what agrees with it.
#include "analysis/fleet/grounds/series.hpp"

#include "analysis/fleet/tolerance.hpp"
#include "analysis/fleet/value_text.hpp"
#include "analysis/statistics.hpp"

#include <fmt/format.h>
#include <boost/math/statistics/univariate_statistics.hpp>

#include <algorithm>
#include <limits>
#include <span>
#include <tuple>

namespace sonde {
namespace {

// A tolerance is three times the usual scatter of healthy devices. A group may scatter twice as
// much; more scatter is a fault itself.
constexpr double most_scatter_of_tolerance = 2.0 / 3;

constexpr int most_rounds = 30;
constexpr std::size_t furthest_shown = 3;

// Quantiles of a sorted per-SM map: enough that one SM of 132 changes some of them.
constexpr std::size_t profile_points = 65;

Sample sample_of(std::size_t device, const Finding& finding, double value) {
  return {.device = device,
          .value = value,
          .repeat = repeat_deviation(finding),
          .confidence = finding.confidence,
          .reproduced = reproduced_deviation(finding)};
}

void add_numbers(const RunResult& run, const ComparisonGroup& group, Series series,
                 const std::function<void(Series)>& take) {
  for_each_finding(run, group.devices, series.metric.name,
                   [&](std::size_t device, const Finding& finding) {
                     const auto value = number_of(finding);
                     if (value) series.samples.push_back(sample_of(device, finding, *value));
                   });
  if (!series.samples.empty()) take(std::move(series));
}

/// Sorted values at equidistant quantiles, minus their median, as fractions of it.
std::vector<double> profile_of(const std::vector<double>& sorted, double middle) {
  std::vector<double> profile;
  for (std::size_t i = 0; i < profile_points; ++i) {
    const double place =
        static_cast<double>(i * (sorted.size() - 1)) / static_cast<double>(profile_points - 1);
    const auto below = static_cast<std::size_t>(place);
    const std::size_t above = std::min(below + 1, sorted.size() - 1);
    const double value =
        std::lerp(sorted[below], sorted[above], place - static_cast<double>(below));
    profile.push_back((value - middle) / middle);
  }
  return profile;
}

/// Mean distance of each profile from the pointwise median of all: the Wasserstein-1 distance of
/// the two distributions, as a fraction of the median.
std::vector<double> profile_distances(const std::vector<std::vector<double>>& profiles) {
  std::vector<double> distances(profiles.size(), 0);
  for (std::size_t point = 0; point < profile_points; ++point) {
    std::vector<double> here;
    for (const auto& profile : profiles) here.push_back(profile[point]);
    const double center = median(here);
    for (std::size_t i = 0; i < profiles.size(); ++i) {
      distances[i] += std::abs(here[i] - center) / static_cast<double>(profile_points);
    }
  }
  return distances;
}

/// Two numbers for each device's map: its median, and the distance of its sorted profile from those
/// of others. (units.cpp judges single SMs.) Healthy dies differ more in the profile than in the
/// median: it gets twice the tolerance.
void add_map(const RunResult& run, const ComparisonGroup& group, Series medians,
             const std::function<void(Series)>& take) {
  medians.summary = "median";
  Series distances = medians;
  distances.summary = "profile distance";
  distances.metric.unit = "1";
  distances.metric.better = Better::lower;
  distances.metric.warn *= 2;
  distances.metric.fail *= 2;
  distances.resolution = 0;
  distances.reference = 1;
  std::vector<std::vector<double>> profiles;
  const auto add = [&](std::size_t device, const Finding& finding) {
    const std::vector<double>* values = vector_of(finding);
    if (values == nullptr) return;
    std::vector<double> sorted = known_values(*values);
    std::ranges::sort(sorted);
    const double middle = median(sorted);
    if (!(middle > 0)) return;
    profiles.push_back(profile_of(sorted, middle));
    medians.samples.push_back(sample_of(device, finding, middle));
    Sample& fraction = distances.samples.emplace_back(medians.samples.back());
    fraction.repeat /= middle;
    fraction.reproduced /= middle;
    distances.resolution = medians.resolution / middle;
  };
  for_each_finding(run, group.devices, medians.metric.name, add);
  if (profiles.empty()) return;
  const std::vector<double> apart = profile_distances(profiles);
  for (std::size_t i = 0; i < apart.size(); ++i) distances.samples[i].value = apart[i];
  take(std::move(medians));
  take(std::move(distances));
}

std::vector<double> values_of(const Series& series, double Sample::*number = &Sample::value) {
  std::vector<double> values;
  for (const Sample& sample : series.samples) values.push_back(sample.*number);
  return values;
}

/// Lower bounds: clock, repeats, experience. Upper bound: a part of the tolerance.
double scale_of(const Series& series, std::span<const double> members, double center) {
  const double reference = series.reference_at(center);
  const double most = reference > 0 ? most_scatter_of_tolerance * series.metric.warn * reference
                                    : std::numeric_limits<double>::infinity();
  return std::max({std::min(normal_scale * median_absolute_deviation(members), most),
                   normal_scale * series.resolution / std::sqrt(12.0),
                   typical(series, &Sample::repeat), scale_floor_fraction * reference});
}

/// Largest difference between two devices that agree.
double most_extent(const Series& series, double reference, double repeat) {
  const double fraction = series.samples.size() == 2 ? series.metric.warn : series.metric.fail;
  return std::max(fraction * reference, least_difference(series, repeat, repeat));
}

/// Sorted by score, or by deviation if there are no scores; equal ones by device.
std::vector<Standing> furthest_of(const Series& series, const MetricStatistics& statistics) {
  const double reference = series.reference_at(statistics.center);
  std::vector<Standing> all;
  for (const Sample& sample : series.samples) {
    const double deviation = sample.value - statistics.center;
    if (!(reference > 0) || !(std::abs(deviation) > 0)) continue;
    all.push_back({.device = sample.device,
                   .value = sample.value,
                   .deviation_fraction = deviation / reference,
                   .score = statistics.scale > 0 ? deviation / statistics.scale : 0});
  }
  const std::size_t shown = std::min(all.size(), furthest_shown);
  std::ranges::partial_sort(
      all, all.begin() + static_cast<std::ptrdiff_t>(shown), {}, [](const Standing& one) {
        return std::tuple(-std::abs(one.score), -std::abs(one.deviation_fraction), one.device);
      });
  all.resize(shown);
  return all;
}

/// Sets center, scale and the number that agree; 0 without a majority. @pre two samples or more
void find_majority(const Series& series, MetricStatistics& statistics) {
  std::vector<double> sorted = values_of(series);
  std::ranges::sort(sorted);
  const std::size_t half = sorted.size() / 2 + 1;
  std::size_t begin = 0;
  for (std::size_t i = 0; i + half <= sorted.size(); ++i) {
    if (sorted[i + half - 1] - sorted[i] < sorted[begin + half - 1] - sorted[begin]) begin = i;
  }
  std::span<const double> members = std::span(sorted).subspan(begin, half);
  const auto center_of = [](std::span<const double> all) {
    return median(std::vector(all.begin(), all.end()));
  };
  const double repeat = sorted.size() == 2
                            ? std::max(series.samples[0].repeat, series.samples[1].repeat)
                            : typical(series, &Sample::repeat);
  const double reference = series.reference_at(center_of(members));
  if (members.back() - members.front() > most_extent(series, reference, repeat)) return;
  double center = 0;
  double scale = 0;
  for (int round = 0; round < most_rounds; ++round) {
    center = center_of(members);
    scale = scale_of(series, members, center);
    const double limit = agreeing_distance(series, members.size(), center, scale);
    const auto low = std::ranges::lower_bound(sorted, center - limit);
    const auto high = std::ranges::upper_bound(sorted, center + limit);
    const std::span<const double> next(low, high);
    if (next.data() == members.data() && next.size() == members.size()) break;
    members = next;
  }
  if (2 * members.size() <= sorted.size()) return;
  statistics.agreeing = members.size();
  statistics.center = center;
  statistics.scale = scale;
}

}  // namespace

void for_each_series(const RunResult& run, const FleetAnalysis& analysis,
                     const std::function<void(Series)>& take) {
  for (std::size_t group = 0; group < analysis.groups.size(); ++group) {
    for (const Metric& metric : analysis.registry) {
      Series series{.metric = metric, .group = group, .resolution = resolution_of(metric)};
      if (metric.kind == MetricKind::continuous) {
        add_numbers(run, analysis.groups[group], std::move(series), take);
      } else if (is_compared_map(metric)) {
        add_map(run, analysis.groups[group], std::move(series), take);
      }
    }
  }
}

double typical(const Series& series, double Sample::*number) {
  return median(values_of(series, number));
}

double least_difference(const Series& series, double one_repeat, double other_repeat) {
  constexpr double gage_limit =
      0.30;  // largest deviation of a value / least difference that is judged
  return std::max({std::max(one_repeat, other_repeat) / gage_limit,
                   within_factor * std::hypot(one_repeat, other_repeat),
                   least_steps * series.resolution});
}

double standard_deviation(const std::vector<double>& values) {
  return values.size() < 2 ? 0 : std::sqrt(boost::math::statistics::sample_variance(values));
}

double agreeing_distance(const Series& series, std::size_t agreeing, double center, double scale) {
  const double reference = series.reference_at(center);
  const double by_score = std::max(score_limit(agreeing) * scale, series.metric.warn * reference);
  if (agreeing >= least_scored_devices) return by_score;
  return std::min(by_score, most_extent(series, reference, typical(series, &Sample::repeat)));
}

std::string title_of(const MetricStatistics& statistics) {
  return statistics.summary.empty() ? statistics.metric
                                    : fmt::format("{} ({})", statistics.metric, statistics.summary);
}

MetricStatistics statistics_of(const Metric& metric, std::size_t group,
                               const std::vector<double>& values) {
  MetricStatistics statistics;
  statistics.metric = metric.name;
  statistics.unit = metric.unit;
  statistics.kind = metric.kind;
  statistics.group = group;
  statistics.n = values.size();
  if (values.empty()) return statistics;
  statistics.median = median(values);
  statistics.mad = median_absolute_deviation(values);
  statistics.min = std::ranges::min(values);
  statistics.max = std::ranges::max(values);
  const double mean = boost::math::statistics::mean(values);
  statistics.cv = mean != 0 ? standard_deviation(values) / std::abs(mean)
                            : std::numeric_limits<double>::quiet_NaN();
  return statistics;
}

MetricStatistics describe(const Series& series) {
  MetricStatistics statistics = statistics_of(series.metric, series.group, values_of(series));
  statistics.summary = series.summary;
  statistics.center = statistics.median;
  if (series.samples.size() >= 2) {
    find_majority(series, statistics);
    statistics.ambiguous = statistics.agreeing == 0;
  }
  if (statistics.agreeing >= least_scored_devices) {
    statistics.threshold = score_limit(statistics.agreeing);
  }
  statistics.furthest = furthest_of(series, statistics);
  return statistics;
}

}  // namespace sonde
