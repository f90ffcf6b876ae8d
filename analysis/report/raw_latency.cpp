// Pools what the lanes of the chases of a job recorded.
#include "analysis/report/raw_latency.hpp"

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

struct Sum {
  double cycles = 0;
  double accesses = 0;
};

}  // namespace

RawLatency raw_latency(const JobResult& job) {
  RawLatency raw{.job = job.job, .chases = 0, .windows = {}, .spans = {}};
  std::map<std::uint32_t, std::uint64_t> all;
  std::map<std::tuple<bool, std::uint64_t, std::uint64_t>, Sum> sums;
  for (const ProbeRecord& probe : job.probes) {
    const auto chase = parse_label(probe.label, job.job);
    if (!chase) continue;
    std::map<std::uint32_t, std::uint64_t> counts;
    for (const LaneTrace& lane : probe.trace.lanes) count_windows(lane, counts);
    if (counts.empty()) continue;
    ++raw.chases;
    Sum& sum = sums[{chase->at_edge, chase->step_bytes, chase->span_bytes}];
    for (const auto& [cycles, accesses] : counts) {
      all[cycles] += accesses;
      sum.cycles += static_cast<double>(cycles) * static_cast<double>(accesses);
      sum.accesses += static_cast<double>(accesses);
    }
  }
  for (const auto& [cycles, accesses] : all) raw.windows.push_back({cycles, accesses});
  for (const auto& [key, sum] : sums) {
    const auto& [at_edge, step_bytes, span_bytes] = key;
    raw.spans.push_back({span_bytes, step_bytes, sum.cycles / sum.accesses, at_edge});
  }
  return raw;
}

}  // namespace sonde
