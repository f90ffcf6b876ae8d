// Findings of a cache with their reasons; called when all steps of the geometry are done.
#include "jobs/cache/report.hpp"

#include "analysis/structure/latency/memory_replicates.hpp"
#include "base/units.hpp"
#include "jobs/cache/try_line.hpp"
#include "jobs/cache/writes_and_prefetch.hpp"
#include "jobs/sets/search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace sonde {
namespace {

Finding found_bytes(const std::string& metric, std::uint64_t bytes, double confidence,
                    std::uint64_t samples) {
  return found(metric, static_cast<double>(bytes), confidence, samples);
}

std::string join(const std::string& first, const std::string& second) {
  return first.empty() || second.empty() ? first + second : first + "; " + second;
}

void report_size(const CacheUnderTest& cache, const CacheGeometry& geometry,
                 const std::string& remark) {
  const std::uint64_t first_miss_bytes = geometry.bound.fitting_bytes;
  const std::uint64_t lines = first_miss_bytes / geometry.line_bytes;
  const double confidence = geometry.footprints.confidence();
  const std::string metric = cache.name + ".size_bytes";
  const bool filled = geometry.filled_bytes > 0;
  if (const std::string none = explain_no_size(geometry); !none.empty()) {
    cache.run.report(not_resolvable(metric, none));
  } else {
    Finding size = found_bytes(metric, geometry.size_bytes(),
                               filled ? geometry.line_confidence : confidence, lines);
    const bool is_exact =
        geometry.bound.overflowing_bytes - first_miss_bytes <= geometry.line_bytes;
    if (!filled && (geometry.hides_lines || !is_exact)) {
      size.interval = {static_cast<double>(first_miss_bytes),
                       static_cast<double>(geometry.bound.overflowing_bytes)};
    }
    const bool is_plain = !filled || geometry.filled_bytes == first_miss_bytes;
    cache.run.report(
        std::move(size),
        is_plain
            ? remark
            : join(fmt::format("the lines of all sets; a footprint in one piece misses beyond {}",
                               format_bytes(first_miss_bytes)),
                   remark));
  }
  Finding first_miss =
      found_bytes(cache.name + ".first_miss_bytes", first_miss_bytes, confidence, lines);
  first_miss.interval = geometry.spread;
  cache.run.report(std::move(first_miss), remark);
}

void report_line(const CacheUnderTest& cache, const CacheGeometry& geometry) {
  const std::string metric = cache.name + ".line_bytes";
  if (geometry.hides_lines) {
    return cache.run.report(not_resolvable(
        metric,
        fmt::format("from {} to {}: code is executed in whole blocks",
                    format_bytes(geometry.fetch.bytes), format_bytes(geometry.line_bytes))));
  }
  if (geometry.line_is_known()) {
    return cache.run.report(found_bytes(metric, geometry.line_bytes, geometry.line_confidence,
                                        geometry.bound.fitting_bytes / geometry.line_bytes));
  }
  cache.run.report(not_resolvable(
      metric, fmt::format("chases over parts of blocks do not show whether a block is one line or "
                          "several: best fit {}, contrast {:.2f}",
                          format_bytes(geometry.line_bytes), geometry.line_confidence)));
}

/// Why the fetch is not resolvable; empty if most misses have the same distance.
std::string explain_no_fetch(const BlockSize& fetch) {
  constexpr double least_agreement = 0.6;
  if (fetch.agreement >= least_agreement) return {};
  return fmt::format(
      "the most common distance between misses of first accesses, {}, occurs in only {:.0f} % of "
      "{} cases",
      format_bytes(static_cast<double>(fetch.bytes)), 100 * fetch.agreement, fetch.observations);
}

/// The fetch is the sector, unless it is larger than what the inner cache asked for: then it may be
/// several smaller sectors.
void report_sector(const CacheUnderTest& cache, const CacheGeometry& geometry,
                   const std::string& inner_cache) {
  const std::string metric = cache.name + ".sector_bytes";
  if (const std::string none = explain_no_fetch(geometry.fetch); !none.empty())
    return cache.run.report(not_resolvable(metric, none));
  const auto inner_fetch = cache.run.number(inner_cache + ".fetch_bytes");
  const std::uint64_t sector_bytes = std::min(geometry.fetch.bytes, geometry.line_bytes);
  if (inner_fetch && *inner_fetch < static_cast<double>(sector_bytes)) {
    const auto asked_bytes = static_cast<std::uint64_t>(*inner_fetch);
    const bool can_store = !cache.inner && cache.space_bytes == 0;
    const auto of_stores =
        can_store ? sector_of_stores(cache, asked_bytes, sector_bytes) : std::nullopt;
    if (of_stores) {
      return cache.run.report(
          found_bytes(metric, *of_stores, geometry.fetch.agreement, geometry.fetch.observations),
          fmt::format("a fill brings {}, but after a store of {} only these bytes hit",
                      format_bytes(geometry.fetch.bytes), format_bytes(*of_stores)));
    }
    return cache.run.report(not_resolvable(
        metric,
        fmt::format("a fill brings {}, but {} fetches {}: sectors may have either size",
                    format_bytes(geometry.fetch.bytes), inner_cache, format_bytes(*inner_fetch))));
  }
  cache.run.report(
      found_bytes(metric, sector_bytes, geometry.fetch.agreement, geometry.fetch.observations));
}

/// Calls find_sets; if the search takes too long, returns that as the reason.
SetFindings find_sets_in_time(CacheProbe& probe) {
  probe.limit_search();
  SetFindings found;
  try {
    found = find_sets(probe);
  } catch (const SearchOverTime& error) {
    found.pool = probe.pool();
    found.reason = error.what();
  }
  probe.unlimit_search();
  return found;
}

/// Why confirmed sets of unequal ways are not reported; empty if they are.
std::string explain_unequal_ways(const SetFindings& found) {
  const auto& ways = found.layout.ways_per_set;
  const bool has_policy = found.replacement && found.replacement->policy;
  const bool has_function = found.layout.index.kind != IndexKind::unresolved;
  if (ways.front() > ways.back() + 1 && !has_function && !has_policy) {
    // In some orders, a set of 13 ways under tree PLRU keeps a line more or less than that.
    return fmt::format(
        "{} sets of {} to {} ways fit no index function and no known policy: some lines may have "
        "been put into wrong sets",
        ways.size(), ways.back(), ways.front());
  }
  if (found.pool.co_resident.empty() || ways.front() == ways.back()) return {};
  // 14 caches of 90 random GPUs (seeds 101 to 128, 201 to 232, 301 to 330) had this reason, and
  // their sets were equal.
  return fmt::format(
      "{} sets of {} to {} ways were found behind eviction lists that occupy some ways; which ones "
      "is not known",
      ways.size(), ways.back(), ways.front());
}

/// What contradicts sets that other chases confirmed; empty if nothing does.
std::string explain_no_sets(const SetFindings& found, const CacheGeometry& geometry) {
  if (std::string unequal = explain_unequal_ways(found); !unequal.empty()) return unequal;
  const std::uint64_t held_bytes = found.layout.lines() * geometry.line_bytes;
  if (geometry.spread || held_bytes >= geometry.bound.fitting_bytes) return {};
  return fmt::format("{} sets hold {}, but {} stay in the cache at once",
                     found.layout.ways_per_set.size(), format_bytes(held_bytes),
                     format_bytes(geometry.bound.fitting_bytes));
}

/// Whether as many lines of every set as it has ways stay at once: the capacity, whatever the order
/// in which plain footprints fill the sets. nullopt if this cannot be asked.
std::optional<bool> all_sets_stay_full(CacheProbe& probe, const SetFindings& found) {
  constexpr std::size_t lines_per_outlier = 1000;  // an outlier hardly repeats at the same line
  const SetLayout& layout = found.layout;
  const std::uint32_t ways = layout.ways_per_set.front();
  if (layout.index.kind == IndexKind::unresolved || !found.pool.co_resident.empty() ||
      ways != layout.ways_per_set.back()) {
    return std::nullopt;
  }
  Lines lines;
  for (const Lines& of_set : lines_by_set(layout.index, found.pool, ways))
    lines.insert(lines.end(), of_set.begin(), of_set.end());
  if (lines.size() < layout.lines()) return std::nullopt;
  std::ranges::sort(lines);
  const MissCounts counts = probe.ask(std::span(&lines, 1), {}).front();
  std::size_t missing = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) missing += misses_again(counts, i);
  return missing * lines_per_outlier <= lines.size();
}

/// Bytes of all sets, if they were seen to stay full, or if no footprint gives the size and nobody
/// could ask; 0 if not known. The cache may have more tags than data.
std::uint64_t bytes_of_sets(CacheProbe& probe, const SetFindings& found,
                            const CacheGeometry& geometry) {
  const auto& ways = found.layout.ways_per_set;
  const bool are_equal = ways.front() == ways.back();
  const bool are_full =
      all_sets_stay_full(probe, found).value_or(geometry.spread.has_value() && are_equal);
  return are_full ? found.layout.lines() * geometry.line_bytes : 0;
}

}  // namespace

CacheStructure characterize_sets(CacheProbe& probe, CacheGeometry geometry) {
  SetFindings found = find_sets_in_time(probe);
  if (!found.reason.empty()) return {std::move(geometry), std::move(found)};
  if (found.confirmed()) {
    found.reason = explain_no_sets(found, geometry);
    const Predictions line = try_line(probe, found, geometry.fetch.bytes);
    if (line.bear_out()) geometry.line_confidence = line.confidence();
    if (line.asked > 0 && !line.bear_out()) {
      geometry.line_confidence = 0;
      found.reason = fmt::format(
          "of {} chases over parts of the lines of a set, {} behaved as lines of {} would",
          line.asked, line.right, format_bytes(geometry.line_bytes));
    }
  }
  if (found.reason.empty() && !geometry.line_is_known())
    found.reason =
        "the line size is not known: with longer blocks for lines, the sets would look the same";
  found.line_confidence = geometry.line_confidence;
  if (found.reason.empty()) {
    if (found.confirmed()) geometry.filled_bytes = bytes_of_sets(probe, found, geometry);
    report_sets(probe, found);
  } else {
    found.layout.ways_per_set.clear();
  }
  return {std::move(geometry), std::move(found)};
}

std::string explain_no_size(const CacheGeometry& geometry) {
  if (!geometry.no_size.empty() || geometry.size_is_known()) return geometry.no_size;
  return fmt::format(
      "lines are lost gradually, the first line between {} and {}: no footprint gives the size",
      format_bytes(geometry.spread->low), format_bytes(geometry.spread->high));
}

void report_geometry(const CacheUnderTest& cache, const CacheGeometry& geometry,
                     const GeometryRemarks& remarks) {
  report_size(cache, geometry, remarks.size);
  report_line(cache, geometry);
  report_sector(cache, geometry, remarks.inner_cache);
  report_fetch(cache, geometry.fetch);
}

void report_fetch(const CacheUnderTest& cache, const BlockSize& fetch) {
  const std::string metric = cache.name + ".fetch_bytes";
  const std::string none = explain_no_fetch(fetch);
  cache.run.report(none.empty()
                       ? found_bytes(metric, fetch.bytes, fetch.agreement, fetch.observations)
                       : not_resolvable(metric, none));
}

void report_latency(JobRun& run, const std::string& metric, const Replicates& latencies) {
  run.report(found_memory(metric, summarize_memory_replicates(latencies.samples)));
}

}  // namespace sonde
