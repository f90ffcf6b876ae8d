// Pools what the lanes of the chases of a job recorded.
#include "analysis/report/raw_latency.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>

namespace sonde {
namespace {

struct Chase {
  std::uint64_t span_bytes = 0;
  std::uint64_t step_bytes = 0;
  bool at_edge = false;
};

/// The next word of a text.
std::string_view take_word(std::string_view& text) {
  const std::size_t end = std::min(text.find(' '), text.size());
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return word;
}

std::optional<std::uint64_t> number(std::string_view word) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size()) return {};
  return value;
}

std::optional<Chase> parse_label(std::string_view label, std::string_view job) {
  if (take_word(label) != job) return {};
  const std::string_view kind = take_word(label);
  if (kind != "coarse" && kind != "size" && kind != "span") return {};
  const auto span = number(take_word(label));
  const bool has_step = take_word(label) == "step";
  const auto step = number(take_word(label));
  if (!span || !has_step || !step || !label.empty()) return {};
  return Chase{*span, *step, kind == "size"};
}

/// Windows of a lane: each that was recorded, or only how many there were of each length.
void count_windows(const LaneTrace& lane, std::map<std::uint32_t, std::uint64_t>& counts) {
  for (const std::uint32_t cycles : lane.window_cycles) ++counts[cycles];
  if (!lane.window_cycles.empty()) return;
  for (const WindowCount& bin : lane.histogram) counts[bin.window_cycles] += bin.accesses;
}

/// How it was done. A text that is no JSON says nothing.
struct Setting {
  std::string path;
  bool first_place = true;
};

Setting parse_setting(const std::string& parameters_json) {
  const auto json = nlohmann::json::parse(parameters_json, nullptr, false);
  if (!json.is_object()) return {};
  const auto path = json.find("path");
  const auto place = json.find("place");
  return {path != json.end() && path->is_string() ? path->get<std::string>() : "",
          place == json.end() || *place == 0};
}

struct Sum {
  double cycles = 0;
  double accesses = 0;
};

/// Of one load path.
struct Pool {
  std::size_t chases = 0;
  std::map<std::uint32_t, std::uint64_t> windows;
  std::map<std::tuple<bool, std::uint64_t, std::uint64_t>, Sum> spans;
};

RawLatency latency_of(const std::string& job, const std::string& path, const Pool& pool) {
  RawLatency raw{.job = job, .path = path, .chases = pool.chases, .windows = {}, .spans = {}};
  for (const auto& [cycles, accesses] : pool.windows) raw.windows.push_back({cycles, accesses});
  for (const auto& [key, sum] : pool.spans) {
    const auto& [at_edge, step_bytes, span_bytes] = key;
    raw.spans.push_back({span_bytes, step_bytes, sum.cycles / sum.accesses, at_edge});
  }
  return raw;
}

}  // namespace

std::string name_of(const RawLatency& raw) {
  return raw.job + (raw.path.empty() ? "" : " through " + raw.path);
}

std::vector<RawLatency> raw_latencies(const JobResult& job) {
  std::map<std::string, Pool> pools;  // by load path
  for (const ProbeRecord& probe : job.probes) {
    const auto chase = parse_label(probe.label, job.job);
    if (!chase) continue;
    std::map<std::uint32_t, std::uint64_t> counts;
    for (const LaneTrace& lane : probe.trace.lanes) count_windows(lane, counts);
    if (counts.empty()) continue;
    const Setting setting = parse_setting(probe.parameters_json);
    Pool& pool = pools[setting.path];
    ++pool.chases;
    Sum sum;
    for (const auto& [cycles, accesses] : counts) {
      pool.windows[cycles] += accesses;
      sum.cycles += static_cast<double>(cycles) * static_cast<double>(accesses);
      sum.accesses += static_cast<double>(accesses);
    }
    if (!setting.first_place || sum.accesses == 0) continue;
    Sum& all = pool.spans[{chase->at_edge, chase->step_bytes, chase->span_bytes}];
    all.cycles += sum.cycles;
    all.accesses += sum.accesses;
  }
  std::vector<RawLatency> raw;
  for (const auto& [path, pool] : pools) raw.push_back(latency_of(job.job, path, pool));
  return raw;
}

}  // namespace sonde
