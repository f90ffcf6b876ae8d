// Charts of a sweep: curves over its longest axis, or heat maps over the last two.
#include "analysis/report/charts/charts.hpp"
#include "analysis/report/sweep_answer.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace sonde {
namespace {

// More charts would be too many to read.
constexpr std::size_t most_charts = 6;
// Most values of an axis in a curve and in a heat map; most curves or panels in one chart.
constexpr std::size_t most_on_curve = 512;
constexpr std::size_t most_in_map = 64;
constexpr std::size_t most_beside = 12;
// A longer axis becomes a curve, even if there are other axes.
constexpr std::size_t short_axis = 16;

/// A metric that changes, with the models in which it changes.
struct Changing {
  const Metric* metric = nullptr;
  std::vector<std::pair<const SweptModel*, const SweptMetric*>> of_models = {};
};

/// Sorted by the change in the first model.
std::vector<Changing> list_changing(const SweepAnswer& answer) {
  std::vector<Changing> all;
  for (const SweptModel& model : answer.models) {
    for (const SweptMetric& swept : model.metrics) {
      auto one = std::ranges::find(all, swept.metric, &Changing::metric);
      if (one == all.end()) one = all.insert(all.end(), {swept.metric});
      one->of_models.emplace_back(&model, &swept);
    }
  }
  all.resize(std::min(all.size(), most_charts));
  return all;
}

/// The values of an axis, in the order of the sweep.
std::vector<std::string> values_of(const SweepAnswer& answer, std::size_t axis) {
  std::vector<std::string> values;
  for (const auto& setting : answer.settings) {
    if (std::ranges::find(values, setting[axis]) == values.end()) values.push_back(setting[axis]);
  }
  return values;
}

/// "stride_bytes" of "chase.stride_bytes": the metric in the title already names the job.
std::string short_name(const std::string& axis) { return axis.substr(axis.rfind('.') + 1); }

Json axis_of(const SweepAnswer& answer, std::size_t axis, const char* values) {
  return {{"title", short_name(answer.axes[axis])}, {values, values_of(answer, axis)}};
}

/// Name of a curve or a panel, without its own axes: "NVIDIA H200, stride_bytes=32 B, path=ca".
std::string name_rest(const SweepAnswer& answer, std::size_t setting,
                      const std::vector<std::size_t>& own_axes, const SweptModel& model) {
  std::vector<std::string> parts;
  if (answer.models.size() > 1) parts.push_back(model.name);
  for (std::size_t axis = 0; axis < answer.axes.size(); ++axis) {
    if (std::ranges::find(own_axes, axis) != own_axes.end()) continue;
    parts.push_back(
        fmt::format("{}={}", short_name(answer.axes[axis]), answer.settings[setting][axis]));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

/// Number of curves or panels.
std::size_t count_rest(const SweepAnswer& answer, const std::vector<std::size_t>& own_axes) {
  std::set<std::string> names;
  for (const SweptModel& model : answer.models) {
    for (std::size_t i = 0; i < answer.settings.size(); ++i) {
      names.insert(name_rest(answer, i, own_axes, model));
    }
  }
  return names.size();
}

Json draw_curves(const SweepAnswer& answer, const Changing& changing, std::size_t axis) {
  Json points = Json::array();
  const DisplayUnit unit = unit_of(*changing.of_models.front().second);
  for (const auto& [model, swept] : changing.of_models) {
    for (std::size_t i = 0; i < swept->values.size(); ++i) {
      const SweptValue& value = swept->values[i];
      if (value.gpus == 0) continue;
      const std::string& at = answer.settings[i][axis];
      const std::string rest = name_rest(answer, i, {axis}, *model);
      const std::string& line = rest.empty() ? model->name : rest;
      points.push_back({{"line", line},
                        {"x", at},
                        {"y", value.median / unit.divisor},
                        {"low", value.low / unit.divisor},
                        {"high", value.high / unit.divisor},
                        {"text", fmt::format("{}, {}: {:.5g} +- {:.2g}, {} GPU(s)", line, at,
                                             value.median / unit.divisor,
                                             value.deviation / unit.divisor, value.gpus)}});
    }
  }
  Json x = axis_of(answer, axis, "domain");
  x["type"] = "point";
  return {{"kind", "lines"},
          {"title", changing.metric->name},
          {"wide", true},
          {"x", std::move(x)},
          {"y", {{"title", unit.text}, {"type", "linear"}}},
          {"points", std::move(points)}};
}

Json draw_map(const SweepAnswer& answer, const Changing& changing, std::size_t rows,
              std::size_t columns) {
  Json cells = Json::array();
  const DisplayUnit unit = unit_of(*changing.of_models.front().second);
  for (const auto& [model, swept] : changing.of_models) {
    for (std::size_t i = 0; i < swept->values.size(); ++i) {
      if (swept->values[i].gpus == 0) continue;
      cells.push_back({{"panel", name_rest(answer, i, {rows, columns}, *model)},
                       {"row", answer.settings[i][rows]},
                       {"column", answer.settings[i][columns]},
                       {"value", swept->values[i].median / unit.divisor}});
    }
  }
  return {{"kind", "heat"},
          {"title", changing.metric->name},
          {"unit", unit.text},
          {"rows", axis_of(answer, rows, "values")},
          {"columns", axis_of(answer, columns, "values")},
          {"cells", std::move(cells)}};
}

}  // namespace

Json sweep_charts(const RunResult& run, const FleetAnalysis& analysis) {
  const SweepAnswer answer = answer_sweep(run, analysis);
  Json charts = Json::array();
  const std::size_t axes = answer.axes.size();
  if (axes == 0) return charts;
  const std::size_t longest = longest_axis(answer);
  const std::size_t on_curve = values_of(answer, longest).size();
  const bool is_curve =
      axes == 1 || (on_curve > short_axis && count_rest(answer, {longest}) <= most_beside);
  const std::size_t columns = axes - 1;
  const std::size_t rows = axes - std::min<std::size_t>(axes, 2);
  const bool has_room = is_curve ? on_curve <= most_on_curve
                                 : values_of(answer, rows).size() <= most_in_map &&
                                       values_of(answer, columns).size() <= most_in_map &&
                                       count_rest(answer, {rows, columns}) <= most_beside;
  if (!has_room) return charts;
  for (const Changing& changing : list_changing(answer)) {
    charts.push_back(is_curve ? draw_curves(answer, changing, longest)
                              : draw_map(answer, changing, rows, columns));
  }
  return charts;
}

}  // namespace sonde
