// Jobs `cache.texture_l1` and `cache.texture_l2`: the caches of texture fetches.
// Method: docs/methods/cache-levels.md.
#include "analysis/structure/capacity/miss_blocks.hpp"
#include "base/units.hpp"
#include "jobs/cache/path_levels.hpp"
#include "jobs/run/attempt.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sonde {
namespace {

// Eight times the largest known second-level texture cache (GT200: 256 KB, Wong 2010).
constexpr std::uint64_t largest_footprint_bytes = 2_MiB;
constexpr std::uint64_t texel_bytes = 8;

CachePath texture_path() {
  return {.path = LoadPath::texture_1d,
          .record_space = RecordSpace::with_largest_l1,
          .caches = {"cache.texture_l1", "cache.texture_l2"},
          .survey_bytes = largest_footprint_bytes};
}

/// Misses of a first access to a square of texels, in descending order so that no prefetcher along
/// the rows helps. A row is much smaller than any cache: what a miss brings is still cached when
/// the next row is accessed.
TexelMisses chase_texels(JobRun& run, const PathSurvey& survey) {
  TexelMisses square{.rows = 32, .columns = 32, .missed = {}};
  ChasePlan plan{
      .offsets = {}, .warmup_passes = 0, .passes = 3, .preparation = Preparation::flushed};
  for (std::size_t row = 0; row < square.rows; ++row) {
    for (std::size_t column = 0; column < square.columns; ++column) {
      plan.offsets.push_back(row * texture_row_bytes + column * texel_bytes);
    }
  }
  std::reverse(plan.offsets.begin(), plan.offsets.end());
  ChaseSetup setup = survey.chase;
  setup.path = LoadPath::texture_2d;
  setup.buffer_bytes = square.rows * texture_row_bytes;
  const ChaseLatencies chase = measure_chase(run, setup, "cache.texture_l1 tiles", plan);
  square.missed =
      positions_above(chase, threshold_between(survey.caches.front(), survey.misses_of(0)), 2);
  std::reverse(square.missed.begin(), square.missed.end());
  return square;
}

/// Reports nothing if no texture cache was seen.
void report_tile(JobRun& run, const PathSurvey& survey) {
  if (survey.caches.empty()) return;
  std::optional<TexelBlock> block;
  const auto refusal = refusal_of([&] { block = find_texel_block(chase_texels(run, survey)); });
  if (!block) {
    return run.leave_open(
        "cache.texture_l1.tile_",
        refusal.value_or("first misses in a square of texels do not divide it into rectangles"));
  }
  const std::uint64_t row_bytes = block->columns * texel_bytes;
  run.report(found("cache.texture_l1.tile_bytes", static_cast<double>(block->rows * row_bytes),
                   block->agreement, block->observations),
             fmt::format("rows of {} B, {} of them", row_bytes, block->rows));
  run.report(found("cache.texture_l1.tile_rows", static_cast<double>(block->rows), block->agreement,
                   block->observations));
}

}  // namespace

void run_cache_texture_l1(JobRun& run) {
  const CachePath path = texture_path();
  const PathSurvey survey = survey_path(run, path);
  report_tile(run, survey);
  characterize_level(run, path, survey, 0);
}

void run_cache_texture_l2(JobRun& run) {
  const CachePath path = texture_path();
  characterize_level(run, path, survey_path(run, path), 1);
}

}  // namespace sonde
