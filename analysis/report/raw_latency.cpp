// Pools what the lanes of the chases of a job recorded.
#include "analysis/report/raw_latency.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <optional>
#include <regex>
#include <tuple>
#include <utility>

namespace sonde {
namespace {

using Windows = std::map<std::uint32_t, std::uint64_t>;

/// The span, if the chase looked for a capacity of the job.
std::optional<SpanLatency> parse_label(const std::string& label, const std::string& job) {
  static const std::regex form(R"((\S+) (coarse|size|span) (\d{1,18}) step (\d{1,18}))");
  std::smatch match;
  if (!std::regex_match(label, match, form) || match[1] != job) return {};
  return SpanLatency{.span_bytes = std::stoull(match[3]),
                     .step_bytes = std::stoull(match[4]),
                     .at_edge = match[2] == "size"};
}

/// Windows of all lanes: each that was recorded, or only how many there were of each length.
Windows windows_of(const ProbeRecord& probe) {
  Windows windows;
  for (const LaneTrace& lane : probe.trace.lanes) {
    for (const std::uint32_t cycles : lane.window_cycles) ++windows[cycles];
    if (!lane.window_cycles.empty()) continue;
    for (const WindowCount& bin : lane.histogram) windows[bin.window_cycles] += bin.accesses;
  }
  return windows;
}

/// Adds accesses to those of the same span, if there are any.
void add_span(const SpanLatency& added, std::vector<SpanLatency>& spans) {
  if (added.accesses == 0) return;
  const auto same = std::ranges::find_if(spans, [&](const SpanLatency& one) {
    return one.at_edge == added.at_edge && one.step_bytes == added.step_bytes &&
           one.span_bytes == added.span_bytes;
  });
  if (same == spans.end()) {
    spans.push_back(added);
    return;
  }
  same->accesses += added.accesses;
  same->window_cycles +=
      (added.window_cycles - same->window_cycles) * added.accesses / same->accesses;
}

}  // namespace

std::string name_of(const RawLatency& raw) {
  return raw.job + (raw.path.empty() ? "" : " through " + raw.path);
}

std::vector<RawLatency> raw_latencies(const JobResult& job) {
  std::map<std::string, RawLatency> by_path;
  for (const ProbeRecord& probe : job.probes) {
    std::optional<SpanLatency> span = parse_label(probe.label, job.job);
    if (!span) continue;
    const Windows windows = windows_of(probe);
    if (windows.empty()) continue;
    // A text that is no JSON says nothing.
    const auto options = nlohmann::json::parse(probe.parameters_json, nullptr, false);
    const nlohmann::json path = options.is_object() ? options.value("path", nlohmann::json()) : "";
    RawLatency& raw = by_path[path.is_string() ? path.get<std::string>() : ""];
    ++raw.chases;
    double cycles_of_all = 0;
    for (const auto& [cycles, accesses] : windows) {
      raw.windows[cycles] += accesses;
      cycles_of_all += static_cast<double>(cycles) * static_cast<double>(accesses);
      span->accesses += static_cast<double>(accesses);
    }
    span->window_cycles = cycles_of_all / span->accesses;
    const bool first_place = !options.is_object() || options.value("place", nlohmann::json(0)) == 0;
    if (first_place) add_span(*span, raw.spans);
  }
  std::vector<RawLatency> all;
  for (auto& [path, raw] : by_path) {
    raw.job = job.job;
    raw.path = path;
    std::ranges::sort(raw.spans, {}, [](const SpanLatency& one) {
      return std::tuple(one.at_edge, one.step_bytes, one.span_bytes);
    });
    all.push_back(std::move(raw));
  }
  return all;
}

}  // namespace sonde
