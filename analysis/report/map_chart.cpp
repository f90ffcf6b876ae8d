// The grid of SMs: cells of each map, laid out by GPC and TPC.
#include "analysis/report/charts.hpp"

#include "analysis/fleet/fingerprint.hpp"
#include "analysis/fleet/value_text.hpp"
#include "analysis/report/content.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

namespace sonde {
namespace {

constexpr std::size_t most_devices = 32;
// Where the GPC of an SM is not known: rows of 16 SMs, about as many as a GPC has.
constexpr int unknown_row_sms = 16;

struct Cell {
  int sm = 0;
  int gpc = -1;
  int tpc = -1;
  double x = 0;  // in cells
};

std::vector<double> map_values(const DeviceResult& device, std::string_view metric) {
  const std::vector<double>* values = vector_of(device, metric);
  return values != nullptr ? *values : std::vector<double>{};
}

/// SMs by GPC; within one by TPC, with a gap of a fifth of a cell between TPCs.
std::vector<Cell> lay_out(const DeviceResult& device, std::size_t sms) {
  const std::vector<double> gpcs = map_values(device, "topology.gpc_of_sm");
  const std::vector<double> tpcs = map_values(device, "topology.tpc_of_sm");
  std::vector<Cell> cells;
  for (std::size_t sm = 0; sm < sms; ++sm) {
    const int number = static_cast<int>(sm);
    cells.push_back(
        {.sm = number,
         .gpc = gpcs.size() == sms ? static_cast<int>(gpcs[sm]) : number / unknown_row_sms,
         .tpc = tpcs.size() == sms ? static_cast<int>(tpcs[sm]) : -1});
  }
  std::ranges::sort(cells, {},
                    [](const Cell& cell) { return std::tuple(cell.gpc, cell.tpc, cell.sm); });
  for (std::size_t i = 1; i < cells.size(); ++i) {
    if (cells[i].gpc != cells[i - 1].gpc) continue;
    cells[i].x = cells[i - 1].x + (cells[i].tpc == cells[i - 1].tpc ? 1 : 1.2);
  }
  return cells;
}

/// Where the SMs of a map stand, of so many.
Json layout_json(const DeviceResult& device, std::size_t sms) {
  const bool known = map_values(device, "topology.gpc_of_sm").size() == sms;
  Json cells = Json::array();
  for (const Cell& cell : lay_out(device, sms)) {
    cells.push_back({{"row", known ? (cell.gpc < 0 ? "GPC ?" : "GPC " + std::to_string(cell.gpc))
                                   : "SM " + std::to_string(cell.gpc * unknown_row_sms) + " ..."},
                     {"x", cell.x},
                     {"sm", cell.sm},
                     {"tpc", cell.tpc}});
  }
  return cells;
}

/// To six digits: more than anybody sees. Those that are not finite become null.
Json shown_values(const std::vector<double>& values) {
  Json shown = Json::array();
  for (const double value : values) {
    shown.push_back(std::isfinite(value) ? Json(std::stod(fmt::format("{:.6g}", value)))
                                         : Json(nullptr));
  }
  return shown;
}

/// Maps that have a value for each SM, in their order, and a better direction.
Json maps_of(const RunResult& run, const FleetAnalysis& analysis, std::size_t index) {
  Json maps = Json::array();
  for (const Metric& metric : analysis.registry) {
    if (!is_unit_map(metric) || is_slice_map(metric)) continue;
    const std::vector<double> values = map_values(run.devices[index], metric.name);
    if (values.size() < 2) continue;
    std::set<int> outlying;
    for (const std::size_t i : analysis.verdicts[index].charges) {
      const Charge& charge = analysis.charges[i];
      if (charge.metric != metric.name || charge.unit.kind != Unit::Kind::sm) continue;
      outlying.insert(charge.unit.numbers.begin(), charge.unit.numbers.end());
    }
    maps.push_back({{"metric", metric.name},
                    {"unit", metric.unit},
                    {"values", shown_values(values)},
                    {"out", outlying}});
  }
  return maps;
}

/// Of each number of SMs that its maps have: mostly one.
Json layouts_of(const DeviceResult& device, const Json& maps) {
  Json layouts = Json::object();
  for (const Json& map : maps) {
    const std::size_t sms = map.at("values").size();
    if (!layouts.contains(std::to_string(sms))) {
      layouts[std::to_string(sms)] = layout_json(device, sms);
    }
  }
  return layouts;
}

}  // namespace

Json map_chart(const RunResult& run, const FleetAnalysis& analysis) {
  Json devices = Json::array();
  for (const std::size_t index : drawn_devices(run, analysis, most_devices)) {
    Json maps = maps_of(run, analysis, index);
    if (maps.empty()) continue;
    const std::string verdict(to_text(analysis.verdicts[index].verdict));
    devices.push_back({{"label", chart_label(run, run.devices[index]) + " (" + verdict + ")"},
                       {"layouts", layouts_of(run.devices[index], maps)},
                       {"maps", maps}});
  }
  return devices;
}

}  // namespace sonde
