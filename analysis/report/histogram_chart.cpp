// Histograms of raw latency: hits and misses behind a capacity.
#include "analysis/fleet/value_text.hpp"
#include "analysis/report/charts.hpp"
#include "base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>

namespace sonde {
namespace {

constexpr double most_bars = 200;  // about 2 px each
/// Share of the accesses that may lie beyond the chart: interrupts and the like.
constexpr double beyond_fraction = 1e-4;

double total(const std::vector<WindowCount>& windows) {
  double sum = 0;
  for (const WindowCount& window : windows) sum += static_cast<double>(window.accesses);
  return sum;
}

/// Longest window that is drawn.
double last_cycles(const std::vector<WindowCount>& windows) {
  double beyond = beyond_fraction * total(windows);
  for (auto window = windows.rbegin(); window != windows.rend(); ++window) {
    beyond -= static_cast<double>(window->accesses);
    if (beyond < 0) return window->window_cycles;
  }
  return windows.front().window_cycles;
}

/// [{"from", "to", "accesses"}] in cycles without what the window itself takes.
Json bars_of(const std::vector<WindowCount>& windows, double overhead_cycles) {
  const double first = windows.front().window_cycles;
  const double last = last_cycles(windows);
  const double width = std::max(1.0, std::ceil((last - first + 1) / most_bars));
  std::map<double, std::uint64_t> bins;
  for (const WindowCount& window : windows) {
    if (window.window_cycles > last) break;
    bins[std::floor((window.window_cycles - first) / width)] += window.accesses;
  }
  Json bars = Json::array();
  for (const auto& [bin, accesses] : bins) {
    const double from = first + bin * width - overhead_cycles - 0.5;  // windows are whole cycles
    bars.push_back({{"from", from}, {"to", from + width}, {"accesses", accesses}});
  }
  return bars;
}

/// What the job found of its hits and misses, within the chart.
Json marks_of(const DeviceResult& device, const std::string& job, const Json& bars) {
  struct Mark {
    const char* metric;
    const char* name;
  };
  Json marks = Json::array();
  const auto add = [&](const std::string& metric, const char* name) {
    const auto cycles = number_of(device, metric);
    if (!cycles || *cycles < bars.front().at("from").get<double>() ||
        *cycles > bars.back().at("to").get<double>()) {
      return;
    }
    marks.push_back({{"cycles", *cycles}, {"label", fmt::format("{} {:.0f}", name, *cycles)}});
  };
  for (const Mark& mark :
       std::array{Mark{"hit_latency_cycles", "hit"}, Mark{"far_hit_latency_cycles", "far hit"},
                  Mark{"miss_latency_cycles", "miss"}}) {
    add(fmt::format("{}.{}", job, mark.metric), mark.name);
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
  Json specs = Json::array();
  for (const RawLatency& job : raw) {
    if (job.windows.empty()) continue;
    const double overhead_cycles = number_of(device, "clock.window_cycles").value_or(0);
    Json spec = chart_template("histograms");
    Json bars = bars_of(job.windows, overhead_cycles);
    entry_of(spec["data"], "marks")["values"] = marks_of(device, job.job, bars);
    entry_of(spec["data"], "bars")["values"] = std::move(bars);
    entry_of(spec["signals"], "colour")["value"] = job.job == "tlb" ? "var(--tlb)" : "var(--cache)";
    spec["title"]["text"] = title_of(device, job);
    specs.push_back(std::move(spec));
  }
  return specs;
}

}  // namespace sonde
