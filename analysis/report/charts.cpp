// The staircase.
#include "analysis/report/charts.hpp"

#include "analysis/fleet/value_text.hpp"
#include "analysis/report/content.hpp"
#include "base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace sonde {
namespace {

// Okabe and Ito 2008: distinct for colour-blind readers. Grey is for devices that are well.
const char* const well_colour = "#9a9a9a";
const Json flagged_palette{"#d55e00", "#0072b2", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"};

struct Staircase {
  Json points = Json::array();
  double smallest_bytes = std::numeric_limits<double>::infinity();
  double largest_bytes = 0;
  double largest_cycles = 0;
};

Staircase collect_staircase(const RunResult& run, const FleetAnalysis& analysis) {
  Staircase staircase;
  for (std::size_t i = 0; i < run.devices.size(); ++i) {
    const Finding* axis = find_finding(run.devices[i], "latency.staircase_bytes");
    const Finding* steps = find_finding(run.devices[i], "latency.staircase_cycles");
    if (axis == nullptr || steps == nullptr) continue;
    const std::vector<double>* bytes = vector_of(*axis);
    const std::vector<double>* cycles = vector_of(*steps);
    if (bytes == nullptr || cycles == nullptr || bytes->size() != cycles->size()) continue;
    for (std::size_t j = 0; j < bytes->size(); ++j) {
      const double footprint = (*bytes)[j];
      const double latency = (*cycles)[j];
      if (!(footprint > 0) || !std::isfinite(latency)) continue;
      staircase.points.push_back({{"device", chart_label(run.devices[i])},
                                  {"flagged", is_flagged(analysis.verdicts[i])},
                                  {"bytes", footprint},
                                  {"size", format_bytes(footprint)},
                                  {"cycles", latency}});
      staircase.smallest_bytes = std::min(staircase.smallest_bytes, footprint);
      staircase.largest_bytes = std::max(staircase.largest_bytes, footprint);
      staircase.largest_cycles = std::max(staircase.largest_cycles, latency);
    }
  }
  return staircase;
}

/// Capacities of the global load path; the first device that knows each speaks for all.
Json collect_levels(const RunResult& run, const Staircase& staircase) {
  struct Level {
    const char* metric;
    const char* name;
  };
  Json levels = Json::array();
  for (const Level& level :
       {Level{"cache.l1.size_bytes", "L1"}, Level{"cache.l2.size_bytes", "L2"},
        Level{"tlb.l1.reach_bytes", "TLB L1"}, Level{"tlb.l2.reach_bytes", "TLB L2"},
        Level{"tlb.l3.reach_bytes", "TLB L3"}}) {
    for (const DeviceResult& device : run.devices) {
      const Finding* finding = find_finding(device, level.metric);
      const auto bytes = finding != nullptr ? number_of(*finding) : std::nullopt;
      if (!bytes || *bytes < staircase.smallest_bytes || *bytes > staircase.largest_bytes) continue;
      // Labels of neighbouring levels must not lie on each other.
      levels.push_back({{"bytes", *bytes},
                        {"label", fmt::format("{} {}", level.name, format_bytes(*bytes))},
                        {"line", levels.size() % 3}});
      break;
    }
  }
  return levels;
}

std::vector<double> powers_of_two(double low, double high, int step) {
  std::vector<double> powers;
  for (int power = static_cast<int>(std::ceil(std::log2(low))); std::exp2(power) <= high; ++power) {
    if (power % step == 0) powers.push_back(std::exp2(power));
  }
  return powers;
}

Json staircase_axes(const Staircase& staircase) {
  const char* size_text =
      "datum.value >= 1073741824 ? datum.value / 1073741824 + ' GiB' : datum.value >= 1048576 ? "
      "datum.value / 1048576 + ' MiB' : datum.value >= 1024 ? datum.value / 1024 + ' KiB' : "
      "datum.value + ' B'";
  const double octaves = std::log2(staircase.largest_bytes / staircase.smallest_bytes);
  return {{{"orient", "bottom"},
           {"scale", "x"},
           {"title", "footprint"},
           {"grid", true},
           {"gridColor", "#eee"},
           {"values",
            powers_of_two(staircase.smallest_bytes, staircase.largest_bytes, octaves > 14 ? 2 : 1)},
           {"labelOverlap", true},
           {"encode", {{"labels", {{"update", {{"text", {{"signal", size_text}}}}}}}}}},
          {{"orient", "left"},
           {"scale", "y"},
           {"title", "cycles per load"},
           {"grid", true},
           {"gridColor", "#eee"}}};
}

Json staircase_lines() {
  const Json colour{{{"test", "datum.flagged"}, {"scale", "colour"}, {"field", "device"}},
                    {{"value", well_colour}}};
  return {{"type", "group"},
          {"from", {{"facet", {{"name", "one"}, {"data", "points"}, {"groupby", "device"}}}}},
          {"marks",
           {{{"type", "line"},
             {"from", {{"data", "one"}}},
             {"encode",
              {{"update",
                {{"x", {{"scale", "x"}, {"field", "bytes"}}},
                 {"y", {{"scale", "y"}, {"field", "cycles"}}},
                 {"stroke", colour},
                 {"strokeWidth", {{"signal", "datum.flagged ? 2 : 1.2"}}}}}}}},
            {{"type", "symbol"},
             {"from", {{"data", "one"}}},
             {"encode",
              {{"update",
                {{"x", {{"scale", "x"}, {"field", "bytes"}}},
                 {"y", {{"scale", "y"}, {"field", "cycles"}}},
                 {"size", {{"value", 14}}},
                 {"fill", colour},
                 {"tooltip",
                  {{"signal",
                    "datum.device + ': ' + datum.size + ', ' + format(datum.cycles, "
                    "'.1f') + ' cycles'"}}}}}}}}}}};
}

Json level_marks() {
  const Json x{{"scale", "x"}, {"field", "bytes"}};
  return Json::array({{{"type", "rule"},
                       {"from", {{"data", "levels"}}},
                       {"encode",
                        {{"update",
                          {{"x", x},
                           {"y", {{"value", 0}}},
                           {"y2", {{"signal", "height"}}},
                           {"stroke", {{"value", "#333"}}},
                           {"strokeDash", {{"value", {5, 4}}}}}}}}},
                      {{"type", "text"},
                       {"from", {{"data", "levels"}}},
                       {"encode",
                        {{"update",
                          {{"x", x},
                           {"y", {{"signal", "-6 - 13 * datum.line"}}},
                           {"align", {{"value", "center"}}},
                           {"fontSize", {{"value", 11}}},
                           {"text", {{"field", "label"}}}}}}}}});
}

}  // namespace

std::string chart_label(const DeviceResult& device) {
  return fmt::format("{} on {}", device.info.uuid.substr(0, 12), place_of(device));
}

bool is_flagged(const DeviceVerdict& verdict) {
  return verdict.verdict == Verdict::warn || verdict.verdict == Verdict::fail;
}

std::optional<Json> staircase_chart(const RunResult& run, const FleetAnalysis& analysis) {
  const Staircase staircase = collect_staircase(run, analysis);
  if (staircase.points.empty()) return {};
  Json flagged = Json::array();
  for (const Json& point : staircase.points) {
    if (point["flagged"] &&
        std::find(flagged.begin(), flagged.end(), point["device"]) == flagged.end()) {
      flagged.push_back(point["device"]);
    }
  }
  Json marks = level_marks();
  marks.push_back(staircase_lines());
  Json spec{{"width", 860},
            {"height", 340},
            {"padding", 8},
            {"data",
             {{{"name", "points"}, {"values", staircase.points}},
              {{"name", "levels"}, {"values", collect_levels(run, staircase)}}}},
            {"scales",
             {{{"name", "x"},
               {"type", "log"},
               {"base", 2},
               {"domain", {staircase.smallest_bytes, staircase.largest_bytes}},
               {"range", "width"}},
              {{"name", "y"},
               {"domain", {0, staircase.largest_cycles * 1.08}},
               {"range", "height"},
               {"nice", true}},
              {{"name", "colour"},
               {"type", "ordinal"},
               {"domain", flagged},
               {"range", flagged_palette}}}},
            {"axes", staircase_axes(staircase)},
            {"marks", marks}};
  if (!flagged.empty()) spec["legends"] = {{{"stroke", "colour"}, {"orient", "bottom"}}};
  return spec;
}

}  // namespace sonde
