// Pools the recorded accesses of all chases of a job.
#include "analysis/report/raw_latency.hpp"

#include <nlohmann/json.hpp>

#include <optional>
#include <regex>
#include <tuple>
#include <utility>

namespace sonde {
namespace {

using Windows = std::map<std::uint32_t, std::uint64_t>;

/// The span, if the chase searched a capacity of the job.
std::optional<SpanLatency> parse_label(const std::string& label, const std::string& job) {
  static const std::regex form(R"((\S+) (coarse|size|span) (\d{1,18}) step (\d{1,18}))");
  std::smatch match;
  if (!std::regex_match(label, match, form) || match[1] != job) return {};
  return SpanLatency{.span_bytes = std::stoull(match[3]),
                     .step_bytes = std::stoull(match[4]),
                     .at_edge = match[2] == "size"};
}

/// The windows of all lanes: recorded ones, else the histogram.
Windows windows_of(const ProbeRecord& probe) {
  Windows windows;
  for (const LaneTrace& lane : probe.trace.lanes) {
    for (const std::uint32_t cycles : lane.window_cycles) ++windows[cycles];
    if (!lane.window_cycles.empty()) continue;
    for (const WindowCount& bin : lane.histogram) windows[bin.window_cycles] += bin.accesses;
  }
  return windows;
}

/// By at_edge, step, span.
using Spans = std::map<std::tuple<bool, std::uint64_t, std::uint64_t>, SpanLatency>;

/// Merges accesses of the same span.
void add_span(const SpanLatency& added, Spans& spans) {
  const auto [place, is_new] =
      spans.try_emplace({added.at_edge, added.step_bytes, added.span_bytes}, added);
  if (is_new) return;
  SpanLatency& same = place->second;
  same.accesses += added.accesses;
  same.window_cycles += (added.window_cycles - same.window_cycles) * added.accesses / same.accesses;
}

}  // namespace

std::string name_of(const RawLatency& raw) {
  return raw.job + (raw.path.empty() ? "" : " through " + raw.path);
}

std::vector<RawLatency> raw_latencies(const JobResult& job) {
  std::map<std::string, RawLatency> by_path;
  std::map<std::string, Spans> spans;  // by path
  for (const ProbeRecord& probe : job.probes) {
    std::optional<SpanLatency> span = parse_label(probe.label, job.job);
    if (!span) continue;
    const Windows windows = windows_of(probe);
    if (windows.empty()) continue;
    // Invalid JSON is ignored.
    const auto options = nlohmann::json::parse(probe.parameters_json, nullptr, false);
    const nlohmann::json path = options.is_object() ? options.value("path", nlohmann::json()) : "";
    const std::string path_name = path.is_string() ? path.get<std::string>() : "";
    by_path.try_emplace(path_name);
    double cycles_of_all = 0;
    for (const auto& [cycles, accesses] : windows) {
      cycles_of_all += static_cast<double>(cycles) * static_cast<double>(accesses);
      span->accesses += static_cast<double>(accesses);
    }
    span->window_cycles = cycles_of_all / span->accesses;
    const bool first_place = !options.is_object() || options.value("place", nlohmann::json(0)) == 0;
    if (first_place && span->accesses > 0) add_span(*span, spans[path_name]);
  }
  std::vector<RawLatency> all;
  for (auto& [path, raw] : by_path) {
    raw.job = job.job;
    raw.path = path;
    for (const auto& [key, span] : spans[path]) raw.spans.push_back(span);
    all.push_back(std::move(raw));
  }
  return all;
}

}  // namespace sonde
