// Lines of code caches that are shorter than the blocks which chases execute: a block is entered at
// several places, so that what one miss brings and what leaves with a line can be seen.
#include "base/random.hpp"
#include "sim/job_on_sim.hpp"
#include "sim/shipped_json.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <bit>
#include <cstdlib>

namespace sonde::test {
namespace {

using nlohmann::json;

struct CodeCache {
  std::uint64_t line_bytes = 0;
  std::uint64_t fetch_bytes = 0;
  std::uint32_t sets = 0;
  std::uint32_t ways = 0;
  bool is_folded = false;     // each bit of the set is XORed with one above all of them
  bool is_remainder = false;  // of the line's number
};

/// 4 to 24 KiB, so that the L1 of code behind it is far larger.
CodeCache draw_cache(Random& random) {
  constexpr std::uint64_t shortest_bytes = 32;
  CodeCache cache;
  const std::uint64_t line_log2 = random.below(3);
  cache.line_bytes = shortest_bytes << line_log2;
  cache.fetch_bytes = shortest_bytes << random.below(line_log2 + 1);
  cache.sets =
      static_cast<std::uint32_t>((std::uint64_t{4} << random.below(3)) * 128 / cache.line_bytes);
  const std::uint64_t wanted_bytes = 4096 + random.below(20 * 1024);
  cache.ways = static_cast<std::uint32_t>(
      std::max<std::uint64_t>(2, wanted_bytes / cache.line_bytes / cache.sets));
  return cache;
}

json write_index(const CodeCache& cache) {
  if (cache.is_remainder) return {{"kind", "modulo"}, {"granularity_bytes", cache.line_bytes}};
  const int low_bit = std::countr_zero(cache.line_bytes);
  const int bits = std::countr_zero(cache.sets);
  if (!cache.is_folded) return {{"kind", "bit_field"}, {"low_bit", low_bit}, {"bits", bits}};
  json masks = json::array();
  for (int bit = low_bit; bit < low_bit + bits; ++bit) {
    masks.push_back(
        fmt::format("{:#x}", (std::uint64_t{1} << bit) | (std::uint64_t{1} << (bit + bits))));
  }
  return {{"kind", "xor_masks"}, {"masks", masks}};
}

std::string write_code_cache(const CodeCache& cache, std::uint64_t seed) {
  json model = json_of("h200");
  for (json& declared : model["caches"]) {
    if (declared["name"] != "instruction_l0") continue;
    declared["line_bytes"] = cache.line_bytes;
    declared["sector_bytes"] = cache.fetch_bytes;
    declared["fetch_bytes"] = cache.fetch_bytes;
    declared["sets"] = cache.sets;
    declared["ways"] = cache.ways;
    declared["index"] = write_index(cache);
    declared["replacement"] = "lru";
  }
  return write_model(model, fmt::format("code_lines_{}", seed));
}

/// What sonde finds of the cache.
JobOnSim measure(const CodeCache& cache, std::uint64_t seed) {
  JobOnSim sim(write_code_cache(cache, seed), seed);
  sim.assume("cache.l2.size_bytes", 60e6);
  sim.assume("cache.l2.hit_latency_cycles", 266.0);
  sim.run("cache.instruction");
  return sim;
}

void expect_lines(const CodeCache& cache, std::uint64_t seed) {
  const JobOnSim sim = measure(cache, seed);
  const std::string text = fmt::format("seed {}: {} sets of {} x {} B, fetch {}", seed, cache.sets,
                                       cache.ways, cache.line_bytes, cache.fetch_bytes);
  EXPECT_EQ(sim.number("cache.instruction_l0.line_bytes"), cache.line_bytes) << text;
  EXPECT_EQ(sim.number("cache.instruction_l0.fetch_bytes"), cache.fetch_bytes) << text;
}

/// `all` in ./bootstrap.sh soak, which sets SONDE_ALL_SEEDS.
std::uint64_t few_or_all(std::uint64_t few, std::uint64_t all) {
  return std::getenv("SONDE_ALL_SEEDS") != nullptr ? all : few;
}

/// By bits of the address each line of a block has sets of its own; folded, the last lines of
/// blocks may lie in any set, as many of them as the cache has lines.
TEST(CodeLinesTest, within_a_block_come_back_with_what_a_miss_brings) {
  for (const bool is_folded : {false, true}) {
    const std::uint64_t first = is_folded ? 11 : 1;
    std::size_t within = 0;
    for (std::uint64_t seed = first; seed < first + few_or_all(2, 4); ++seed) {
      Random random(seed);
      CodeCache cache = draw_cache(random);
      cache.is_folded = is_folded;
      expect_lines(cache, seed);
      if (cache.line_bytes < 128) ++within;
    }
    EXPECT_GE(within, 1u);
  }
}

/// Of an odd number of sets the last lines of blocks lie in all, of twice as many in half of them.
TEST(CodeLinesTest, within_a_block_come_back_where_the_index_is_a_remainder) {
  for (std::uint32_t multiple : {1u, 2u}) {
    const std::uint64_t seed = 40 + multiple;
    Random random(seed);
    expect_lines({.line_bytes = 32,
                  .fetch_bytes = 32,
                  .sets = multiple * static_cast<std::uint32_t>(17 + 2 * random.below(8)),
                  .ways = static_cast<std::uint32_t>(4 + random.below(5)),
                  .is_remainder = true},
                 seed);
  }
}

/// Sets of one way, folded: half of the cache's lines already push each other out, so that no
/// footprint tells a line from a part of it.
TEST(CodeLinesTest, come_back_where_no_footprint_is_sharp) {
  for (std::uint64_t seed = 21; seed <= few_or_all(21, 23); ++seed) {
    Random random(seed);
    CodeCache cache = draw_cache(random);
    cache.is_folded = true;
    cache.ways = 1;
    cache.sets =
        static_cast<std::uint32_t>((std::uint64_t{8192} << random.below(2)) / cache.line_bytes);
    EXPECT_EQ(measure(cache, seed).number("cache.instruction_l0.line_bytes"), cache.line_bytes)
        << seed;
  }
}

}  // namespace
}  // namespace sonde::test
