// What the carve-out of shared memory leaves to the L1.
#include "analysis/fleet/value_text.hpp"
#include "analysis/report/charts.hpp"
#include "analysis/report/consensus.hpp"
#include "base/units.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

namespace sonde {
namespace {

constexpr std::size_t most_flagged = 6;  // colours of carveouts.json
constexpr double bytes_per_kib = 1024;

struct Part {
  double shared_bytes = 0;
  double l1_bytes = 0;
};

/// What both lists have, as long as they belong together.
std::vector<Part> parts_of(const std::vector<double>* carveouts, const std::vector<double>* sizes) {
  std::vector<Part> parts;
  if (carveouts == nullptr || sizes == nullptr || carveouts->size() != sizes->size()) return parts;
  for (std::size_t i = 0; i < sizes->size(); ++i) {
    const Part part{(*carveouts)[i], (*sizes)[i]};
    if (std::isfinite(part.shared_bytes) && part.l1_bytes > 0) parts.push_back(part);
  }
  return parts;
}

std::vector<Part> parts_of(const RunResult& run, const ComparisonGroup& group) {
  const auto carveouts = consensus_of(run, group.devices, "cache.l1.carveout_bytes");
  const auto sizes = consensus_of(run, group.devices, "cache.l1.size_by_carveout_bytes");
  if (!carveouts || !sizes) return {};
  return parts_of(vector_of(*carveouts), vector_of(*sizes));
}

Json json_of(const Part& part) {
  return {{"carveout", format_bytes(part.shared_bytes)},
          {"shared", part.shared_bytes / bytes_per_kib},
          {"l1", part.l1_bytes / bytes_per_kib},
          {"text", format_bytes(part.l1_bytes)}};
}

}  // namespace

Json carveout_charts(const RunResult& run, const FleetAnalysis& analysis) {
  Json specs = Json::array();
  for (const ComparisonGroup& group : analysis.groups) {
    if (specs.size() == most_drawn_groups) break;
    const std::vector<Part> parts = parts_of(run, group);
    if (parts.empty()) continue;
    Json bars = Json::array();
    Json dots = Json::array();
    Json flagged_devices = Json::array();
    for (const Part& part : parts) bars.push_back(json_of(part));
    for (const std::size_t i : group.devices) {
      const DeviceResult& device = run.devices[i];
      if (!is_flagged(analysis.verdicts[i]) || flagged_devices.size() == most_flagged) continue;
      const auto own = parts_of(vector_of(device, "cache.l1.carveout_bytes"),
                                vector_of(device, "cache.l1.size_by_carveout_bytes"));
      if (own.empty()) continue;
      for (const Part& part : own) {
        dots.push_back(json_of(part));
        dots.back()["device"] = chart_label(run, device);
      }
      flagged_devices.push_back(chart_label(run, device));
    }
    Json spec = chart_template("carveouts");
    entry_of(spec["data"], "bars")["values"] = std::move(bars);
    entry_of(spec["data"], "dots")["values"] = std::move(dots);
    entry_of(spec["scales"], "device")["domain"] = flagged_devices;
    spec["title"]["text"] = group_title(run, group);
    if (flagged_devices.empty()) spec["legends"].erase(1);
    specs.push_back(std::move(spec));
  }
  return specs;
}

}  // namespace sonde
