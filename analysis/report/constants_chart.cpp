// The chart of what constant caches give to so many blocks (Wong 2010, figure 19).
#include "analysis/fleet/value_text.hpp"
#include "analysis/report/charts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

namespace sonde {
namespace {

struct Variant {
  const char* metric;
  const char* name;
};
constexpr std::array variants{Variant{"one_thread", "one thread of each block"},
                              Variant{"eight_threads", "eight threads of each block"}};

struct ConstantCurves {
  Json points = Json::array();
  Json flagged_devices = Json::array();
  double most_blocks = 0;
  double most_rate = 0;
  std::string level;  // that all curves are of
};

const std::vector<double>* curve_of(const DeviceResult& device, const std::string& level,
                                    const char* variant) {
  return vector_of(device, fmt::format("constant.{}.{}_bytes_per_cycle", level, variant));
}

/// The outermost level that any device has curves of: the one that most SMs share.
std::string outermost_level(const RunResult& run) {
  for (const char* level : {"l3", "l2", "l1"}) {
    for (const DeviceResult& device : run.devices) {
      for (const Variant& variant : variants) {
        if (curve_of(device, level, variant.metric) != nullptr) return level;
      }
    }
  }
  return "";
}

/// @return whether there was a point
bool add_curve(ConstantCurves& curves, const DeviceResult& device, const std::string& label,
               bool flagged, const Variant& variant) {
  const std::vector<double>* blocks = vector_of(device, "constant.blocks");
  const std::vector<double>* rates = curve_of(device, curves.level, variant.metric);
  if (blocks == nullptr || rates == nullptr || blocks->size() != rates->size()) return false;
  const std::size_t points_before = curves.points.size();
  for (std::size_t i = 0; i < blocks->size(); ++i) {
    if (!std::isfinite((*blocks)[i]) || !std::isfinite((*rates)[i])) continue;
    curves.points.push_back({{"curve", label + ", " + variant.name},
                             {"device", label},
                             {"threads", variant.name},
                             {"dashed", &variant != &variants.front()},
                             {"flagged", flagged},
                             {"blocks", (*blocks)[i]},
                             {"rate", (*rates)[i]}});
    curves.most_blocks = std::max(curves.most_blocks, (*blocks)[i]);
    curves.most_rate = std::max(curves.most_rate, (*rates)[i]);
  }
  return curves.points.size() > points_before;
}

}  // namespace

std::optional<Json> constants_chart(const RunResult& run, const FleetAnalysis& analysis) {
  ConstantCurves curves;
  curves.level = outermost_level(run);
  for (const std::size_t i : well_first(analysis)) {
    const bool flagged = is_flagged(analysis.verdicts[i]);
    const std::string label = chart_label(run, run.devices[i]);
    bool any = false;
    for (const Variant& variant : variants) {
      any = add_curve(curves, run.devices[i], label, flagged, variant) || any;
    }
    if (any && flagged) curves.flagged_devices.push_back(label);
  }
  if (curves.points.empty()) return {};
  Json spec = chart_template("constants");
  entry_of(spec["data"], "points")["values"] = curves.points;
  entry_of(spec["scales"], "x")["domain"] = {0, curves.most_blocks};
  entry_of(spec["scales"], "y")["domain"] = {0, curves.most_rate * 1.08};
  entry_of(spec["scales"], "colour")["domain"] = curves.flagged_devices;
  spec["axes"][1]["title"] = fmt::format("bytes per cycle from the {} of constants", curves.level);
  if (curves.flagged_devices.empty()) spec.erase("legends");
  return spec;
}

}  // namespace sonde
