// Lines of 128 bytes, and of half and twice as many, of an H200's L1: which of them chases over one
// set bear out.
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
    line = try_line(probe, found.layout, fetch_bytes);
  });
  return line;
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
