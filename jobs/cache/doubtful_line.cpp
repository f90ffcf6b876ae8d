// Sets found with lines of the supposed length are filled with all that such lines hold.
#include "jobs/cache/doubtful_line.hpp"

#include "jobs/cache/cache_probe.hpp"
#include "jobs/cache/report.hpp"

#include <algorithm>

namespace sonde {
namespace {

/// Whether all that misses bring of these lines stays at once, but for outliers.
bool stay_whole(CacheProbe& probe, const Lines& lines, std::uint64_t unit_bytes) {
  constexpr std::size_t units_per_outlier = 1000;  // that comes again at its place
  Lines units;
  for (const std::uint64_t line : lines)
    for (std::uint64_t unit = 0; unit < probe.pool().line_bytes; unit += unit_bytes)
      units.push_back(line + unit);
  const MissCounts counts = probe.ask(std::span(&units, 1), {}).front();
  std::size_t missing = 0;
  for (std::size_t i = 0; i < units.size(); ++i) missing += misses_again(counts, i);
  return missing * units_per_outlier <= units.size();
}

/// The same cache, if its lines are of so many bytes.
CacheGeometry with_line(const CacheUnderTest& cache, const CacheGeometry& seen,
                        std::uint64_t line_bytes) {
  CacheGeometry geometry{.bound = seen.bound,
                         .line_bytes = line_bytes,
                         .fetch = seen.fetch,
                         .outlier_share = seen.outlier_share};
  measure_size(cache, geometry);
  return geometry;
}

}  // namespace

void settle_doubtful_line(const CacheUnderTest& cache, CacheGeometry& geometry) {
  const std::uint64_t unit_bytes = geometry.fetch.bytes;
  if (cache.inner || geometry.within_block || geometry.partitions > 1 || geometry.whole_bytes > 0)
    return;
  bool is_refuted = false;
  while (geometry.line_confidence() < 1 && geometry.line_bytes > unit_bytes &&
         why_too_many_lines(geometry).empty()) {
    CacheProbe probe(cache, geometry.part_bytes(), geometry.line_bytes);
    const SetFindings found = find_sets_in_time(probe);
    if (!found.confirmed() || found.filled.empty()) break;
    if (stay_whole(probe, found.filled, unit_bytes)) {
      if (is_refuted) geometry.line_contrast = found.layout.agreement;
      return;
    }
    is_refuted = true;
    geometry = with_line(cache, geometry, geometry.line_bytes / 2);
  }
  // Of units that are no more than a line each the size is right in any case.
  if (is_refuted && geometry.line_bytes > unit_bytes)
    geometry = with_line(cache, geometry, unit_bytes);
}

}  // namespace sonde
