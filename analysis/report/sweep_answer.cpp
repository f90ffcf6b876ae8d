// Medians over the GPUs at each setting, and which of them change.
#include "analysis/report/sweep_answer.hpp"

#include "analysis/fleet/value_text.hpp"
#include "analysis/report/content.hpp"
#include "analysis/statistics.hpp"
#include "base/units.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

namespace sonde {
namespace {

// Smaller changes, relative or in deviations, are scatter.
constexpr double least_change = 0.01;
constexpr double least_deviations = 3;
constexpr std::size_t many_rows = 48;

double deviation_of(const Finding& finding) {
  return finding.reproducibility > 0 ? finding.reproducibility : finding.repeatability;
}

std::string shown(const Axis& axis, const std::string& value) {
  const auto number = axis.is_number ? parse_quantity(value) : std::nullopt;
  return number ? format_quantity(*number, axis.unit) : value;
}

/// The jobs that were named; empty: all jobs of a suite.
std::set<std::string> named_jobs(const Provenance& provenance) {
  std::set<std::string> names;
  const auto options = nlohmann::json::parse(provenance.config_json, nullptr, false);
  if (!options.is_object() || !options.contains("jobs") || !options["jobs"].is_array()) return {};
  for (const auto& name : options["jobs"]) {
    if (name.is_string()) names.insert(name.get<std::string>());
  }
  return names;
}

SweptValue summarize(const std::vector<const Finding*>& findings) {
  std::vector<double> values;
  std::vector<double> deviations;
  for (const Finding* finding : findings) {
    values.push_back(*number_of(finding));
    deviations.push_back(deviation_of(*finding));
  }
  const auto [low, high] = std::ranges::minmax(values);
  const double aside = values.size() == 1 ? deviations.front() : 0;
  return {.gpus = values.size(),
          .median = median(values),
          .low = low - aside,
          .high = high + aside,
          .deviation = median(deviations)};
}

bool is_change(double low, double high, double deviation) {
  const double size = std::max(std::abs(low), std::abs(high));
  return high - low > std::max(least_change * size, least_deviations * deviation);
}

/// True if the metric changed; nothing if it has values at fewer than two settings.
std::optional<bool> note_change(SweptMetric& metric) {
  std::vector<double> medians;
  double deviation = 0;
  for (const SweptValue& value : metric.values) {
    if (value.gpus == 0) continue;
    medians.push_back(value.median);
    deviation = std::max(deviation, value.deviation);
  }
  if (medians.size() < 2) return std::nullopt;
  const auto [low, high] = std::ranges::minmax(medians);
  const double size = std::max(std::abs(low), std::abs(high));
  metric.change = size == 0 ? 0 : (high - low) / size;
  return is_change(low, high, deviation);
}

using Settings = std::map<std::vector<std::string>, std::size_t>;  // index by values

SweptModel answer_of_model(const std::string& name, const RunResult& run,
                           const std::vector<std::size_t>& devices, const Settings& settings,
                           const FleetAnalysis& analysis) {
  const std::set<std::string> named = named_jobs(run.provenance);
  SweptModel model{.name = name};
  std::set<std::string_view> gpus;
  std::map<std::string_view, std::vector<std::vector<const Finding*>>> found;  // by metric, setting
  for (const std::size_t i : devices) {
    const DeviceResult& device = run.devices[i];
    gpus.insert(device.info.uuid);
    const std::size_t setting = settings.at(run.provenance.points.at(device.point_index).at);
    for (const JobResult& job : device.jobs) {
      for (const Finding& finding : job.findings) {
        if (!number_of(finding)) continue;
        auto& by_setting = found[finding.metric];
        by_setting.resize(settings.size());
        by_setting[setting].push_back(&finding);
      }
    }
  }
  model.gpus = gpus.size();
  for (const Metric& metric : analysis.registry) {
    const auto there = found.find(metric.name);
    const bool is_asked = named.empty() || named.contains(std::string(metric.job));
    if (there == found.end() || metric.kind == MetricKind::inventory || !is_asked) continue;
    SweptMetric swept{.metric = &metric, .values = {}};
    for (const auto& findings : there->second)
      swept.values.push_back(findings.empty() ? SweptValue{} : summarize(findings));
    const auto changed = note_change(swept);
    if (!changed) continue;
    if (*changed) {
      model.metrics.push_back(std::move(swept));
    } else {
      const auto known =
          std::ranges::find_if(swept.values, [](const auto& one) { return one.gpus > 0; });
      model.steady.push_back(
          fmt::format("{} {}", metric.name, format_quantity(known->median, metric.unit)));
    }
  }
  std::ranges::stable_sort(model.metrics, std::greater{}, &SweptMetric::change);
  return model;
}

/// "36.5 +- 0.2"; "-" if no GPU has a number.
std::string value_cell(const SweptValue& value, const DisplayUnit& display) {
  if (value.gpus == 0) return "-";
  const std::string text = number_text(value.median, display);
  const bool deviates =
      value.deviation > 1e-6 * std::abs(value.median);  // smaller ones are rounding errors
  return deviates ? fmt::format("{} +- {:.2g}", text, value.deviation / display.divisor) : text;
}

bool differ(const SweptValue& one, const SweptValue& other) {
  if (one.gpus == 0 || other.gpus == 0) return one.gpus != other.gpus;
  return is_change(std::min(one.median, other.median), std::max(one.median, other.median),
                   std::max(one.deviation, other.deviation));
}

/// True if it has more rows than a person reads.
bool is_long(const SweepAnswer& answer) { return answer.settings.size() > many_rows; }

std::vector<std::size_t> rows_to_show(const SweepAnswer& answer,
                                      const std::vector<SweptMetric>& metrics) {
  std::vector<std::size_t> rows(answer.settings.size());
  std::iota(rows.begin(), rows.end(), 0);
  if (!is_long(answer)) return rows;
  const std::size_t axis = longest_axis(answer);
  std::vector<std::pair<std::vector<std::string>, std::vector<std::size_t>>>
      lines;  // rows along this axis
  for (const std::size_t row : rows) {
    std::vector<std::string> others = answer.settings[row];
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(axis));
    auto place = std::ranges::find(lines, others, &decltype(lines)::value_type::first);
    if (place == lines.end()) place = lines.insert(lines.end(), {others, {}});
    std::vector<std::size_t>& line = place->second;
    const auto is_other = [&](const SweptMetric& swept) {
      return line.empty() || differ(swept.values[line.back()], swept.values[row]);
    };
    if (std::ranges::any_of(metrics, is_other)) line.push_back(row);
  }
  rows.clear();
  for (const auto& [others, line] : lines) rows.insert(rows.end(), line.begin(), line.end());
  return rows;
}

}  // namespace

SweepAnswer answer_sweep(const RunResult& run, const FleetAnalysis& analysis) {
  SweepAnswer answer;
  const std::vector<Axis>& axes = run.provenance.axes;
  if (axes.empty()) return answer;
  for (const Axis& axis : axes) answer.axes.push_back(axis.option);
  Settings places;
  for (const Point& point : run.provenance.points) {
    if (!places.try_emplace(point.at, places.size()).second) continue;
    std::vector<std::string>& texts = answer.settings.emplace_back();
    for (std::size_t i = 0; i < axes.size(); ++i) texts.push_back(shown(axes[i], point.at.at(i)));
  }
  std::vector<std::pair<std::string, std::vector<std::size_t>>> models;
  for (const ComparisonGroup& group : analysis.groups) {
    auto model = std::ranges::find(models, group.model, &decltype(models)::value_type::first);
    if (model == models.end()) model = models.insert(models.end(), {group.model, {}});
    model->second.insert(model->second.end(), group.devices.begin(), group.devices.end());
  }
  for (const auto& [name, devices] : models)
    answer.models.push_back(answer_of_model(name, run, devices, places, analysis));
  return answer;
}

DisplayUnit unit_of(const SweptMetric& swept) {
  double largest = 0;
  for (const SweptValue& value : swept.values) largest = std::max(largest, std::abs(value.median));
  return display_unit(largest, swept.metric->unit);
}

std::size_t longest_axis(const SweepAnswer& answer) {
  std::vector<std::set<std::string>> values(answer.axes.size());
  for (const auto& setting : answer.settings) {
    for (std::size_t axis = 0; axis < values.size(); ++axis) values[axis].insert(setting[axis]);
  }
  const auto longest = std::ranges::max_element(values, {}, &std::set<std::string>::size);
  return static_cast<std::size_t>(longest - values.begin());
}

std::string heading_of(const SweepAnswer& answer, const SweptModel& model) {
  return fmt::format("{}, {} GPU{}, median +- deviation{}", model.name, model.gpus,
                     model.gpus == 1 ? "" : "s", is_long(answer) ? "; rows where it changes" : "");
}

TextTable sweep_table(const SweepAnswer& answer, const SweptModel& model, std::size_t first,
                      std::size_t count) {
  const auto begin = model.metrics.begin() + static_cast<std::ptrdiff_t>(first);
  const std::vector<SweptMetric> metrics(begin, begin + static_cast<std::ptrdiff_t>(count));
  TextTable table;
  for (const std::string& axis : answer.axes) table.columns.push_back({axis, Align::right});
  for (const SweptMetric& swept : metrics) {
    const DisplayUnit display = unit_of(swept);
    const std::string unit = display.divisor == 1 ? "" : " " + display.text;
    table.columns.push_back({std::string(swept.metric->name) + unit, Align::right});
  }
  for (const std::size_t setting : rows_to_show(answer, metrics)) {
    std::vector<std::string> row = answer.settings[setting];
    for (const SweptMetric& swept : metrics)
      row.push_back(value_cell(swept.values[setting], unit_of(swept)));
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace sonde
