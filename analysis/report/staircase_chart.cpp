// Latency against footprint, a line for each device. A few loads that took far longer must not
// press the stairs flat: they end at the upper edge, and a line of text names them.
#include "analysis/fleet/value_text.hpp"
#include "analysis/report/capacity_marks.hpp"
#include "analysis/report/charts.hpp"
#include "analysis/report/consensus.hpp"
#include "base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace sonde {
namespace {

constexpr double headroom = 1.08;         // above the highest stair
constexpr double least_outlier = 1.25;    // of the highest stair: what is nearer costs little room
constexpr double highest_device = 2;      // of the devices' median: whoever is higher is out itself
constexpr std::size_t most_outliers = 4;  // devices that are named

struct Point {
  double bytes = 0;
  double cycles = 0;
};

struct Stair {
  std::size_t device = 0;
  std::vector<Point> points;  // not empty
};

std::vector<Stair> collect_stairs(const RunResult& run, const FleetAnalysis& analysis) {
  std::vector<Stair> stairs;
  for (const std::size_t i : well_first(analysis)) {
    const std::vector<double>* bytes = vector_of(run.devices[i], "latency.staircase_bytes");
    const std::vector<double>* cycles = vector_of(run.devices[i], "latency.staircase_cycles");
    if (bytes == nullptr || cycles == nullptr || bytes->size() != cycles->size()) continue;
    Stair stair{i, {}};
    for (std::size_t j = 0; j < bytes->size(); ++j) {
      const Point point{(*bytes)[j], (*cycles)[j]};
      const bool known =
          point.bytes > 0 && std::isfinite(point.bytes) && std::isfinite(point.cycles);
      if (known) stair.points.push_back(point);
    }
    if (!stair.points.empty()) stairs.push_back(std::move(stair));
  }
  return stairs;
}

/// Cycles of the highest stair: a point that exceeds both of its neighbours is none. The last point
/// may be a stair of its own.
double top_of(const Stair& stair) {
  const auto& points = stair.points;
  double top = std::max(points.front().cycles, points.back().cycles);
  for (std::size_t i = 1; i + 1 < points.size(); ++i) {
    const double before = points[i - 1].cycles;
    const double after = points[i + 1].cycles;
    top = std::max(top, std::min(points[i].cycles, std::max(before, after)));
  }
  return top;
}

/// Where the axis of cycles ends: above all points, if none is an outlier.
double highest_drawn_cycles(const std::vector<Stair>& stairs) {
  std::vector<double> tops;
  double highest = 0;
  for (const Stair& stair : stairs) {
    tops.push_back(top_of(stair));
    for (const Point& point : stair.points) highest = std::max(highest, point.cycles);
  }
  std::ranges::sort(tops);
  const double readable = std::min(tops.back(), highest_device * tops[(tops.size() - 1) / 2]);
  return headroom * (highest > least_outlier * readable ? readable : highest);
}

Json points_of(const std::vector<Stair>& stairs, const RunResult& run,
               const FleetAnalysis& analysis, double highest_cycles) {
  Json points = Json::array();
  for (const Stair& stair : stairs) {
    for (const Point& point : stair.points) {
      points.push_back({{"device", chart_label(run, run.devices[stair.device])},
                        {"flagged", is_flagged(analysis.verdicts[stair.device])},
                        {"bytes", point.bytes},
                        {"size", format_bytes(point.bytes)},
                        {"cycles", point.cycles},
                        {"beyond", point.cycles > highest_cycles}});
    }
  }
  return points;
}

/// A line of text for each device that has points beyond the axis: its highest, and how many more.
Json outlier_texts(const std::vector<Stair>& stairs, const RunResult& run, double highest_cycles) {
  Json texts = Json::array();
  std::size_t unnamed = 0;
  for (const Stair& stair : stairs) {
    const auto beyond = std::ranges::count_if(
        stair.points, [&](const Point& point) { return point.cycles > highest_cycles; });
    if (beyond == 0) continue;
    if (texts.size() == most_outliers) {
      ++unnamed;
      continue;
    }
    const Point& worst = *std::ranges::max_element(stair.points, {}, &Point::cycles);
    const std::string more = beyond > 1 ? fmt::format(" (and {} more)", beyond - 1) : "";
    texts.push_back({{"line", texts.size()},
                     {"text", fmt::format("\u25b2 {}: {:.0f} cycles at {}{}",
                                          chart_label(run, run.devices[stair.device]), worst.cycles,
                                          format_bytes(worst.bytes), more)}});
  }
  if (unnamed > 0) {
    texts.push_back({{"line", texts.size()}, {"text", fmt::format("and {} more GPUs", unnamed)}});
  }
  return texts;
}

ByteAxis axis_of(const std::vector<Stair>& stairs) {
  ByteAxis axis{.smallest_bytes = std::numeric_limits<double>::infinity(), .largest_bytes = 0};
  for (const Stair& stair : stairs) {
    for (const Point& point : stair.points) {
      axis.smallest_bytes = std::min(axis.smallest_bytes, point.bytes);
      axis.largest_bytes = std::max(axis.largest_bytes, point.bytes);
    }
  }
  return axis;
}

/// Every capacity that most devices of the largest group found within the chart.
Json collect_levels(const RunResult& run, const FleetAnalysis& analysis, const ByteAxis& axis) {
  if (analysis.groups.empty()) return Json::array();
  const ComparisonGroup& group = *std::ranges::max_element(
      analysis.groups, {}, [](const ComparisonGroup& one) { return one.devices.size(); });
  if (group.devices.empty()) return Json::array();
  static const NamedCapacity capacities[]{
      {"cache.l1.size_bytes", "L1"},    {"cache.l2.segment_bytes", "near L2"},
      {"cache.l2.size_bytes", "L2"},    {"tlb.l1.reach_bytes", "TLB L1"},
      {"tlb.l2.reach_bytes", "TLB L2"}, {"tlb.l3.reach_bytes", "TLB L3"}};
  return capacity_marks(consensus_of(run, group.devices), capacities, axis);
}

std::vector<double> powers_of_two(double low, double high, int step) {
  std::vector<double> powers;
  for (int power = static_cast<int>(std::ceil(std::log2(low))); std::exp2(power) <= high; ++power) {
    if (power % step == 0) powers.push_back(std::exp2(power));
  }
  return powers;
}

}  // namespace

std::optional<Json> staircase_chart(const RunResult& run, const FleetAnalysis& analysis) {
  const std::vector<Stair> stairs = collect_stairs(run, analysis);
  if (stairs.empty()) return {};
  const ByteAxis axis = axis_of(stairs);
  const double highest_cycles = highest_drawn_cycles(stairs);
  Json flagged = Json::array();
  for (const Stair& stair : stairs) {
    const bool is_out = is_flagged(analysis.verdicts[stair.device]);
    if (is_out) flagged.push_back(chart_label(run, run.devices[stair.device]));
  }
  const double octaves = std::log2(axis.largest_bytes / axis.smallest_bytes);
  Json spec = chart_template("staircase");
  entry_of(spec["data"], "points")["values"] = points_of(stairs, run, analysis, highest_cycles);
  entry_of(spec["data"], "outliers")["values"] = outlier_texts(stairs, run, highest_cycles);
  entry_of(spec["data"], "levels")["values"] = collect_levels(run, analysis, axis);
  entry_of(spec["scales"], "x")["domain"] = {axis.smallest_bytes, axis.largest_bytes};
  entry_of(spec["scales"], "y")["domain"] = {0, highest_cycles};
  entry_of(spec["scales"], "colour")["domain"] = flagged;
  spec["axes"][0]["values"] =
      powers_of_two(axis.smallest_bytes, axis.largest_bytes, octaves > 14 ? 2 : 1);
  if (flagged.empty()) spec.erase("legends");
  return spec;
}

}  // namespace sonde
