// What the charts share, and the chart of latency against footprint.
#include "analysis/report/charts.hpp"

#include "analysis/fleet/value_text.hpp"
#include "analysis/report/consensus.hpp"
#include "analysis/report/content.hpp"
#include "analysis/report/page.hpp"
#include "base/error.hpp"
#include "base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace sonde {
namespace {

struct Staircase {
  Json points = Json::array();
  Json flagged_devices = Json::array();
  double smallest_bytes = std::numeric_limits<double>::infinity();
  double largest_bytes = 0;
  double largest_cycles = 0;
};

Staircase collect_staircase(const RunResult& run, const FleetAnalysis& analysis) {
  Staircase staircase;
  for (const std::size_t i : well_first(analysis)) {
    const std::vector<double>* bytes = vector_of(run.devices[i], "latency.staircase_bytes");
    const std::vector<double>* cycles = vector_of(run.devices[i], "latency.staircase_cycles");
    if (bytes == nullptr || cycles == nullptr || bytes->size() != cycles->size()) continue;
    const std::size_t points_before = staircase.points.size();
    for (std::size_t j = 0; j < bytes->size(); ++j) {
      const double footprint = (*bytes)[j];
      const double latency = (*cycles)[j];
      if (!(footprint > 0) || !std::isfinite(footprint) || !std::isfinite(latency)) continue;
      staircase.points.push_back({{"device", chart_label(run.devices[i])},
                                  {"flagged", is_flagged(analysis.verdicts[i])},
                                  {"bytes", footprint},
                                  {"size", format_bytes(footprint)},
                                  {"cycles", latency}});
      staircase.smallest_bytes = std::min(staircase.smallest_bytes, footprint);
      staircase.largest_bytes = std::max(staircase.largest_bytes, footprint);
      staircase.largest_cycles = std::max(staircase.largest_cycles, latency);
    }
    if (staircase.points.size() > points_before && is_flagged(analysis.verdicts[i])) {
      staircase.flagged_devices.push_back(chart_label(run.devices[i]));
    }
  }
  return staircase;
}

/// A capacity of the global load path.
struct Mark {
  double bytes = 0;
  std::string label;
  bool of_tlb = false;
  std::size_t line = 0;  // above the chart, so that labels of neighbours do not lie on each other
};

/// Labels in as few lines as there is room for, left to right.
void spread_labels(std::vector<Mark>& marks, const Staircase& staircase) {
  constexpr double width_px = 860;  // staircase.json
  constexpr double character_px = 6.4;
  const double octaves = std::log2(staircase.largest_bytes / staircase.smallest_bytes);
  std::vector<double> ends_px;  // of the last label of each line
  for (Mark& mark : marks) {
    const double middle_px =
        width_px * std::log2(mark.bytes / staircase.smallest_bytes) / std::max(octaves, 1.0);
    const double half_px = character_px * static_cast<double>(mark.label.size() + 1) / 2;
    while (mark.line < ends_px.size() && ends_px[mark.line] > middle_px - half_px) ++mark.line;
    if (mark.line == ends_px.size()) ends_px.push_back(0);
    ends_px[mark.line] = middle_px + half_px;
  }
}

/// Every capacity that most devices of the largest group found within the chart.
Json collect_levels(const RunResult& run, const FleetAnalysis& analysis,
                    const Staircase& staircase) {
  struct Level {
    const char* metric;
    const char* name;
  };
  if (analysis.groups.empty()) return Json::array();
  const ComparisonGroup& group = *std::ranges::max_element(
      analysis.groups, {}, [](const ComparisonGroup& one) { return one.devices.size(); });
  if (group.devices.empty()) return Json::array();
  const DeviceResult most = consensus_of(run, group.devices);
  std::vector<Mark> marks;
  for (const Level& level :
       {Level{"cache.l1.size_bytes", "L1"}, Level{"cache.l2.segment_bytes", "near L2"},
        Level{"cache.l2.size_bytes", "L2"}, Level{"tlb.l1.reach_bytes", "TLB L1"},
        Level{"tlb.l2.reach_bytes", "TLB L2"}, Level{"tlb.l3.reach_bytes", "TLB L3"}}) {
    const auto bytes = number_of(most, level.metric);
    if (!bytes || *bytes < staircase.smallest_bytes || *bytes > staircase.largest_bytes) continue;
    marks.push_back({.bytes = *bytes,
                     .label = fmt::format("{} {}", level.name, format_bytes(*bytes)),
                     .of_tlb = std::string_view(level.metric).starts_with("tlb.")});
  }
  std::ranges::stable_sort(marks, {}, &Mark::bytes);
  spread_labels(marks, staircase);
  Json levels = Json::array();
  for (const Mark& mark : marks) {
    levels.push_back(
        {{"bytes", mark.bytes}, {"label", mark.label}, {"tlb", mark.of_tlb}, {"line", mark.line}});
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

}  // namespace

Json chart_template(const std::string& name) { return Json::parse(page_file(name + ".json")); }

Json& entry_of(Json& list, std::string_view name) {
  for (Json& entry : list) {
    if (entry.at("name") == name) return entry;
  }
  throw Error("a chart of the report has no '" + std::string(name) + "'");
}

std::string chart_label(const DeviceResult& device) {
  return fmt::format("{} on {}", device.info.uuid.substr(0, 12), place_of(device));
}

std::string group_title(const RunResult& run, const ComparisonGroup& group) {
  return group.devices.size() == 1
             ? chart_label(run.devices[group.devices.front()])
             : fmt::format("{}: median of {} GPUs", group.label, group.devices.size());
}

std::vector<std::size_t> well_first(const FleetAnalysis& analysis) {
  std::vector<std::size_t> order(analysis.verdicts.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_partition(
      order, [&](std::size_t device) { return !is_flagged(analysis.verdicts[device]); });
  return order;
}

bool is_flagged(const DeviceVerdict& verdict) {
  return verdict.verdict == Verdict::warn || verdict.verdict == Verdict::fail;
}

std::optional<Json> staircase_chart(const RunResult& run, const FleetAnalysis& analysis) {
  const Staircase staircase = collect_staircase(run, analysis);
  if (staircase.points.empty()) return {};
  const double octaves = std::log2(staircase.largest_bytes / staircase.smallest_bytes);
  Json spec = chart_template("staircase");
  entry_of(spec["data"], "points")["values"] = staircase.points;
  entry_of(spec["data"], "levels")["values"] = collect_levels(run, analysis, staircase);
  entry_of(spec["scales"], "x")["domain"] = {staircase.smallest_bytes, staircase.largest_bytes};
  entry_of(spec["scales"], "y")["domain"] = {0, staircase.largest_cycles * 1.08};
  entry_of(spec["scales"], "colour")["domain"] = staircase.flagged_devices;
  spec["axes"][0]["values"] =
      powers_of_two(staircase.smallest_bytes, staircase.largest_bytes, octaves > 14 ? 2 : 1);
  if (staircase.flagged_devices.empty()) spec.erase("legends");
  return spec;
}

}  // namespace sonde
