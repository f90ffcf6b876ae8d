// The charts of diverged warps: when each path of each warp ran, of a switch (Wong 2010, figure 7)
// and of a nest of branches.
#include "analysis/fleet/value_text.hpp"
#include "analysis/report/charts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace sonde {
namespace {

/// Paths of a warp in the lists of begins and ends, and the most warps that a page shows.
constexpr std::size_t paths_of_warp = 32;
constexpr std::size_t most_warps = 8;
/// More devices would not be told apart: they run the same program.
constexpr std::size_t most_devices = 4;

/// One bar for each path; none if a time is no number.
void add_device(Json& bars, const std::string& label, const std::vector<double>& begins,
                const std::vector<double>& ends) {
  const std::size_t count = std::min(begins.size(), most_warps * paths_of_warp);
  for (std::size_t i = 0; i < count; ++i) {
    if (!std::isfinite(begins[i]) || !std::isfinite(ends[i])) continue;
    bars.push_back({{"device", label},
                    {"warp", i / paths_of_warp},
                    {"path", i % paths_of_warp},
                    {"begin", begins[i]},
                    {"end", ends[i]}});
  }
}

std::optional<Json> draw(const RunResult& run, const char* begin_metric, const char* end_metric) {
  Json bars = Json::array();
  Json labels = Json::array();
  for (const DeviceResult& device : run.devices) {
    const auto* begins = vector_of(device, begin_metric);
    const auto* ends = vector_of(device, end_metric);
    if (begins == nullptr || ends == nullptr || begins->size() != ends->size()) continue;
    if (labels.size() == most_devices) break;
    labels.push_back(chart_label(run, device));
    add_device(bars, labels.back(), *begins, *ends);
  }
  if (bars.empty()) return {};
  Json spec = chart_template("timeline");
  entry_of(spec["data"], "bars")["values"] = bars;
  entry_of(spec["scales"], "device")["domain"] = labels;
  spec["height"] = 180 * labels.size();
  return spec;
}

}  // namespace

std::optional<Json> timeline_chart(const RunResult& run) {
  return draw(run, "control.timeline_begin_cycles", "control.timeline_end_cycles");
}

std::optional<Json> nest_chart(const RunResult& run) {
  return draw(run, "control.nested_begin_cycles", "control.nested_end_cycles");
}

}  // namespace sonde
