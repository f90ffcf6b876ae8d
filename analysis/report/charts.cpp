// What the charts share, and the chart of latency against footprint.
#include "analysis/report/charts.hpp"

#include "analysis/report/capacity_marks.hpp"

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

/// Every capacity that most devices of the largest group found within the chart.
Json collect_levels(const RunResult& run, const FleetAnalysis& analysis,
                    const Staircase& staircase) {
  if (analysis.groups.empty()) return Json::array();
  const ComparisonGroup& group = *std::ranges::max_element(
      analysis.groups, {}, [](const ComparisonGroup& one) { return one.devices.size(); });
  if (group.devices.empty()) return Json::array();
  static const NamedCapacity capacities[]{
      {"cache.l1.size_bytes", "L1"},    {"cache.l2.segment_bytes", "near L2"},
      {"cache.l2.size_bytes", "L2"},    {"tlb.l1.reach_bytes", "TLB L1"},
      {"tlb.l2.reach_bytes", "TLB L2"}, {"tlb.l3.reach_bytes", "TLB L3"}};
  return capacity_marks(consensus_of(run, group.devices), capacities,
                        {staircase.smallest_bytes, staircase.largest_bytes});
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

std::string beside_others(const RunResult& run, std::size_t device) {
  return run.devices.size() > 1 ? ", " + chart_label(run.devices[device]) : "";
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
