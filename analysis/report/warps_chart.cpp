// The chart of latency and throughput of operations against the number of warps (Wong 2010, figure
// 6).
#include "analysis/fleet/value_text.hpp"
#include "analysis/report/charts.hpp"
#include "base/arithmetic_ops.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace sonde {
namespace {

/// What one device measured; no points if it lacks the job.
Json points_of(const DeviceResult& device) {
  Json points = Json::array();
  const std::vector<double>* warps = vector_of(device, "arithmetic.warps");
  if (warps == nullptr) return points;
  for (std::string_view op : arithmetic_warp_sweeps) {
    const std::string prefix = fmt::format("arithmetic.{}.by_warps_", op);
    const std::vector<double>* cycles = vector_of(device, prefix + "cycles");
    const std::vector<double>* rates = vector_of(device, prefix + "per_cycle");
    if (cycles == nullptr || rates == nullptr) continue;
    const std::size_t count = std::min({warps->size(), cycles->size(), rates->size()});
    for (std::size_t i = 0; i < count; ++i) {
      const bool drawable = (*warps)[i] > 0 && (*cycles)[i] > 0 && (*rates)[i] > 0 &&
                            std::isfinite((*cycles)[i]) && std::isfinite((*rates)[i]);
      if (!drawable) continue;
      points.push_back({{"op", op},
                        {"warps", (*warps)[i]},
                        {"cycles", (*cycles)[i]},
                        {"per_cycle", (*rates)[i]}});
    }
  }
  return points;
}

}  // namespace

std::optional<Json> warps_chart(const DeviceResult& device, const std::string& label) {
  const Json points = points_of(device);
  if (points.empty()) return {};
  Json spec = chart_template("warps");
  entry_of(spec["data"], "points")["values"] = points;
  spec["title"]["text"] = label;
  return spec;
}

}  // namespace sonde
