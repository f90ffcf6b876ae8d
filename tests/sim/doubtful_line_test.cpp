// Blocks of 128 bytes that footprints left in doubt, on H200s whose L1 has such lines or shorter
// ones.
#include "jobs/cache/doubtful_line.hpp"

#include "base/units.hpp"
#include "jobs/cache/cache_probe.hpp"
#include "jobs/cache/report.hpp"
#include "sim/job_on_sim.hpp"
#include "sim/shipped_json.hpp"

#include <fmt/format.h>

namespace sonde::test {
namespace {

using nlohmann::json;

/// Lines of half the length, in sets of twice as many ways; or of twice the length, in half as many
/// sets.
enum class Lines { short_in_more_ways, long_in_fewer_sets };

std::string write_h200(Lines lines) {
  json model = json_of("h200");
  json& l1 = model["caches"][0];
  const bool is_long = lines == Lines::long_in_fewer_sets;
  l1["line_bytes"] = is_long ? 256 : 64;
  for (json& geometry : l1["by_carveout"]) {
    if (geometry.contains("data_lines")) {
      const auto data_lines = geometry["data_lines"].get<std::uint64_t>();
      geometry["data_lines"] = is_long ? data_lines / 2 : 2 * data_lines;
    }
    if (!is_long) geometry["ways"] = 8;
    if (is_long) geometry["sets"] = 256;
  }
  if (is_long) l1["index"]["masks"].erase(0);  // the one with the lowest bit of lines of 128 bytes
  return write_model(model, fmt::format("other_lines_{}", static_cast<int>(lines)));
}

/// Of which 128 bytes have a contrast of a half.
CacheGeometry doubtful_geometry(std::uint64_t fitting_bytes) {
  return {.bound = {fitting_bytes, fitting_bytes + 128},
          .line_bytes = 128,
          .fetch = {.bytes = 32, .agreement = 1, .observations = 16},
          .line_contrast = 0.5};
}

CacheUnderTest first_cache_of(JobRun& run) {
  CacheUnderTest cache{
      .run = run,
      .name = "cache.l1",
      .chase = set_up_chase(run, LoadPath::all_levels, RecordSpace::with_largest_l1)};
  cache.threshold_cycles = 150;  // hits take 40 cycles, misses 280
  cache.limit_bytes = 1_MiB;
  cache.seed = 1;
  return cache;
}

CacheGeometry settle(const std::string& model) {
  JobOnSim sim(model);
  static CacheGeometry geometry;
  geometry = doubtful_geometry(224_KiB);
  sim.run_part("cache.l1",
               [](JobRun& run) { settle_doubtful_line(first_cache_of(run), geometry); });
  return geometry;
}

TEST(DoubtfulLineTest, sets_of_lines_prove_them_though_data_do_not_fill_all_sets) {
  const CacheGeometry geometry = settle("h200");
  EXPECT_EQ(geometry.line_bytes, 128u);
  EXPECT_EQ(geometry.line_confidence(), 1);
}

TEST(DoubtfulLineTest, two_lines_of_one_block_are_not_proven_as_one) {
  const CacheGeometry geometry = settle(write_h200(Lines::short_in_more_ways));
  EXPECT_TRUE(geometry.line_bytes == 64 || geometry.line_confidence() <= 0.5)
      << geometry.line_bytes << " with confidence " << geometry.line_confidence();
}

TEST(DoubtfulLineTest, halves_of_a_line_are_not_proven_as_lines) {
  EXPECT_LE(settle(write_h200(Lines::long_in_fewer_sets)).line_confidence(), 0.5);
}

TEST(DoubtfulLineTest, sets_that_are_left_open_prove_no_line) {
  JobOnSim sim("h200");
  static const auto is_proven = [](JobRun& run, std::uint64_t fitting_bytes) {
    const CacheUnderTest cache = first_cache_of(run);
    CacheGeometry geometry = doubtful_geometry(fitting_bytes);
    CacheProbe probe(cache, fitting_bytes, geometry.line_bytes);
    characterize_sets_of_lines(cache, probe, geometry);
    return geometry.line_proven;
  };
  sim.run_part("cache.l1", [](JobRun& run) {
    EXPECT_TRUE(is_proven(run, 248_KiB));
    EXPECT_FALSE(is_proven(run, 264_KiB)) << "sets of 256 KiB lack lines";
  });
}

}  // namespace
}  // namespace sonde::test
