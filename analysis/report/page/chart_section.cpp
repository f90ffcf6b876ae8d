// The data of the charts in report.html, from which the page's scripts draw.
#include "analysis/report/charts/charts.hpp"
#include "analysis/report/page/sections.hpp"

#include <fmt/format.h>

#include <regex>
#include <string>

namespace sonde {
namespace {

/// JSON that is safe inside a script element: it contains no tag or comment.
std::string script_json(const Json& json) {
  static const std::regex tag("<");
  return std::regex_replace(dump(json), tag, "\\u003c");
}

void add(Json& charts, const char* name, Json own) {
  if (!own.empty()) charts[name] = std::move(own);
}

/// [{"label", "charts"}] of the devices with charts of their own.
Json chosen_devices(const RunResult& run, const FleetAnalysis& analysis, const RawLatencies& raw) {
  Json devices = Json::array();
  for (const std::size_t index : drawn_devices(run, analysis, most_chosen_devices)) {
    const DeviceResult& device = run.devices[index];
    const auto own = raw.find(index);
    const std::vector<RawLatency> latencies =
        own == raw.end() ? std::vector<RawLatency>{} : own->second;
    const std::string label = chart_label(run, device);
    Json charts = Json::object();
    add(charts, "roofline", roofline_chart(device, label));
    add(charts, "stairs", stair_charts(device, latencies));
    if (!charts.empty()) devices.push_back({{"label", label}, {"charts", std::move(charts)}});
  }
  return devices;
}

}  // namespace

std::string charts_section(const RunResult& run, const FleetAnalysis& analysis,
                           const RawLatencies& raw) {
  if (vega_bundle().empty()) return "";
  Json charts = Json::object();
  add(charts, "sweep", sweep_charts(run, analysis));
  add(charts, "strips", strip_chart(run, analysis));
  add(charts, "staircase", staircase_chart(run, analysis));
  add(charts, "map", map_chart(run, analysis));
  add(charts, "devices", chosen_devices(run, analysis, raw));
  if (charts.empty()) return "";
  return fmt::format(
      "<script type=\"application/json\" id=\"charts\">{}</script>\n"
      "<script>{}</script>\n<script>\n{}{}</script>\n",
      script_json(charts), vega_bundle(), page_file("chart_specs.js"), page_file("charts.js"));
}

}  // namespace sonde
