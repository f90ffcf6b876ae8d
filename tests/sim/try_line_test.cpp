// Lines of 128 bytes, and of half and twice as many, of an H200's L1, and lines of a texture L2
// behind an L1: which of them chases over one set bear out.
#include "jobs/cache/try_line.hpp"

#include "base/units.hpp"
#include "jobs/cache/cache_probe.hpp"
#include "jobs/sets/search.hpp"
#include "sim/job_on_sim.hpp"
#include "sim/shipped_json.hpp"

#include <fmt/format.h>

namespace sonde::test {
namespace {

using nlohmann::json;

/// An H200 whose L1 has the same size, in other lines.
std::string write_h200(std::uint64_t line_bytes) {
  json model = json_of("h200");
  json& l1 = model["caches"][0];
  l1["line_bytes"] = line_bytes;
  for (json& geometry : l1["by_carveout"]) {
    if (geometry.contains("data_lines"))
      geometry["data_lines"] = geometry["data_lines"].get<std::uint64_t>() * 128 / line_bytes;
  }
  if (line_bytes < 128) l1["ways"] = 8;
  if (line_bytes > 128) l1["sets"] = 256;
  if (line_bytes > 128) l1["index"]["masks"].erase(0);  // of the lowest bit of lines of 128 bytes
  return write_model(model, fmt::format("lines_of_{}", line_bytes));
}

/// Sets are found with lines of 128 bytes, whatever the lines are.
Predictions try_128_bytes(const std::string& model) {
  static Predictions line;
  line = {};
  JobOnSim(model).run_part("cache.l1", [](JobRun& run) {
    CacheUnderTest cache{
        .run = run,
        .name = "cache.l1",
        .chase = set_up_chase(run, LoadPath::all_levels, RecordSpace::with_largest_l1)};
    cache.threshold_cycles = 150;  // hits take 40 cycles, misses 280
    cache.limit_bytes = 1_MiB;
    cache.seed = 1;
    CacheProbe probe(cache, 224_KiB, 128);
    const SetFindings found = find_sets(probe);
    constexpr std::uint64_t fetch_bytes = 32;
    line = try_line(probe, found, fetch_bytes);
  });
  return line;
}

/// The second texture cache of a GTX 280, whose lines have 256 bytes, searched with other ones.
Predictions try_behind_another(std::uint64_t line_bytes) {
  static std::uint64_t tried_bytes;
  static Predictions line;
  tried_bytes = line_bytes;
  line = {};
  JobOnSim("gtx280").run_part("cache.texture_l2", [](JobRun& run) {
    CacheUnderTest cache{
        .run = run,
        .name = "cache.texture_l2",
        .chase = set_up_chase(run, LoadPath::texture_1d, RecordSpace::with_largest_l1)};
    cache.threshold_cycles = 433;  // hits take 370 cycles, misses 497
    cache.limit_bytes = 2_MiB;
    cache.seed = 1;
    cache.inner = InnerCaches{.size_bytes = 5_KiB, .line_bytes = 32, .threshold_cycles = 315};
    CacheProbe probe(cache, 256_KiB, tried_bytes);
    constexpr std::uint64_t fetch_bytes = 256;
    line = try_line(probe, find_sets(probe), fetch_bytes);
  });
  return line;
}

TEST(TryLineTest, lines_behind_another_cache_are_told_from_two) {
  EXPECT_TRUE(try_behind_another(256).bear_out());
  const Predictions two = try_behind_another(512);
  EXPECT_GT(two.asked, 0u);
  EXPECT_FALSE(two.bear_out());
}

TEST(TryLineTest, lines_are_borne_out_though_data_do_not_fill_all_sets) {
  const Predictions line = try_128_bytes("h200");
  EXPECT_EQ(line.asked, 36u);
  EXPECT_EQ(line.right, 36u);
}

TEST(TryLineTest, two_lines_are_not_taken_for_one) {
  const Predictions line = try_128_bytes(write_h200(64));
  EXPECT_GT(line.asked, 0u);
  EXPECT_FALSE(line.bear_out());
}

TEST(TryLineTest, halves_of_a_line_are_not_taken_for_lines) {
  const Predictions line = try_128_bytes(write_h200(256));
  EXPECT_GT(line.asked, 0u);
  EXPECT_FALSE(line.bear_out());
}

}  // namespace
}  // namespace sonde::test
