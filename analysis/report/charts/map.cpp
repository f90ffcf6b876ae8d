// The grid of SMs: cells of each map, arranged by GPC and TPC.
#include "analysis/report/charts/charts.hpp"

#include "analysis/fleet/grounds/series.hpp"
#include "analysis/fleet/value_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <utility>

namespace sonde {
namespace {

constexpr std::size_t most_devices = 32;
// If GPCs are unknown: rows of 16 SMs, about as many as a GPC has.
constexpr int unknown_row_sms = 16;

std::vector<double> map_values(const DeviceResult& device, std::string_view metric) {
  const std::vector<double>* values = vector_of(device, metric);
  return values != nullptr ? *values : std::vector<double>{};
}

/// Places of SMs: a row for each GPC, in it ordered by TPC with gaps of 0.2 cells between TPCs.
Json layout_of(const DeviceResult& device, std::size_t sms) {
  const std::vector<double> gpcs = map_values(device, "topology.gpc_of_sm");
  const std::vector<double> tpcs = map_values(device, "topology.tpc_of_sm");
  const bool is_known = gpcs.size() == sms;
  std::vector<std::array<int, 3>> places;  // GPC, TPC, SM
  for (std::size_t i = 0; i < sms; ++i) {
    const int sm = static_cast<int>(i);
    places.push_back({is_known ? static_cast<int>(gpcs[i]) : sm / unknown_row_sms,
                      tpcs.size() == sms ? static_cast<int>(tpcs[i]) : -1, sm});
  }
  std::ranges::sort(places);
  Json cells = Json::array();
  std::array<int, 3> before{-2, -1, -1};
  double x = 0;
  for (const auto& [gpc, tpc, sm] : places) {
    x = gpc != before[0] ? 0 : x + (tpc == before[1] ? 1 : 1.2);
    before = {gpc, tpc, sm};
    const std::string row = !is_known ? fmt::format("SM {} ...", gpc * unknown_row_sms)
                            : gpc < 0 ? "GPC ?"
                                      : fmt::format("GPC {}", gpc);
    cells.push_back({{"row", row}, {"x", x}, {"sm", sm}, {"tpc", tpc}});
  }
  return cells;
}

/// Per-SM maps with a better direction.
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
    Json shown = Json::array();
    for (const double value : values) shown.push_back(shown_number(value));
    maps.push_back({{"metric", metric.name},
                    {"unit", metric.unit},
                    {"values", std::move(shown)},
                    {"out", outlying}});
  }
  return maps;
}

}  // namespace

Json map_chart(const RunResult& run, const FleetAnalysis& analysis) {
  Json devices = Json::array();
  for (const std::size_t index : drawn_devices(run, analysis, most_devices)) {
    Json maps = maps_of(run, analysis, index);
    if (maps.empty()) continue;
    const DeviceResult& device = run.devices[index];
    Json layouts = Json::object();  // by number of SMs in a map; usually one
    for (const Json& map : maps) {
      const std::size_t sms = map.at("values").size();
      Json& layout = layouts[std::to_string(sms)];
      if (layout.is_null()) layout = layout_of(device, sms);
    }
    devices.push_back({{"label", fmt::format("{} ({})", chart_label(run, device),
                                             to_text(analysis.verdicts[index].verdict))},
                       {"layouts", std::move(layouts)},
                       {"maps", std::move(maps)}});
  }
  return devices;
}

}  // namespace sonde
