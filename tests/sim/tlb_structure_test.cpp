// TLBs that no shipped model has: an H200 whose second level hashes addresses of a buffer that is
// not aligned, as on the real one; policies that wait for a hit; noise.
#include "sim/job_on_sim.hpp"
#include "sim/shipped_json.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace sonde::test {
namespace {

using nlohmann::json;

/// A small H200: fewer SMs, and smaller chases for the same levels.
json small_h200(const json& second_level = json::object()) {
  json model = json_of("h200");
  model["chip"].update(
      {{"gpcs", 2}, {"tpcs_per_gpc", 4}, {"min_tpcs_per_gpc", 4}, {"enabled_tpcs", 8}});
  model["device"]["memory_bytes"] = "20 GiB";
  model["caches"][1].erase("tpc_cycles");
  model["pages"]["tlbs"][0]["scope"] = "tpc";
  model["pages"]["tlbs"][1].update(second_level);
  return model;
}

constexpr std::uint32_t sets = 32;

/// XORs of bits of an entry's number.
json hash_of_entries() {
  constexpr int entry_bits = 25;  // 32 MiB
  json masks = json::array();
  for (const std::uint64_t mask : {0x221, 0x062, 0x084, 0x148, 0x0B0})
    masks.push_back(fmt::format("{:#x}", mask << entry_bits));
  return {{"kind", "xor_masks"}, {"masks", masks}};
}

/// 20 GiB do not begin at a multiple of what the masks look at, and show one of their bits, 34, in
/// a part of the lines alone.
TEST(TlbStructureTest, sees_through_a_hash_wherever_the_buffer_begins) {
  const std::string path = write_model(
      small_h200({{"sets", sets}, {"ways", 8}, {"index", hash_of_entries()}}), "hashed");
  for (std::uint64_t seed : {1, 2}) {
    JobOnSim sim(path, seed, {"tlb"});

    EXPECT_EQ(sim.number("tlb.l2.sets"), sets) << seed;
    EXPECT_EQ(sim.vector("tlb.l2.ways_per_set"), std::vector<double>(sets, 8)) << seed;
    EXPECT_EQ(sim.number("tlb.l2.entries"), 8 * sets) << seed;
    EXPECT_EQ(sim.text("tlb.l2.index_function"),
              "bits 25^30^34, 26^30^31, 27^32, 28^31^33, 29^30^32")
        << seed;
    EXPECT_EQ(sim.text("tlb.l2.replacement"), "LRU") << seed;
    EXPECT_EQ(sim.text("tlb.l1.scope"), "tpc") << seed;
    EXPECT_EQ(sim.text("tlb.l2.scope"), "gpc") << seed;
  }
}

/// These differ in what a line is that nobody has hit yet: a second access to each would hide it.
TEST(TlbStructureTest, tells_policies_that_wait_for_a_hit) {
  json model = small_h200();
  json& replacement = model["pages"]["tlbs"][0]["replacement"];
  replacement = "nru";
  JobOnSim nru(write_model(model, "nru_first"), {"tlb"});
  replacement = "srrip";
  JobOnSim srrip(write_model(model, "srrip_first"), {"tlb"});

  EXPECT_EQ(nru.text("tlb.l1.replacement"), "NRU");
  EXPECT_EQ(srrip.find("tlb.l1.replacement").status, Status::not_resolvable);
  EXPECT_EQ(srrip.find("tlb.l1.replacement").reason.substr(0, 20), "SRRIP, set duelling ");
}

/// A miss of the first level costs ten cycles; an access scatters by half as much.
TEST(TlbStructureTest, finds_entries_whose_misses_are_hardly_more_than_the_noise) {
  json model = small_h200();
  for (json& cache : model["caches"]) {
    if (cache["name"] == "l2") cache["jitter_cycles"] = 5;
  }
  const std::string path = write_model(model, "noisy_first_level");
  for (const std::uint64_t seed : {5, 6}) {
    JobOnSim sim(path, seed, {"tlb"});

    EXPECT_EQ(sim.number("tlb.l1.entry_bytes"), 16 << 20) << seed;
    EXPECT_EQ(sim.number("tlb.l1.entries"), 16) << seed;
    EXPECT_EQ(sim.number("tlb.l1.sets"), 1) << seed;
  }
}

}  // namespace
}  // namespace sonde::test
