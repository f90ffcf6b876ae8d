// Latency against bytes: the staircases of all devices, and those of the caches and TLBs of one
// device, from the chases that searched capacities (as in Mei and Chu 2016, figures 5 and 10).
#include "analysis/fleet/value_text.hpp"
#include "analysis/report/charts/charts.hpp"
#include "analysis/report/drawing/drawing.hpp"
#include "base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace sonde {
namespace {

constexpr std::size_t fewest_points = 3;  // of a line
constexpr double least_range_cycles = 5;  // of an axis: a difference of one cycle is no stair
constexpr double headroom = 1.08;         // of the axis above the highest stair
constexpr double least_outlier =
    1.25;  // relative to the highest stair; smaller outliers fit into the chart
constexpr double highest_device = 2;  // relative to the devices' median; higher stairs are cut
// More lines would be too many to draw; of a larger fleet some healthy devices are shown.
constexpr std::size_t most_drawn = 256;
constexpr std::size_t example_devices = 8;

struct CyclesAt {
  double bytes = 0;
  double cycles = 0;
};

struct Line {
  std::string name;
  std::vector<CyclesAt> points;  // not empty; ascending bytes
};

struct NamedCapacity {
  std::string metric;
  std::string name;  // "L1"
};

Json marks_of(const DeviceResult& device, const std::vector<NamedCapacity>& capacities) {
  Json marks = Json::array();
  for (const auto& [metric, name] : capacities) {
    const auto bytes = number_of(device, metric);
    if (!bytes || !(*bytes > 0)) continue;
    marks.push_back({{"x", *bytes},
                     {"label", fmt::format("{} {}", name, format_bytes(*bytes))},
                     {"tlb", metric.starts_with("tlb.")}});
  }
  return marks;
}

Json chart_of(std::string title, const char* x_title, const char* x_type,
              const std::vector<Line>& lines, Json marks) {
  Json points = Json::array();
  for (const Line& line : lines) {
    for (const CyclesAt& point : line.points) {
      points.push_back({{"line", line.name},
                        {"x", point.bytes},
                        {"y", point.cycles},
                        {"text", fmt::format("{}: {}, {:.1f} cycles", line.name,
                                             format_bytes(point.bytes), point.cycles)}});
    }
  }
  return {{"kind", "lines"},
          {"title", std::move(title)},
          {"x", {{"title", x_title}, {"type", x_type}, {"bytes", true}}},
          {"y", {{"title", "cycles per load"}, {"type", "linear"}}},
          {"points", std::move(points)},
          {"marks", std::move(marks)}};
}

/// The staircase of a device; no points if it has none.
Line staircase_of(const RunResult& run, const DeviceResult& device) {
  Line line{chart_label(run, device), {}};
  const std::vector<double>* bytes = vector_of(device, "latency.staircase_bytes");
  const std::vector<double>* cycles = vector_of(device, "latency.staircase_cycles");
  if (bytes == nullptr || cycles == nullptr || bytes->size() != cycles->size()) return line;
  for (std::size_t i = 0; i < bytes->size(); ++i) {
    const CyclesAt point{(*bytes)[i], (*cycles)[i]};
    const bool known = point.bytes > 0 && std::isfinite(point.bytes) && std::isfinite(point.cycles);
    if (known) line.points.push_back(point);
  }
  return line;
}

/// Cycles of the highest stair. A point above both neighbours is none; the last point may be one.
double top_of(const Line& stair) {
  const auto& points = stair.points;
  double top = std::max(points.front().cycles, points.back().cycles);
  for (std::size_t i = 1; i + 1 < points.size(); ++i) {
    const double before = points[i - 1].cycles;
    const double after = points[i + 1].cycles;
    top = std::max(top, std::min(points[i].cycles, std::max(before, after)));
  }
  return top;
}

/// Upper end of the axis of cycles: above all points, unless some are outliers.
double highest_drawn_cycles(const std::vector<Line>& stairs) {
  std::vector<double> tops;
  double highest = 0;
  for (const Line& stair : stairs) {
    tops.push_back(top_of(stair));
    for (const CyclesAt& point : stair.points) highest = std::max(highest, point.cycles);
  }
  std::ranges::sort(tops);
  const double readable = std::min(tops.back(), highest_device * tops[(tops.size() - 1) / 2]);
  return headroom * (highest > least_outlier * readable ? readable : highest);
}

/// A line for each step; leaves out steps with few spans.
std::vector<Line> lines_of(const std::vector<SpanLatency>& spans, bool at_edge,
                           double overhead_cycles) {
  std::vector<Line> lines;
  for (const SpanLatency& span : spans) {
    if (span.at_edge != at_edge) continue;
    const std::string name = format_bytes(span.step_bytes) + " steps";
    if (lines.empty() || lines.back().name != name) lines.push_back({name, {}});
    lines.back().points.push_back(
        {static_cast<double>(span.span_bytes), span.window_cycles - overhead_cycles});
  }
  std::erase_if(lines, [](const Line& line) { return line.points.size() < fewest_points; });
  return lines;
}

std::vector<NamedCapacity> capacities_of(const RawLatency& raw) {
  const std::string& job = raw.job;
  if (job == "tlb") {
    const std::string loads = raw.path.starts_with("texture") ? "tlb.texture_" : "tlb.";
    std::vector<NamedCapacity> capacities;
    for (const char* level : {"l1", "l2", "l3"}) {
      capacities.push_back({loads + level + ".reach_bytes", fmt::format("TLB {}", level)});
    }
    return capacities;
  }
  if (job == "cache.l2") {
    return {{"cache.l2.segment_bytes", "near"},
            {"cache.l2.size_bytes", "size"},
            {"cache.l2.slice_total_bytes", "all slices"}};
  }
  std::vector<NamedCapacity> capacities{{job + ".size_bytes", "size"}};
  if (job.ends_with("_l1")) {  // chases through its path also reach the next level
    capacities.push_back({job.substr(0, job.size() - 2) + "l2.size_bytes", "L2"});
  }
  return capacities;
}

}  // namespace

Json staircase_chart(const RunResult& run, const FleetAnalysis& analysis) {
  std::vector<Line> stairs;
  Json grey = Json::array();
  const std::size_t most_grey = run.devices.size() > most_drawn ? example_devices : most_drawn;
  for (const bool flagged : {false, true}) {  // flagged ones last: they are drawn over the others
    for (std::size_t i = 0; i < run.devices.size(); ++i) {
      if (is_flagged(analysis.verdicts[i]) != flagged) continue;
      if (!flagged && grey.size() == most_grey) break;
      Line stair = staircase_of(run, run.devices[i]);
      if (stair.points.empty()) continue;
      if (!flagged) grey.push_back(stair.name);
      stairs.push_back(std::move(stair));
    }
  }
  if (stairs.empty()) return {};
  Json marks = Json::array();
  const auto largest = std::ranges::max_element(
      analysis.groups, {}, [](const ComparisonGroup& one) { return one.devices.size(); });
  if (largest != analysis.groups.end() && !largest->devices.empty()) {
    marks = marks_of(consensus_of(run, largest->devices), {{"cache.l1.size_bytes", "L1"},
                                                           {"cache.l2.segment_bytes", "near L2"},
                                                           {"cache.l2.size_bytes", "L2"},
                                                           {"tlb.l1.reach_bytes", "TLB L1"},
                                                           {"tlb.l2.reach_bytes", "TLB L2"},
                                                           {"tlb.l3.reach_bytes", "TLB L3"}});
  }
  Json chart = chart_of("", "footprint", "log", stairs, std::move(marks));
  chart["wide"] = true;
  chart["grey"] = std::move(grey);
  chart["y"]["domain"] = {0, highest_drawn_cycles(stairs)};
  return chart;
}

Json stair_charts(const DeviceResult& device, const std::vector<RawLatency>& raw) {
  Json charts = Json::array();
  const double overhead_cycles = number_of(device, "clock.window_cycles").value_or(0);
  for (const RawLatency& job : raw) {
    for (const bool at_edge : {false, true}) {
      const std::vector<Line> lines = lines_of(job.spans, at_edge, overhead_cycles);
      if (lines.empty()) continue;
      const std::string title = fmt::format("{}{}{}", name_of(job), at_edge ? " at its edge" : "",
                                            lines.size() == 1 ? ", " + lines.front().name : "");
      charts.push_back(chart_of(title, "span", at_edge ? "linear" : "log", lines,
                                marks_of(device, capacities_of(job))));
      std::vector<double> cycles;
      for (const Line& line : lines) {
        for (const CyclesAt& point : line.points) cycles.push_back(point.cycles);
      }
      const auto [least, most] = std::ranges::minmax(cycles);
      charts.back()["y"]["domain"] = {least, std::max(most, least + least_range_cycles)};
    }
  }
  return charts;
}

}  // namespace sonde
