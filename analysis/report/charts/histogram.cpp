// Histograms of raw latency: hits and misses around a capacity.
#include "analysis/fleet/value_text.hpp"
#include "analysis/report/charts/charts.hpp"
#include "base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

namespace sonde {
namespace {

constexpr double most_bars = 200;  // about 2 px each
/// Part of the accesses that may lie outside the chart (interrupts).
constexpr double beyond_fraction = 1e-4;

using Windows = std::map<std::uint32_t, std::uint64_t>;

double total(const Windows& windows) {
  double sum = 0;
  for (const auto& [cycles, accesses] : windows) sum += static_cast<double>(accesses);
  return sum;
}

/// The longest window in the chart.
double last_cycles(const Windows& windows) {
  double beyond = beyond_fraction * total(windows);
  for (auto window = windows.rbegin(); window != windows.rend(); ++window) {
    beyond -= static_cast<double>(window->second);
    if (beyond < 0) return window->first;
  }
  return windows.begin()->first;
}

/// [{"from", "to", "accesses"}] in cycles, without the overhead of the window.
Json bars_of(const Windows& windows, double overhead_cycles) {
  const double first = windows.begin()->first;
  const double last = last_cycles(windows);
  const double width = std::max(1.0, std::ceil((last - first + 1) / most_bars));
  std::map<double, std::uint64_t> bins;
  for (const auto& [cycles, accesses] : windows) {
    if (cycles <= last) bins[std::floor((cycles - first) / width)] += accesses;
  }
  Json bars = Json::array();
  for (const auto& [bin, accesses] : bins) {
    const double from = first + bin * width - overhead_cycles - 0.5;  // windows are whole cycles
    bars.push_back({{"from", from}, {"to", from + width}, {"accesses", accesses}});
  }
  return bars;
}

/// Marks for the hit and miss latencies of the job, if they lie in the chart.
Json marks_of(const DeviceResult& device, const std::string& job, const Json& bars) {
  Json marks = Json::array();
  for (const auto& [metric, name] :
       {std::pair{"hit_latency_cycles", "hit"}, std::pair{"far_hit_latency_cycles", "far hit"},
        std::pair{"miss_latency_cycles", "miss"}}) {
    const auto cycles = number_of(device, fmt::format("{}.{}", job, metric));
    if (!cycles || *cycles < bars.front().at("from").get<double>() ||
        *cycles > bars.back().at("to").get<double>()) {
      continue;
    }
    marks.push_back({{"x", *cycles}, {"label", fmt::format("{} {:.0f}", name, *cycles)}});
  }
  return marks;
}

/// "cache.l1 through ca, 240 KiB: 128735 accesses of 65 chases".
std::string title_of(const DeviceResult& device, const RawLatency& raw) {
  const auto size = number_of(device, raw.job + ".size_bytes");
  return fmt::format("{}{}: {:.0f} accesses of {} {}", name_of(raw),
                     size ? ", " + format_bytes(*size) : "", total(raw.windows), raw.chases,
                     raw.chases == 1 ? "chase" : "chases");
}

}  // namespace

Json histogram_charts(const DeviceResult& device, const std::vector<RawLatency>& raw) {
  Json charts = Json::array();
  for (const RawLatency& job : raw) {
    if (job.windows.empty()) continue;
    Json bars = bars_of(job.windows, number_of(device, "clock.window_cycles").value_or(0));
    Json marks = marks_of(device, job.job, bars);
    charts.push_back({{"kind", "histogram"},
                      {"title", title_of(device, job)},
                      {"tlb", job.job == "tlb"},
                      {"bars", std::move(bars)},
                      {"marks", std::move(marks)}});
  }
  return charts;
}

}  // namespace sonde
