// Sets found with lines of the supposed length are filled with all that such lines hold.
#include "jobs/cache/doubtful_line.hpp"

#include "jobs/cache/cache_probe.hpp"
#include "jobs/cache/report.hpp"

#include <algorithm>

namespace sonde {
void settle_doubtful_line(const CacheUnderTest& cache, CacheGeometry& geometry) {
  const std::uint64_t unit_bytes = geometry.fetch.bytes;
  bool is_refuted = false;
  while (geometry.line_confidence() < 1 && full_sets_tell_line(cache, geometry) &&
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
