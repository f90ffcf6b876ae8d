// The search of jobs/sets with a list of last lines, and what it says of all lines.
#include "jobs/cache/code_sets.hpp"

#include "device/code_blocks.hpp"
#include "jobs/cache/code_index.hpp"
#include "jobs/cache/report.hpp"
#include "jobs/sets/report.hpp"

#include <fmt/format.h>

namespace sonde {
namespace {

/// How many times the sets of last lines make all sets: once, or up to as often as a block has
/// lines, a power of two; 0 if they hold no such share of the cache, or its size allows several.
std::uint64_t multiple_of_sets(const SetLayout& last_lines, const CacheGeometry& geometry) {
  const std::uint64_t line_bytes = geometry.within_block->bytes;
  std::uint64_t allowed = 0;
  for (std::uint64_t multiple = 1; multiple <= code_block_bytes / line_bytes; multiple *= 2) {
    if (!geometry.may_hold(multiple * last_lines.lines() * line_bytes)) continue;
    if (allowed > 0) return 0;
    allowed = multiple;
  }
  return allowed;
}

/// Whether the part before the last line of a block is a line of its own. It is if as many blocks
/// as a set has ways overflow once they are entered there: it lies in the same set. Else blocks
/// that overfill the set are entered at their last line, and one of them before it, too: what lies
/// there is fetched apart, and leaves only if it is in the line that leaves. nullopt with too few
/// blocks of a set, where inner caches answer, or if it leaves now and then.
/// @pre the part is fetched apart
std::optional<bool> is_line_of_its_own(const CacheUnderTest& cache, const SetFindings& found,
                                       std::uint64_t line_bytes) {
  constexpr std::uint64_t passes = 8;
  constexpr double mostly = 0.75;
  const std::size_t ways = found.layout.conflict->ways();
  const Lines blocks = slice(found.layout.members, 0, 2 * ways + 1);
  if (blocks.size() < 2 * ways + 1 || cache.inner) return std::nullopt;
  CacheUnderTest entered_before = cache;
  entered_before.chase.entered_at_bytes = code_block_bytes - 2 * line_bytes;
  CacheProbe probe(entered_before, ways * code_block_bytes, code_block_bytes);
  probe.ask_patiently();
  if (overflows(slice(blocks, 0, ways), ask_behind(probe, {}))) return true;
  std::size_t missing = 0;
  for (std::size_t first = 0; first < passes; ++first) {
    const std::uint64_t block = blocks[first % blocks.size()];
    ChasePlan plan{.warmup_passes = passes, .passes = passes, .evidence = Evidence::of_a_search};
    plan.offsets = {block + code_block_bytes - line_bytes,
                    block + code_block_bytes - 2 * line_bytes};
    for (std::uint64_t other : blocks)
      if (other != block) plan.offsets.push_back(other + code_block_bytes - line_bytes);
    plan.recorded = 2;
    const ChaseLatencies seen = measure_chase(cache, "part before the last line", plan);
    for (std::size_t i = 1; i < seen.cycles.size(); i += 2)
      missing += seen.cycles[i] > cache.threshold_cycles;
  }
  const double share = static_cast<double>(missing) / (passes * passes);
  if (share > 1 - mostly && share < mostly) return std::nullopt;
  return share < mostly;
}

/// Lines that were told by how many blocks stay, and look shorter than they are where a policy
/// loses lines before the cache is full.
void lengthen_line(const CacheUnderTest& cache, const SetFindings& found, LineWithinBlock& line) {
  while (line.bytes < code_block_bytes) {
    if (is_line_of_its_own(cache, found, line.bytes).value_or(true)) return;
    line = {.bytes = 2 * line.bytes, .contrast = 1};
  }
}

}  // namespace

std::string report_sets_of_last_lines(const CacheUnderTest& cache, CacheGeometry& geometry) {
  LineWithinBlock& line = *geometry.within_block;
  CacheUnderTest entered_last = cache;
  entered_last.chase.entered_at_bytes = code_block_bytes - line.bytes;
  entered_last.most_held_bytes *= line.last_lines;
  if (line.last_lines == 1) entered_last.evictors_lead_bytes = code_block_bytes - line.bytes;
  CacheProbe probe(entered_last, line.last_lines * geometry.size_bytes(), code_block_bytes,
                   line.contrast);
  SetFindings found = find_sets_in_time(probe);
  if (!found.reason.empty()) return found.reason;
  if (!found.layout.resolved()) return found.layout.reason;
  if (!found.confirmed()) return "sets of the last lines of blocks were found, but not confirmed";
  if (const std::string unequal = explain_unequal_ways(found); !unequal.empty()) return unequal;
  lengthen_line(cache, found, line);
  const std::uint64_t multiple = multiple_of_sets(found.layout, geometry);
  if (multiple == 0) {
    return fmt::format(
        "last lines of blocks lie in {} sets that hold {} of them: no share of all lines of {} "
        "bytes, or one of several",
        found.layout.ways_per_set.size(), found.layout.lines(), line.bytes);
  }
  take_size_of_sets(found.layout, multiple * line.bytes, geometry);
  PartsOfBlocks parts{.multiple = multiple,
                      .line_bytes = line.bytes,
                      .are_of_one_line = multiple == code_block_bytes / line.bytes};
  if (!parts.are_of_one_line)
    parts.index = find_index_of_all_lines(cache, found, parts, geometry.size_bytes());
  report_sets_of_parts(probe, found, parts);
  return found.reason;
}

}  // namespace sonde
