// The search of jobs/sets with a list of last lines, and what it says of all lines.
#include "jobs/cache/code_sets.hpp"

#include "device/code_blocks.hpp"
#include "jobs/cache/code_index.hpp"
#include "jobs/cache/report.hpp"
#include "jobs/sets/report.hpp"

#include <fmt/format.h>

#include <cmath>

namespace sonde {
namespace {

/// How many times the sets of last lines make all sets: once, or up to as often as a block has
/// lines, a power of two; 0 if they hold no such share of the cache.
std::uint64_t multiple_of_sets(const SetLayout& last_lines, const CacheGeometry& geometry) {
  constexpr double tolerance = 0.1;  // a size in blocks, of which sets may hold one less
  const std::uint64_t line_bytes = geometry.within_block->bytes;
  const double lines = static_cast<double>(geometry.size_bytes()) / static_cast<double>(line_bytes);
  for (std::uint64_t multiple = 1; multiple <= code_block_bytes / line_bytes; multiple *= 2) {
    const auto held = static_cast<double>(multiple * last_lines.lines());
    if (std::abs(held - lines) <= tolerance * lines) return multiple;
  }
  return 0;
}

}  // namespace

std::string report_sets_of_last_lines(const CacheUnderTest& cache, const CacheGeometry& geometry) {
  const LineWithinBlock& line = *geometry.within_block;
  CacheUnderTest entered_last = cache;
  entered_last.chase.entered_at_bytes = code_block_bytes - line.bytes;
  CacheProbe probe(entered_last, line.last_lines * geometry.size_bytes(), code_block_bytes,
                   line.contrast);
  SetFindings found = find_sets_in_time(probe);
  if (!found.reason.empty()) return found.reason;
  if (!found.layout.resolved()) return found.layout.reason;
  if (!found.confirmed()) return "sets of the last lines of blocks were found, but not confirmed";
  if (const std::string unequal = explain_unequal_ways(found); !unequal.empty()) return unequal;
  const std::uint64_t multiple = multiple_of_sets(found.layout, geometry);
  if (multiple == 0) {
    return fmt::format(
        "last lines of blocks lie in {} sets that hold {} of them: no such share of all lines of "
        "{} bytes",
        found.layout.ways_per_set.size(), found.layout.lines(), line.bytes);
  }
  PartsOfBlocks parts{.multiple = multiple,
                      .line_bytes = line.bytes,
                      .are_of_one_line = multiple == code_block_bytes / line.bytes};
  if (multiple == 1 && 2 * line.bytes == code_block_bytes)
    parts.index = find_index_of_both_lines(probe, found, line.bytes);
  report_sets_of_parts(probe, found, parts);
  return found.reason;
}

}  // namespace sonde
