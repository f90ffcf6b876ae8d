// Findings of a cache, with what speaks for them.
#include "jobs/cache/report.hpp"

#include "analysis/statistics.hpp"
#include "base/units.hpp"

#include <fmt/format.h>

namespace sonde {
namespace {

// A soft bound is known to 1/32, and says less about the size than a step does.
constexpr double gradual_confidence = 0.5;

// A line told by less is a guess, unless sets were found in such lines: of 210 lines of random
// simulated GPUs one was, and wrong; in the second code cache of an H200 it is 0.16 to 0.34. In a
// cache of few lines it may be as little though the line is right, but there sets are found.
constexpr double least_line_contrast = 0.4;

Finding found_bytes(const std::string& metric, std::uint64_t bytes, double confidence,
                    std::uint64_t samples) {
  return found(metric, static_cast<double>(bytes), confidence, samples);
}

std::string join(const std::string& first, const std::string& second) {
  return first.empty() || second.empty() ? first + second : first + "; " + second;
}

void report_line(JobRun& run, const std::string& cache, const CacheGeometry& shape,
                 std::uint64_t samples) {
  const std::string metric = cache + ".line_bytes";
  if (shape.sets_confirmed || shape.line_contrast >= least_line_contrast) {
    run.report(found_bytes(metric, shape.line_bytes, shape.line_contrast, samples));
    return;
  }
  run.report(not_resolvable(
      metric,
      fmt::format("walks over parts of blocks miss neither as if a block were a line nor as "
                  "if it were several: {} would fit best, by a contrast of {:.2f}",
                  format_bytes(static_cast<double>(shape.line_bytes)), shape.line_contrast)));
}

/// A fill shows the sector, unless it brings more than the cache before it asked for: then several
/// smaller sectors may have come together.
void report_sector(JobRun& run, const std::string& cache, const CacheGeometry& shape,
                   const std::string& inner) {
  const std::string metric = cache + ".sector_bytes";
  const auto inner_fetch = run.number(inner + ".fetch_bytes");
  if (cache != inner && inner_fetch &&
      *inner_fetch < static_cast<double>(std::min(shape.fetch.bytes, shape.line_bytes))) {
    run.report(not_resolvable(
        metric, fmt::format("a fill brings {}, {} asks for {}: sectors may be either",
                            format_bytes(static_cast<double>(shape.fetch.bytes)), inner,
                            format_bytes(*inner_fetch))));
    return;
  }
  const std::uint64_t sector_bytes = std::min(shape.fetch.bytes, shape.line_bytes);
  run.report(found_bytes(metric, sector_bytes, shape.fetch.agreement, shape.fetch.observations));
}

}  // namespace

void report_geometry(JobRun& run, const std::string& cache, const CacheGeometry& shape,
                     const std::string& remark, const std::string& inner) {
  const std::uint64_t first_miss_bytes = shape.bound.fitting_bytes;
  const std::uint64_t lines = first_miss_bytes / shape.line_bytes;
  const double confidence = shape.soft ? gradual_confidence : 1;
  const bool filled = shape.filled_bytes > 0 && shape.whole_bytes == 0;
  Finding size =
      found_bytes(cache + ".size_bytes", shape.size_bytes(), filled ? 1 : confidence, lines);
  if (filled && shape.filled_bytes != first_miss_bytes) {
    size.reason = fmt::format(
        "lines chosen to fill every set stay together; of a plain footprint the first misses come "
        "at {}",
        format_bytes(static_cast<double>(first_miss_bytes)));
  } else if (shape.soft) {
    size.reason = shape.half_lost_bytes > 0
                      ? "lines are lost little by little: half of them at this footprint"
                      : "the edge is soft: other orders of visits find it a few lines away";
  }
  if (!filled && shape.residents_bytes > first_miss_bytes) {
    size.reason = fmt::format(
        "counted on the way back after a fill: the first misses come at {}, "
        "so some sets are smaller than others",
        format_bytes(static_cast<double>(first_miss_bytes)));
  }
  size.reason = join(size.reason, remark);
  if (!shape.no_size.empty()) size = not_resolvable(cache + ".size_bytes", shape.no_size);
  run.report(std::move(size));
  Finding first_miss =
      found_bytes(cache + ".first_miss_bytes", first_miss_bytes, confidence, lines);
  first_miss.reason = remark;
  run.report(std::move(first_miss));
  report_line(run, cache, shape, lines);
  report_sector(run, cache, shape, inner);
  run.report(found_bytes(cache + ".fetch_bytes", shape.fetch.bytes, shape.fetch.agreement,
                         shape.fetch.observations));
}

void report_latencies(JobRun& run, const std::string& cache, const std::vector<double>& hits,
                      const std::vector<double>& misses) {
  run.report(found(cache + ".hit_latency_cycles", median(hits), 1, hits.size(),
                   median_absolute_deviation(hits)));
  run.report(found(cache + ".miss_latency_cycles", summarize_memory_latency(misses).cycles, 1,
                   misses.size(), median_absolute_deviation(misses)));
}

void report_absent(JobRun& run, const std::string& cache, const std::string& reason) {
  run.report_rest(cache + ".", Status::not_present, reason);
}

void report_no_geometry(JobRun& run, const std::string& cache, const std::string& reason) {
  run.report_rest(cache + ".", Status::not_resolvable, reason);
}

}  // namespace sonde
