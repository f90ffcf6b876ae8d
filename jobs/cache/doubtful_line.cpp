// Sets found with lines of the supposed length are asked for at other places of those lines, and
// filled with all that such lines hold.
#include "jobs/cache/doubtful_line.hpp"

#include "base/random.hpp"
#include "jobs/cache/cache_probe.hpp"
#include "jobs/cache/report.hpp"
#include "jobs/sets/search.hpp"

#include <algorithm>
#include <functional>

namespace sonde {
namespace {

/// Whether the function that chooses the set takes the lowest bit above those within a line:
/// neighbours then lie in different sets, as parts of one line do not.
bool tells_neighbours_apart(const IndexFunction& index, std::uint64_t line_bytes) {
  return std::ranges::any_of(index.masks,
                             [&](std::uint64_t mask) { return (mask & line_bytes) != 0; });
}

/// Whether a set holds the same lines wherever in each of them it is asked for, and also if all of
/// them is: of lines half as long some would lie in another set, or be further lines of this one.
bool holds_whole_lines(CacheProbe& probe, const Lines& conflict, std::uint64_t unit_bytes) {
  constexpr int draws = 12;  // of two lines in two halves each all overflow once in 4096 times
  Random random(derive_seed(probe.pool().seed, "places in lines"));
  std::vector<Lines> overfull;
  std::vector<Lines> full;
  for (int draw = 0; draw < draws; ++draw) {
    Lines& units = overfull.emplace_back(conflict);
    for (std::uint64_t& unit : units)
      unit += random.below(probe.pool().line_bytes / unit_bytes) * unit_bytes;
    full.push_back(slice(shuffled(units, random()), 1, units.size() - 1));
  }
  const MissOracle ask = ask_behind(probe, {});
  return std::ranges::all_of(overflow_once(overfull, ask), std::identity{}) &&
         std::ranges::none_of(overflow_once(full, ask), std::identity{}) &&
         stay_whole(probe, slice(conflict, 1, conflict.size() - 1), unit_bytes);
}

bool prove_line(CacheProbe& probe, const SetLayout& layout, std::uint64_t unit_bytes) {
  return layout.conflict && tells_neighbours_apart(layout.index, probe.pool().line_bytes) &&
         holds_whole_lines(probe, layout.conflict->lines, unit_bytes);
}

}  // namespace

void settle_doubtful_line(const CacheUnderTest& cache, CacheGeometry& geometry) {
  const std::uint64_t unit_bytes = geometry.fetch.bytes;
  bool is_refuted = false;
  while (geometry.line_confidence() < 1 && full_sets_tell_line(cache, geometry) &&
         why_too_many_lines(geometry).empty()) {
    CacheProbe probe(cache, geometry.part_bytes(), geometry.line_bytes);
    const SetFindings found = find_sets_in_time(probe);
    if (!found.confirmed()) break;
    if (prove_line(probe, found.layout, unit_bytes)) {
      geometry.line_contrast = found.layout.checked.confidence();
      return;
    }
    if (found.filled.empty()) break;
    if (stay_whole(probe, found.filled, unit_bytes)) {
      if (is_refuted) geometry.line_contrast = found.layout.checked.confidence();
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
