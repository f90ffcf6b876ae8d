// What a sweep shows: a curve of each device over one axis, or a heat map over two.
#include "analysis/fleet/value_text.hpp"
#include "analysis/report/charts/charts.hpp"
#include "analysis/statistics.hpp"
#include "base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

namespace sonde {
namespace {

// What a person looks through.
constexpr std::size_t most_charts = 6;
// Lines that can be told apart, and values of an axis that have room.
constexpr std::size_t most_lines = 64;
constexpr std::size_t most_values = 64;
// Changes below this part of a value are the scatter of a run.
constexpr double least_change = 0.01;

/// Where a device was measured, and what was found there.
struct Cell {
  const DeviceResult* device = nullptr;
  const Finding* finding = nullptr;
  double value = 0;
};
/// By the values of the axes.
using Cells = std::map<std::vector<std::string>, std::vector<Cell>>;

Cells read_cells(const RunResult& run, const Metric& metric) {
  Cells cells;
  for (const DeviceResult& device : run.devices) {
    const Finding* finding = find_finding(device, metric.name);
    const auto value = finding == nullptr ? std::nullopt : number_of(*finding);
    if (!value) continue;
    cells[run.provenance.points.at(device.point_index).at].push_back({&device, finding, *value});
  }
  return cells;
}

double median_of(const std::vector<Cell>& cells) {
  std::vector<double> values;
  for (const Cell& cell : cells) values.push_back(cell.value);
  return median(values);
}

/// How much the median of the devices changes over the sweep, as a part of its largest.
double change_of(const Cells& cells) {
  double least = INFINITY;
  double most = -INFINITY;
  for (const auto& [at, there] : cells) {
    least = std::min(least, median_of(there));
    most = std::max(most, median_of(there));
  }
  const double size = std::max(std::abs(least), std::abs(most));
  return cells.size() < 2 || size == 0 ? 0 : (most - least) / size;
}

std::string shown(const Axis& axis, const std::string& value) {
  const auto number = axis.is_number ? parse_quantity(value) : std::nullopt;
  return number ? format_quantity(*number, axis.unit) : value;
}

/// The values of an axis in the order of the sweep.
std::vector<std::string> values_of(const Provenance& provenance, std::size_t axis) {
  std::vector<std::string> values;
  for (const Point& point : provenance.points) {
    if (std::ranges::find(values, point.at.at(axis)) == values.end()) {
      values.push_back(point.at[axis]);
    }
  }
  return values;
}

Json axis_of(const Provenance& provenance, std::size_t axis, const char* values) {
  Json shown_values = Json::array();
  for (const std::string& value : values_of(provenance, axis)) {
    shown_values.push_back(shown(provenance.axes[axis], value));
  }
  return {{"title", provenance.axes[axis].option}, {values, std::move(shown_values)}};
}

Json draw_curves(const Provenance& provenance, const Metric& metric, const Cells& cells) {
  Json points = Json::array();
  for (const std::string& value : values_of(provenance, 0)) {
    const auto there = cells.find({value});
    if (there == cells.end()) continue;
    const std::string at = shown(provenance.axes.front(), value);
    for (const Cell& cell : there->second) {
      const std::string device = chart_label(*cell.device);
      points.push_back({{"line", device},
                        {"x", at},
                        {"y", cell.value},
                        {"text", fmt::format("{}, {}: {:.5g} +- {:.2g}", device, at, cell.value,
                                             cell.finding->reproducibility)}});
    }
  }
  Json x = axis_of(provenance, 0, "domain");
  x["type"] = "point";
  return {{"kind", "lines"},
          {"title", metric.name},
          {"x", std::move(x)},
          {"y", {{"title", metric.unit}, {"type", "linear"}}},
          {"points", std::move(points)}};
}

Json draw_map(const Provenance& provenance, const Metric& metric, const Cells& cells) {
  const std::vector<Axis>& axes = provenance.axes;
  Json values = Json::array();
  for (const auto& [at, there] : cells) {
    values.push_back({{"panel", ""},
                      {"row", shown(axes[0], at[0])},
                      {"column", shown(axes[1], at[1])},
                      {"value", median_of(there)}});
  }
  return heat_chart(fmt::format("{}: median of the devices", metric.name), metric.unit,
                    axis_of(provenance, 0, "values"), axis_of(provenance, 1, "values"),
                    std::move(values));
}

}  // namespace

Json sweep_charts(const RunResult& run, const FleetAnalysis& analysis) {
  const Provenance& provenance = run.provenance;
  const std::size_t axes = provenance.axes.size();
  if (axes < 1 || axes > 2) return Json::array();
  for (std::size_t axis = 0; axis < axes; ++axis) {
    if (values_of(provenance, axis).size() > most_values) return Json::array();
  }
  struct Changing {
    double change;
    const Metric* metric;
    Cells cells;
  };
  std::vector<Changing> changing;
  for (const Metric& metric : analysis.registry) {
    if (metric.kind == MetricKind::inventory) continue;
    Cells cells = read_cells(run, metric);
    const double change = change_of(cells);
    const bool has_room =
        axes == 2 || (!cells.empty() && cells.begin()->second.size() <= most_lines);
    if (change > least_change && has_room) changing.push_back({change, &metric, std::move(cells)});
  }
  std::ranges::stable_sort(changing, std::greater{}, &Changing::change);
  Json specs = Json::array();
  for (const auto& [change, metric, cells] : changing) {
    if (specs.size() == most_charts) break;
    specs.push_back(axes == 1 ? draw_curves(provenance, *metric, cells)
                              : draw_map(provenance, *metric, cells));
  }
  return specs;
}

}  // namespace sonde
