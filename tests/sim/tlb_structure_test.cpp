// TLBs that no shipped model has: an H200 whose second level hashes addresses of a buffer that is
// not aligned, as on the real one, and one that replaces in the order of filling.
#include "device/sim/model/model_files.hpp"
#include "sim/job_on_sim.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>

namespace sonde::test {
namespace {

using nlohmann::json;

json shipped(std::string_view name) {
  const auto models = sim::shipped_models();
  const auto found = std::find_if(models.begin(), models.end(),
                                  [&](const auto& model) { return model.name == name; });
  return json::parse(found->json);
}

/// A file with the model of a small H200: fewer SMs, and smaller chases for the same levels.
std::string write_model(const std::string& name, const json& second_level) {
  json model = shipped("h200");
  model["chip"]["gpcs"] = 2;
  model["chip"]["tpcs_per_gpc"] = 4;
  model["chip"]["min_tpcs_per_gpc"] = 4;
  model["chip"]["enabled_tpcs"] = 8;
  model["device"]["memory_bytes"] = "20 GiB";
  model["caches"][1].erase("tpc_cycles");
  model["pages"]["tlbs"][0]["scope"] = "tpc";
  for (const auto& [key, value] : second_level.items()) model["pages"]["tlbs"][1][key] = value;
  const std::string path = testing::TempDir() + name + ".json";
  std::ofstream(path) << model;
  return path;
}

constexpr std::uint32_t sets = 32;
constexpr std::uint64_t walked_entries = 1024;

/// The set of each entry of a buffer that starts `first_entry` entries behind an aligned address.
std::vector<std::uint32_t> hashed_table(std::uint64_t first_entry) {
  const std::array<std::uint64_t, 5> masks{0x121, 0x062, 0x084, 0x148, 0x0B0};
  std::vector<std::uint32_t> table(walked_entries);
  for (std::uint64_t entry = 0; entry < table.size(); ++entry) {
    for (std::size_t bit = 0; bit < masks.size(); ++bit) {
      const int parity = __builtin_parityll((entry + first_entry) & masks[bit]);
      table[entry] |= static_cast<std::uint32_t>(parity) << bit;
    }
  }
  return table;
}

json second_level(const json& index, std::string_view replacement) {
  return {{"sets", sets}, {"ways", 8}, {"index", index}, {"replacement", replacement}};
}

json table_index(const std::vector<std::uint32_t>& table) {
  return {{"kind", "table"}, {"granularity_bytes", "32 MiB"}, {"table", table}};
}

TEST(TlbStructureTest, sees_through_a_hash_of_addresses_that_do_not_start_at_zero) {
  for (std::uint64_t first_entry : {77, 150, 421}) {
    JobOnSim sim(
        write_model("hashed", second_level(table_index(hashed_table(first_entry)), "lru")));

    sim.run("tlb");

    EXPECT_EQ(sim.number("tlb.l2.sets"), sets) << first_entry;
    EXPECT_EQ(sim.vector("tlb.l2.ways_per_set"), std::vector<double>(sets, 8)) << first_entry;
    EXPECT_EQ(sim.number("tlb.l2.entries"), 8 * sets) << first_entry;
    EXPECT_EQ(sim.status("tlb.l2.index_function"), Status::ok) << first_entry;
    EXPECT_NE(sim.find("tlb.l2.index_function").reason.find("starts at"), std::string::npos);
    EXPECT_EQ(sim.text("tlb.l2.replacement"), "LRU") << first_entry;
    EXPECT_EQ(sim.text("tlb.l1.scope"), "tpc") << first_entry;
    EXPECT_EQ(sim.text("tlb.l2.scope"), "gpc") << first_entry;
  }
}

/// These differ in what a line is that nobody has hit yet: a second access to each would hide it.
TEST(TlbStructureTest, tells_policies_that_wait_for_a_hit) {
  const std::pair<const char*, const char*> policies[] = {{"srrip", "SRRIP"}, {"nru", "NRU"}};
  for (const auto& [declared, wanted] : policies) {
    json model = json::parse(std::ifstream(write_model(declared, json::object())));
    model["pages"]["tlbs"][0]["replacement"] = declared;
    const std::string path = testing::TempDir() + declared + "_first.json";
    std::ofstream(path) << model;
    JobOnSim sim(path);

    sim.run("tlb");

    EXPECT_EQ(sim.text("tlb.l1.replacement"), wanted) << sim.find("tlb.l1.replacement").reason;
  }
}

TEST(TlbStructureTest, tells_the_order_of_filling_from_that_of_use) {
  const json field{{"kind", "bit_field"}, {"low_bit", 25}, {"bits", 5}};
  JobOnSim sim(write_model("fifo", second_level(field, "fifo")));

  sim.run("tlb");

  EXPECT_EQ(sim.text("tlb.l2.index_function"), "bits 25-29");
  EXPECT_EQ(sim.text("tlb.l2.replacement"), "FIFO");
  EXPECT_EQ(sim.text("tlb.l1.replacement"), "LRU");
}

}  // namespace
}  // namespace sonde::test
