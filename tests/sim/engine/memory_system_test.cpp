#include "engine_support.hpp"

#include "base/units.hpp"

#include <gmock/gmock.h>

namespace sonde::sim {
namespace {

using testing::Each;
using testing::ElementsAre;

std::vector<std::uint64_t> pages_of_2_mib(std::uint64_t count) {
  // A different line in each page, so that no cache set is overrun.
  std::vector<std::uint64_t> offsets;
  for (std::uint64_t i = 0; i < count; ++i) offsets.push_back(i * 2_MiB + i % 128 * 1024);
  return offsets;
}

TEST(MemorySystemTest, the_page_window_moves_to_where_a_page_walk_goes) {
  const auto model = quiet_json("gtx780");
  const ChaseProbe probe = chase({0, 600_MiB, 604_MiB, 2_MiB}, 0, 4);
  EXPECT_THAT(latencies_on(model, probe), ElementsAre(702, 968, 702, 968));
}

TEST(MemorySystemTest, a_virtual_cache_asks_no_tlb) {
  auto model = quiet_json("gtx980");
  // 20 pages overrun the 16 entries of the first TLB; all lines stay in the L1.
  const ChaseProbe probe = chase(pages_of_2_mib(20), 40, 20);
  EXPECT_THAT(latencies_on(model, probe), Each(82u));
  model["caches"][0]["addressing"] = "physical";
  for (auto& [key, path] : model["paths"].items()) {
    if (path["latency_cycles"].contains("l1")) {
      path["latency_cycles"]["l1"] = path["latency_cycles"]["l2"];
    }
  }
  EXPECT_THAT(latencies_on(model, probe), Each(227u));
}

TEST(MemorySystemTest, the_l1_asks_the_l2_for_whole_lines) {
  const auto model = quiet_json("c2070");
  // The L1 misses at 0 and brings 128 bytes; past it all four 32-byte lines are in the L2.
  ChaseProbe probe = chase({0, 96}, 0, 1);
  probe.lanes = {{0, {0}}, {1, {96}}};
  probe.concurrency = Concurrency::in_turn;
  const Trace trace = open_sim(model)->run(probe);
  EXPECT_EQ(latencies(trace, model, 0).at(0), 1184u);
  EXPECT_EQ(latencies(trace, model, 1).at(0), 350u);
}

TEST(MemorySystemTest, lanes_together_disturb_each_other_and_in_turn_do_not) {
  auto model = quiet_json("gtx980");
  model["caches"][0]["scope"] = "gpc";
  const auto device = open_sim(model);
  const std::uint64_t lines = 600;  // of 768 in the L1
  ChaseProbe probe = chase(steps(2 * lines, 32), lines, lines);
  probe.lanes = {{0, steps(lines, 32)}, {4, steps(2 * lines, 32)}};
  probe.lanes[1].offsets_bytes.erase(probe.lanes[1].offsets_bytes.begin(),
                                     probe.lanes[1].offsets_bytes.begin() + lines);
  EXPECT_THAT(latencies(device->run(probe), model), Each(testing::Ge(216u)));
  probe.concurrency = Concurrency::in_turn;
  EXPECT_THAT(latencies(device->run(probe), model), Each(82u));
}

TEST(MemorySystemTest, a_prefetch_runs_ahead_of_a_first_sequential_chase) {
  const auto model = quiet_json("gtx780");
  const auto cycles = latencies_on(model, chase(steps(12000, 128), 0, 12000));
  EXPECT_EQ(cycles[0], 702u);
  EXPECT_EQ(count_at_least({cycles.begin(), cycles.begin() + 8192}, 339), 1u) << "within 1 MiB";
  EXPECT_EQ(cycles[8192], 339u) << "behind it";
  const auto far = latencies_on(model, chase(steps(8, 128 << 10), 0, 8));
  EXPECT_EQ(count_at_least(far, 339), 8u) << "steps are too long";
}

/// Latencies of one late pass over so many MiB, from SM 0, past the L1.
std::vector<std::uint32_t> late_pass(const nlohmann::json& model, std::uint64_t size_mib) {
  const std::uint64_t lines = size_mib * 1_MiB / 128;
  ChaseProbe probe = chase(steps(lines, 128), 2 * lines, 100000, LoadPath::past_l1);
  return latencies_on(model, probe);
}

TEST(MemorySystemTest, one_sm_sees_half_of_a_replicating_l2_near_and_the_rest_far) {
  auto model = quiet_json("h200");
  equalise_distances(model);
  EXPECT_THAT(late_pass(model, 30), Each(279u));
  const auto beyond_half = late_pass(model, 32);
  EXPECT_GT(count_at_least(beyond_half, 455), 90000u) << "no near hit is left";
  EXPECT_NEAR(static_cast<double>(count_at_least(late_pass(model, 60), 539)), 50000, 1000)
      << "the lines of the near partition are lost, those of the far one still hit";
  EXPECT_EQ(count_at_least(late_pass(model, 64), 539), 100000u);
}

/// Latencies of `offsets` after they were loaded and `stored` was stored to.
std::vector<std::uint32_t> after_stores(const nlohmann::json& model,
                                        const std::vector<std::uint64_t>& offsets,
                                        const std::vector<std::uint64_t>& stored, LoadPath path) {
  ChaseProbe probe = chase(offsets, offsets.size(), offsets.size(), path);
  probe.buffer_bytes = 1_MiB;
  probe.lanes[0].stored_offsets_bytes = stored;
  return latencies_on(model, probe);
}

TEST(MemorySystemTest, stores_follow_the_write_policies_of_the_shipped_models) {
  EXPECT_THAT(after_stores(quiet_json("c2070"), {0, 4096}, {8}, LoadPath::all_levels),
              ElementsAre(350, 80))
      << "Fermi: the line leaves the L1 and is in the L2";
  EXPECT_THAT(after_stores(quiet_json("gtx980"), {0, 4096}, {0}, LoadPath::all_levels), Each(82u));
  EXPECT_THAT(after_stores(quiet_json("gtx780"), {0, 4096}, {0}, LoadPath::read_only), Each(110u));
}

TEST(MemorySystemTest, a_store_is_translated_like_a_load) {
  const auto model = quiet_json("gtx280");
  ChaseProbe probe = chase({0}, 0, 1);
  EXPECT_THAT(latencies_on(model, probe), ElementsAre(698));
  probe.lanes[0].stored_offsets_bytes = {0};
  EXPECT_THAT(latencies_on(model, probe), ElementsAre(440));
}

TEST(MemorySystemTest, stores_of_lanes_together_take_turns_and_leave_other_l1s_alone) {
  const auto model = quiet_json("c2070");
  ChaseProbe probe = chase({0}, 1, 1);
  probe.lanes.push_back({1, {0}});
  probe.lanes[0].stored_offsets_bytes = {0};
  const Trace trace = open_sim(model)->run(probe);
  EXPECT_THAT(latencies(trace, model, 0), ElementsAre(350));
  EXPECT_THAT(latencies(trace, model, 1), ElementsAre(80));
}

TEST(MemorySystemTest, every_probe_finds_the_caches_without_its_lines) {
  const auto model = quiet_json("gtx980");
  const auto device = open_sim(model);
  ChaseProbe probe = chase({0}, 0, 2);
  probe.preparation = Preparation::as_is;
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT(latencies(device->run(probe), model), ElementsAre(2439, 82));
  }
}

}  // namespace
}  // namespace sonde::sim
