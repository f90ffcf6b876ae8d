// Staircases of each cache and the TLBs, from the chases that looked for their capacities, and the
// classical curves (Mei and Chu 2016, figures 5 and 10, draw the same).
#include "analysis/fleet/value_text.hpp"
#include "analysis/report/capacity_marks.hpp"
#include "analysis/report/charts.hpp"
#include "base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

namespace sonde {
namespace {

constexpr std::size_t fewest_points = 3;  // of a line, and of a panel
constexpr std::size_t most_lines = 6;     // colours of stairs.json
constexpr double widest_gap = 16;         // between spans that a line joins
constexpr double least_range_cycles = 5;  // of an axis: a cycle more or less is no stair
constexpr double panel_px = 460;          // as wide as stairs.json

struct Point {
  double bytes = 0;
  double cycles = 0;
};

struct Line {
  std::string name;
  std::vector<Point> points;  // by ascending bytes
};

struct Panel {
  std::string title;
  std::string x_title;
  ByteAxis::Kind kind = ByteAxis::Kind::log2;
  std::vector<Line> lines;
  std::vector<NamedCapacity> capacities;
};

/// A line for each step. Steps with few spans go on with the line before them, if they are farther
/// out, as where the step grows with the span, and are left out otherwise.
std::vector<Line> lines_of(const std::vector<SpanLatency>& spans, bool at_edge,
                           double overhead_cycles) {
  std::vector<Line> lines;
  for (auto first = spans.begin(); first != spans.end();) {
    const auto last = std::find_if(first, spans.end(), [&](const SpanLatency& one) {
      return one.at_edge != first->at_edge || one.step_bytes != first->step_bytes;
    });
    std::vector<Point> points;
    for (auto one = first; one != last; ++one) {
      points.push_back(
          {static_cast<double>(one->span_bytes), one->window_cycles - overhead_cycles});
    }
    const std::string step = format_bytes(first->step_bytes) + " steps";
    const bool is_wanted = first->at_edge == at_edge;
    first = last;
    if (!is_wanted) continue;
    if (points.size() >= fewest_points) {
      if (lines.size() < most_lines) lines.push_back({step, std::move(points)});
    } else if (!lines.empty() && lines.back().points.back().bytes < points.front().bytes) {
      std::ranges::move(points, std::back_inserter(lines.back().points));
      if (!lines.back().name.ends_with("more")) lines.back().name += " and more";
    }
  }
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
    return {{"cache.l2.segment_bytes", "near"}, {"cache.l2.size_bytes", "size"}};
  }
  std::vector<NamedCapacity> capacities{{job + ".size_bytes", "size"}};
  if (job.ends_with("_l1")) {  // chases of its path go on to the levels behind it
    const std::string path = job.substr(0, job.size() - 2);
    capacities.push_back({path + "l2.size_bytes", "L2"});
    capacities.push_back({path + "l3.size_bytes", "L3"});
  }
  return capacities;
}

ByteAxis axis_of(const Panel& panel) {
  ByteAxis axis{.smallest_bytes = INFINITY, .kind = panel.kind, .width_px = panel_px};
  for (const Line& line : panel.lines) {
    for (const Point& point : line.points) {
      axis.smallest_bytes = std::min(axis.smallest_bytes, point.bytes);
      axis.largest_bytes = std::max(axis.largest_bytes, point.bytes);
    }
  }
  return axis;
}

/// In pieces, where spans lie far from each other.
Json points_of(const Panel& panel) {
  Json points = Json::array();
  std::size_t piece = 0;
  for (const Line& line : panel.lines) {
    double before_bytes = 0;
    for (const Point& point : line.points) {
      if (point.bytes > widest_gap * before_bytes) ++piece;
      before_bytes = point.bytes;
      points.push_back({{"line", line.name},
                        {"piece", piece},
                        {"bytes", point.bytes},
                        {"size", format_bytes(point.bytes)},
                        {"cycles", point.cycles}});
    }
  }
  return points;
}

Json cycles_domain(const Panel& panel) {
  double least = INFINITY;
  double most = 0;
  for (const Line& line : panel.lines) {
    for (const Point& point : line.points) {
      least = std::min(least, point.cycles);
      most = std::max(most, point.cycles);
    }
  }
  return {least, std::max(most, least + least_range_cycles)};
}

Json spec_of(const Panel& panel, const DeviceResult& device) {
  Json names = Json::array();
  for (const Line& line : panel.lines) names.push_back(line.name);
  const ByteAxis axis = axis_of(panel);
  Json spec = chart_template("stairs");
  Json& x = entry_of(spec["scales"], "x");
  if (panel.kind == ByteAxis::Kind::linear) {
    x["type"] = "linear";
    x.erase("base");
  }
  x["domain"] = {axis.smallest_bytes, axis.largest_bytes};
  entry_of(spec["scales"], "y")["domain"] = cycles_domain(panel);
  entry_of(spec["data"], "points")["values"] = points_of(panel);
  entry_of(spec["data"], "marks")["values"] = capacity_marks(device, panel.capacities, axis);
  entry_of(spec["scales"], "colour")["domain"] = names;
  spec["title"]["text"] = panel.title;
  spec["axes"][0]["title"] = panel.x_title;
  if (names.size() < 2) spec.erase("legends");
  return spec;
}

std::string step_text(const std::vector<Line>& lines) {
  return lines.size() == 1 ? ", " + lines.front().name : "";
}

/// Wide, and at the edge.
std::vector<Panel> panels_of(const RawLatency& raw, double overhead_cycles) {
  std::vector<Panel> panels;
  for (const bool at_edge : {false, true}) {
    Panel panel{.title = name_of(raw),
                .x_title = "span",
                .kind = at_edge ? ByteAxis::Kind::linear : ByteAxis::Kind::log2,
                .lines = lines_of(raw.spans, at_edge, overhead_cycles),
                .capacities = capacities_of(raw)};
    if (panel.lines.empty()) continue;
    panel.title += (at_edge ? " at its edge" : "") + step_text(panel.lines);
    panels.push_back(std::move(panel));
  }
  return panels;
}

Line line_of(std::string name, const std::vector<double>& bytes, const double* cycles) {
  Line line{std::move(name), {}};
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (bytes[i] > 0 && std::isfinite(cycles[i])) line.points.push_back({bytes[i], cycles[i]});
  }
  return line;
}

/// Strides, a line for each footprint.
std::optional<Panel> saavedra_panel(const DeviceResult& device) {
  const auto* strides = vector_of(device, "latency.saavedra_stride_bytes");
  const auto* footprints = vector_of(device, "latency.saavedra_footprint_bytes");
  const auto* cycles = vector_of(device, "latency.saavedra_cycles");
  if (strides == nullptr || footprints == nullptr || cycles == nullptr || strides->empty() ||
      cycles->size() != strides->size() * footprints->size()) {
    return {};
  }
  Panel panel{.title = "Saavedra 1992: the first cache",
              .x_title = "stride",
              .lines = {},
              .capacities = {}};
  for (std::size_t i = 0; i < std::min(footprints->size(), most_lines); ++i) {
    panel.lines.push_back(
        line_of(format_bytes((*footprints)[i]), *strides, cycles->data() + i * strides->size()));
  }
  std::erase_if(panel.lines, [](const Line& line) { return line.points.size() < fewest_points; });
  return panel.lines.empty() ? std::nullopt : std::optional(panel);
}

/// Footprints around the size; the last, twice the size, would squeeze the others.
std::optional<Panel> wong_panel(const DeviceResult& device) {
  const auto* footprints = vector_of(device, "latency.wong_footprint_bytes");
  const auto* cycles = vector_of(device, "latency.wong_cycles");
  if (footprints == nullptr || cycles == nullptr || cycles->size() != footprints->size() ||
      footprints->size() <= fewest_points) {
    return {};
  }
  const std::vector<double> around(footprints->begin(), footprints->end() - 1);
  return Panel{.title = "Wong 2010: the first cache, from line to line",
               .x_title = "footprint",
               .kind = ByteAxis::Kind::linear,
               .lines = {line_of("", around, cycles->data())},
               .capacities = {{"cache.l1.size_bytes", "size"}}};
}

}  // namespace

Json stair_charts(const DeviceResult& device, const std::vector<RawLatency>& raw) {
  Json specs = Json::array();
  const double overhead_cycles = number_of(device, "clock.window_cycles").value_or(0);
  for (const RawLatency& job : raw) {
    for (const Panel& panel : panels_of(job, overhead_cycles)) {
      specs.push_back(spec_of(panel, device));
    }
  }
  for (const auto& panel_of : {saavedra_panel, wong_panel}) {
    if (const auto panel = panel_of(device)) specs.push_back(spec_of(*panel, device));
  }
  return specs;
}

}  // namespace sonde
