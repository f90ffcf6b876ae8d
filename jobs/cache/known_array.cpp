// Reads what is known, plays it through another path, and compares.
#include "jobs/cache/known_array.hpp"

#include "analysis/metrics.hpp"
#include "jobs/cache/cache_probe.hpp"
#include "jobs/sets/search.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sonde {
namespace {

struct KnownArray {
  std::uint64_t size_bytes = 0;
  std::uint64_t line_bytes = 0;
  SetLayout layout;
};

/// nullopt unless size, line, ways and index are known to the end.
std::optional<KnownArray> find_known_array(const JobRun& run, const std::string& name) {
  const auto size_bytes = run.number(name + ".size_bytes");
  const auto line_bytes = run.number(name + ".line_bytes");
  const auto ways = run.vector(name + ".ways_per_set");
  const Finding* index = run.finding(name + ".index_function");
  if (!size_bytes || !line_bytes || !ways || index == nullptr) return std::nullopt;
  if (run.finding(name + ".size_bytes")->interval || ways->front() != ways->back())
    return std::nullopt;
  KnownArray known{static_cast<std::uint64_t>(*size_bytes),
                   static_cast<std::uint64_t>(*line_bytes),
                   {.index = parse_index_function(std::get<std::string>(index->value))}};
  known.layout.ways_per_set.assign(ways->begin(), ways->end());
  return can_number_sets(known.layout.index) ? std::optional(known) : std::nullopt;
}

/// Lines that fill the array stay, and one more does not.
Predictions try_size(CacheProbe& probe, const KnownArray& known) {
  Lines fitting;
  for (std::uint64_t line = 0; line < known.size_bytes; line += known.line_bytes)
    fitting.push_back(line);
  Lines overfull = fitting;
  overfull.push_back(known.size_bytes);
  const std::vector<bool> overflowing = overflow_once({fitting, overfull}, ask_behind(probe, {}));
  return {.asked = 2, .right = std::uint64_t{!overflowing[0]} + std::uint64_t{overflowing[1]}};
}

}  // namespace

bool report_as_known_array(const CacheUnderTest& cache, const std::string& known_name) {
  JobRun& run = cache.run;
  const auto known = find_known_array(run, known_name);
  if (!known) return false;
  CacheProbe probe(cache, known->size_bytes, known->line_bytes);
  probe.spread_over_sms({});
  const SetFindings sets{.pool = probe.pool(), .layout = known->layout};
  Predictions predictions = try_size(probe, *known);
  if (predictions.all_right()) predictions += try_sets(probe, sets);
  if (!predictions.all_right()) return false;
  for (const Metric& metric : all_metrics()) {
    if (!metric.name.starts_with(cache.name + ".") || metric.name.ends_with("_latency_cycles"))
      continue;
    const Finding* of_known =
        run.answer(known_name + std::string(metric.name.substr(cache.name.size())));
    if (of_known == nullptr) continue;
    Finding finding = *of_known;
    finding.metric = metric.name;
    finding.confidence = std::min(finding.confidence, predictions.confidence());
    if (!finding.reason.empty()) finding.reason += "; ";
    finding.reason += fmt::format(
        "the array of {}: {} of {} chases through this path did as its structure predicts",
        known_name, predictions.right, predictions.asked);
    run.report(std::move(finding));
  }
  return true;
}

}  // namespace sonde
