// What a sweep shows: over one axis a curve with a band for each model of GPU, over two a heat map.
#include "analysis/report/charts/charts.hpp"
#include "analysis/report/sweep_answer.hpp"
#include "base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace sonde {
namespace {

// What a person looks through.
constexpr std::size_t most_charts = 6;
// Values of an axis that have room.
constexpr std::size_t most_values = 64;

/// A metric that changes, in each model in which it does.
struct Changing {
  const Metric* metric = nullptr;
  std::vector<std::pair<const SweptModel*, const SweptMetric*>> of_models = {};
};

/// Those of the model that change most first.
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

/// The values of an axis in the order of the sweep.
std::vector<std::string> values_of(const SweepAnswer& answer, std::size_t axis) {
  std::vector<std::string> values;
  for (const auto& setting : answer.settings) {
    if (std::ranges::find(values, setting[axis]) == values.end()) values.push_back(setting[axis]);
  }
  return values;
}

Json axis_of(const SweepAnswer& answer, std::size_t axis, const char* values) {
  return {{"title", answer.axes[axis]}, {values, values_of(answer, axis)}};
}

Json draw_curves(const SweepAnswer& answer, const Changing& changing) {
  Json points = Json::array();
  for (const auto& [model, swept] : changing.of_models) {
    for (std::size_t i = 0; i < swept->values.size(); ++i) {
      const SweptValue& value = swept->values[i];
      if (value.gpus == 0) continue;
      points.push_back({{"line", model->name},
                        {"x", answer.settings[i].front()},
                        {"y", value.median},
                        {"low", value.low},
                        {"high", value.high},
                        {"text", fmt::format("{}, {}: {:.5g} +- {:.2g}, {} GPU(s)", model->name,
                                             answer.settings[i].front(), value.median,
                                             value.deviation, value.gpus)}});
    }
  }
  Json x = axis_of(answer, 0, "domain");
  x["type"] = "point";
  return {{"kind", "lines"},
          {"title", changing.metric->name},
          {"x", std::move(x)},
          {"y", {{"title", changing.metric->unit}, {"type", "linear"}}},
          {"points", std::move(points)}};
}

Json draw_map(const SweepAnswer& answer, const Changing& changing) {
  Json cells = Json::array();
  for (const auto& [model, swept] : changing.of_models) {
    for (std::size_t i = 0; i < swept->values.size(); ++i) {
      if (swept->values[i].gpus == 0) continue;
      cells.push_back({{"panel", answer.models.size() > 1 ? model->name : ""},
                       {"row", answer.settings[i][0]},
                       {"column", answer.settings[i][1]},
                       {"value", swept->values[i].median}});
    }
  }
  return heat_chart(std::string(changing.metric->name), changing.metric->unit,
                    axis_of(answer, 0, "values"), axis_of(answer, 1, "values"), std::move(cells));
}

}  // namespace

Json sweep_charts(const RunResult& run, const FleetAnalysis& analysis) {
  const SweepAnswer answer = answer_sweep(run, analysis);
  Json charts = Json::array();
  const std::size_t axes = answer.axes.size();
  if (axes < 1 || axes > 2) return charts;
  for (std::size_t axis = 0; axis < axes; ++axis) {
    if (values_of(answer, axis).size() > most_values) return charts;
  }
  for (const Changing& changing : list_changing(answer))
    charts.push_back(axes == 1 ? draw_curves(answer, changing) : draw_map(answer, changing));
  return charts;
}

}  // namespace sonde
