// The charts of report.html: where they stand, and the data that the page's script draws them from.
#include "analysis/report/charts.hpp"
#include "analysis/report/page.hpp"
#include "analysis/report/sections.hpp"
#include "base/escape.hpp"

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace sonde {
namespace {

/// Charts with a choice of device, in the order of the page.
constexpr std::string_view device_charts[] = {"histograms", "stairs", "roofline", "warps",
                                              "surfaces"};

/// JSON that may stand inside a script element: no tag or comment begins in it.
std::string script_json(const Json& json) {
  std::string text =
      escape_json_controls(json.dump(-1, ' ', false, Json::error_handler_t::replace));
  for (std::size_t at = text.find('<'); at != std::string::npos; at = text.find('<', at)) {
    text.replace(at, 1, "\\u003c");
  }
  return text;
}

std::string part_html(std::string_view name) {
  return fmt::format("<details class=\"part\" open>\n{}</details>\n",
                     page_file(std::string(name) + ".html"));
}

/// Specifications of what one device has, by name of the chart.
Json charts_of(const DeviceResult& device, const std::string& label,
               const std::vector<RawLatency>& raw) {
  Json charts = Json::object();
  const auto add = [&](const char* name, Json specs) {
    if (!specs.empty()) charts[name] = std::move(specs);
  };
  add("histograms", histogram_charts(device, raw));
  add("stairs", stair_charts(device, raw));
  if (auto chart = roofline_chart(device, label)) add("roofline", std::move(*chart));
  if (auto chart = warps_chart(device, label)) add("warps", std::move(*chart));
  add("surfaces", surface_charts(device, label));
  return charts;
}

/// [{"label", "charts"}] of the devices that have any.
Json chosen_devices(const RunResult& run, const FleetAnalysis& analysis, const RawLatencies& raw) {
  Json devices = Json::array();
  for (const std::size_t device : drawn_devices(run, analysis, most_chosen_devices)) {
    const auto own = raw.find(device);
    const std::string label = chart_label(run, run.devices[device]);
    Json charts = charts_of(run.devices[device], label,
                            own == raw.end() ? std::vector<RawLatency>{} : own->second);
    if (charts.empty()) continue;
    devices.push_back({{"label", label}, {"charts", std::move(charts)}});
  }
  return devices;
}

/// The choice, if there is one, and a place for each chart that any of the devices has.
std::string device_parts(const Json& devices) {
  std::string text(devices.size() < 2 ? "" : page_file("device.html"));
  for (const std::string_view name : device_charts) {
    for (const Json& device : devices) {
      if (!device.at("charts").contains(name)) continue;
      text += part_html(name);
      break;
    }
  }
  return text;
}

}  // namespace

std::string charts_section(const RunResult& run, const FleetAnalysis& analysis,
                           const RawLatencies& raw) {
  if (vega_bundle().empty()) {
    return "<p class=\"note\">Charts were left out: Vega was not found when sonde was built.</p>\n";
  }
  Json charts = Json::object();
  std::string text;
  const auto add = [&](const char* name, const Json& specs) {
    if (specs.empty()) return;
    charts[name] = specs;
    text += part_html(name);
  };
  const auto add_one = [&](const char* name, const std::optional<Json>& spec) {
    if (spec) add(name, *spec);
  };
  add("sweep", sweep_charts(run, analysis));
  add("drift", drift_charts(run, analysis));
  add_one("staircase", staircase_chart(run, analysis));
  add("spectrum", spectrum_charts(run, analysis));
  add("carveouts", carveout_charts(run, analysis));
  add_one("constants", constants_chart(run, analysis));
  add_one("deviation", deviation_chart(run, analysis));
  if (const auto chart = strip_chart(run, analysis)) {
    add("strips", chart->spec);
    charts["strip_data"] = chart->data;
  }
  add_one("timeline", timeline_chart(run));
  add_one("nest", nest_chart(run));
  if (Json devices = chosen_devices(run, analysis, raw); !devices.empty()) {
    text += device_parts(devices);
    charts["devices"] = std::move(devices);
  }
  if (const auto chart = map_chart(run, analysis)) {
    add("map", chart->spec);
    charts["map_devices"] = chart->devices;
  }
  if (text.empty()) return "";
  return fmt::format(
      "<p class=\"note\" id=\"no_charts\">The charts are drawn by a script inside this page, and "
      "this "
      "browser ran none: the tables below have their figures.</p>\n"
      "<section id=\"all_charts\" hidden>\n{}</section>\n"
      "<script type=\"application/json\" id=\"charts\">{}</script>\n"
      "<script>{}</script>\n<script>\n{}</script>\n",
      text, script_json(charts), vega_bundle(), page_file("charts.js"));
}

}  // namespace sonde
