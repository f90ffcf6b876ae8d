// Reads the known structure of a cache, chases it through another path, and compares.
#include "jobs/cache/known_array.hpp"

#include "analysis/metrics.hpp"
#include "jobs/cache/cache_probe.hpp"
#include "jobs/cache/capacity.hpp"
#include "jobs/cache/fetch_and_line.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sonde {
namespace {

/// The sets of a cache, if all have equally many ways and a function gives them; else empty.
SetLayout find_known_sets(const JobRun& run, const std::string& name) {
  const auto ways = run.vector(name + ".ways_per_set");
  const Finding* index = run.finding(name + ".index_function");
  if (!ways || index == nullptr || ways->front() != ways->back()) return {};
  SetLayout layout{.index = parse_index_function(std::get<std::string>(index->value))};
  if (can_number_sets(layout.index)) layout.ways_per_set.assign(ways->begin(), ways->end());
  return layout;
}

Predictions try_size(const CacheUnderTest& cache, const KnownArray& known) {
  CacheUnderTest settled = cache;
  settled.settling_passes = slow_settling_passes;  // textures of an H200 settle slowly
  return try_bound(settled, {known.size_bytes, known.size_bytes + known.line_bytes},
                   known.line_bytes);
}

}  // namespace

std::optional<KnownArray> try_known_array(const CacheUnderTest& cache, const std::string& name) {
  const JobRun& run = cache.run;
  const Finding* size = run.finding(name + ".size_bytes");
  const auto line_bytes = run.number(name + ".line_bytes");
  if (size == nullptr || !line_bytes) return std::nullopt;
  KnownArray known{.name = name,
                   .size_bytes = static_cast<std::uint64_t>(std::get<double>(size->value)),
                   .line_bytes = static_cast<std::uint64_t>(*line_bytes),
                   .layout = find_known_sets(run, name)};
  if (!known.layout.resolved()) return std::nullopt;
  known.size = try_size(cache, known);
  if (!known.size.bear_out()) return std::nullopt;
  CacheProbe probe(cache, known.size_bytes, known.line_bytes);
  known.sets = try_sets(probe, {.pool = probe.pool(), .layout = known.layout});
  return known;
}

void report_as_known(const CacheUnderTest& cache, const KnownArray& known) {
  JobRun& run = cache.run;
  Predictions all = known.size;
  all += known.sets;
  for (const Metric& metric : all_metrics()) {
    if (!metric.name.starts_with(cache.name + ".") || metric.name.ends_with("_latency_cycles"))
      continue;
    const Finding* of_known =
        run.answer(known.name + std::string(metric.name.substr(cache.name.size())));
    if (of_known == nullptr) continue;
    Finding finding = *of_known;
    finding.metric = metric.name;
    finding.confidence = std::min(finding.confidence, all.confidence());
    if (!finding.reason.empty()) finding.reason += "; ";
    finding.reason += fmt::format(
        "the same array as {}: {} of {} chases through this path behaved as its structure predicts",
        known.name, all.right, all.asked);
    run.report(std::move(finding));
  }
}

std::optional<CacheGeometry> geometry_of(const CacheUnderTest& cache, const KnownArray& known) {
  // Chases of one access per line would also fit an array of as many shorter lines. So all fetched
  // units of the lines must stay, too.
  constexpr double surely_held = 0.75;  // part of the size
  constexpr double most_missing = 0.5;
  const auto fetch = measure_fetch(cache);
  if (!fetch) return std::nullopt;
  const std::uint64_t span_bytes =
      scale_span(known.size_bytes, surely_held, std::max(fetch->bytes, known.line_bytes));
  const ChasePlan whole{.offsets = shuffled_order(span_bytes, fetch->bytes, cache.seed),
                        .warmup_passes = 2};
  if (measure_miss_fraction(cache, "whole lines", whole) > most_missing) return std::nullopt;
  return CacheGeometry{.fetch = *fetch,
                       .line_bytes = known.line_bytes,
                       .line_confidence = 1,
                       .bound = {known.size_bytes, known.size_bytes + known.line_bytes},
                       .footprints = known.size,
                       .outlier_share = most_outlier_share(cache, known.line_bytes)};
}

}  // namespace sonde
