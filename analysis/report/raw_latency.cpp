// Pools the recorded accesses of all chases of a job.
#include "analysis/report/raw_latency.hpp"

#include <nlohmann/json.hpp>

#include <optional>
#include <regex>
#include <tuple>
#include <utility>

namespace sonde {
namespace {

/// The span, if the chase searched a capacity of the job.
std::optional<SpanLatency> parse_label(const std::string& label, const std::string& job) {
  static const std::regex form(R"((\S+) (coarse|size|span) (\d{1,18}) step (\d{1,18}))");
  std::smatch match;
  if (!std::regex_match(label, match, form) || match[1] != job) return {};
  return SpanLatency{.span_bytes = std::stoull(match[3]),
                     .step_bytes = std::stoull(match[4]),
                     .at_edge = match[2] == "size"};
}

/// Sets accesses and mean window over all lanes: of recorded windows, else of the histogram.
void add_windows(const ProbeRecord& probe, SpanLatency& span) {
  double cycles = 0;
  const auto add = [&](std::uint32_t window_cycles, std::uint64_t accesses) {
    cycles += static_cast<double>(window_cycles) * static_cast<double>(accesses);
    span.accesses += static_cast<double>(accesses);
  };
  for (const LaneTrace& lane : probe.trace.lanes) {
    for (const std::uint32_t window_cycles : lane.window_cycles) add(window_cycles, 1);
    if (!lane.window_cycles.empty()) continue;
    for (const WindowCount& bin : lane.histogram) add(bin.window_cycles, bin.accesses);
  }
  span.window_cycles = cycles / span.accesses;
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
  std::map<std::string, Spans> by_path;
  for (const ProbeRecord& probe : job.probes) {
    std::optional<SpanLatency> span = parse_label(probe.label, job.job);
    if (!span) continue;
    add_windows(probe, *span);
    if (!(span->accesses > 0)) continue;
    // Invalid JSON is ignored.
    const auto options = nlohmann::json::parse(probe.parameters_json, nullptr, false);
    const nlohmann::json path = options.is_object() ? options.value("path", nlohmann::json()) : "";
    const std::string path_name = path.is_string() ? path.get<std::string>() : "";
    const bool first_place = !options.is_object() || options.value("place", nlohmann::json(0)) == 0;
    if (first_place) add_span(*span, by_path[path_name]);
  }
  std::vector<RawLatency> all;
  for (const auto& [path, spans] : by_path) {
    RawLatency& raw = all.emplace_back(RawLatency{.job = job.job, .path = path});
    for (const auto& [key, span] : spans) raw.spans.push_back(span);
  }
  return all;
}

}  // namespace sonde
