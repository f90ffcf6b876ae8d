#include "engine_support.hpp"

#include "device/backends/open_device.hpp"

#include <gmock/gmock.h>

#include <map>
#include <numeric>
#include <set>

namespace sonde::sim {
namespace {

std::unique_ptr<Device> open_rank(const std::string& models, int rank, std::uint64_t seed) {
  const BackendChoice backend = parse_backend("sim:" + models);
  return open_device(backend, list_visible_devices(backend, rank, seed).at(0), seed);
}

TEST(SimDeviceTest, the_same_seed_gives_the_same_traces_and_launches_and_dice_differ) {
  const ChaseProbe probe = chase(steps(2000, 128), 100, 2000, LoadPath::past_l1);
  const auto device = open_rank("h200", 0, 9);
  const auto same = open_rank("h200", 0, 9);
  const auto windows = device->run(probe).lanes[0].window_cycles;
  EXPECT_EQ(same->run(probe).lanes[0].window_cycles, windows);
  const auto second = device->run(probe).lanes[0].window_cycles;
  EXPECT_NE(second, windows);
  EXPECT_EQ(same->run(probe).lanes[0].window_cycles, second);
  EXPECT_NE(open_rank("h200", 1, 9)->run(probe).lanes[0].window_cycles, windows);
  EXPECT_NE(open_rank("h200", 0, 8)->run(probe).lanes[0].window_cycles, windows);
}

TEST(SimDeviceTest, a_job_finds_the_device_as_if_it_were_the_first) {
  for (const char* model : {"gtx980", "gtx780", "c2070", "h200"}) {
    const auto used = open_rank(model, 0, 9);
    const auto fresh = open_rank(model, 0, 9);
    for (int launch = 0; launch < 3; ++launch) {
      used->run(chase(steps(3000, 32), 100, 5000, LoadPath::all_levels));
    }

    used->begin_job();
    fresh->begin_job();

    for (int launch = 0; launch < 3; ++launch) {
      const ChaseProbe probe = chase(steps(2000, 32), 100, 5000, LoadPath::all_levels);
      EXPECT_EQ(used->run(probe).lanes[0].window_cycles, fresh->run(probe).lanes[0].window_cycles)
          << model;
    }
  }
}

TEST(SimDeviceTest, a_second_measurement_meets_other_noise_the_same_each_time) {
  const ChaseProbe probe = chase(steps(2000, 128), 100, 2000, LoadPath::past_l1);
  const auto windows_of_draw = [&](int draw) {
    const auto device = open_rank("h200", 0, 9);
    for (int i = 0; i < draw; ++i) device->draw_anew();
    device->begin_job();
    return device->run(probe).lanes[0].window_cycles;
  };

  EXPECT_NE(windows_of_draw(1), windows_of_draw(0));
  EXPECT_EQ(windows_of_draw(1), windows_of_draw(1));
}

TEST(SimDeviceTest, every_rank_has_its_own_die) {
  std::set<std::string> uuids, serials;
  for (int rank = 0; rank < 16; ++rank) {
    const auto device = open_rank("h200", rank, 1);
    uuids.insert(device->info().uuid);
    serials.insert(device->info().serial);
    EXPECT_EQ(device->info().sm_count, 132);
  }
  EXPECT_EQ(uuids.size(), 16u);
  EXPECT_EQ(serials.size(), 16u);
}

TEST(SimDeviceTest, windows_hold_the_overhead_and_end_at_two_bytes) {
  auto model = quiet_json("gtx980");
  model["paths"]["cg"]["latency_cycles"]["dram"] = 100000;
  const Trace trace = open_sim(model)->run(chase({0}, 0, 2, LoadPath::past_l1));
  EXPECT_EQ(trace.lanes[0].window_cycles, (std::vector<std::uint32_t>{65535, 214 + 16}));
}

TEST(SimDeviceTest, only_long_chases_keep_a_histogram) {
  const auto device = open_sim(quiet_json("gtx980"));
  ChaseProbe probe = chase({0}, 1, 100);
  EXPECT_TRUE(device->run(probe).lanes[0].histogram.empty());

  probe.recorded_accesses = 10;
  const LaneTrace lane = device->run(probe).lanes[0];

  ASSERT_EQ(lane.histogram.size(), 1u);
  EXPECT_EQ(lane.histogram[0].window_cycles, 82u + 16);
  EXPECT_EQ(lane.histogram[0].accesses, 100u);
  EXPECT_EQ(lane.window_cycles.size(), 10u);
  EXPECT_EQ(lane.elapsed_cycles, 100u * (82 + 16));
}

TEST(SimDeviceTest, an_amortised_chase_sums_latencies) {
  ChaseProbe probe = chase({0}, 1, 0);
  probe.amortised_accesses = 1000;
  const LaneTrace lane = open_sim(quiet_json("gtx980"))->run(probe).lanes[0];
  EXPECT_EQ(lane.elapsed_cycles, 82000u);
  EXPECT_EQ(lane.accesses, 1000u);
  EXPECT_TRUE(lane.window_cycles.empty());
}

TEST(SimDeviceTest, outliers_come_as_often_as_declared) {
  auto model = quiet_json("gtx980");
  model["noise"]["outlier_probability"] = 0.01;
  ChaseProbe probe = chase({0}, 1, 100000);
  probe.recorded_accesses = 1;
  const LaneTrace lane = open_sim(model)->run(probe).lanes[0];
  ASSERT_FALSE(lane.histogram.empty());
  EXPECT_EQ(lane.histogram[0].window_cycles, 82u + 16);
  EXPECT_NEAR(static_cast<double>(lane.histogram[0].accesses), 99000, 200);
}

TEST(SimDeviceTest, a_coarse_clock_reads_even_numbers) {
  auto model = quiet_json("gtx280");
  model["clock"]["empty_window_cycles"] = 27;
  const Trace trace = open_sim(model)->run(ClockProbe{ClockWindow::empty, {0}, 200});
  std::map<std::uint32_t, int> seen;
  for (std::uint32_t window : trace.lanes[0].window_cycles) ++seen[window];
  EXPECT_EQ(seen.size(), 2u);
  EXPECT_GT(seen[26], 50);
  EXPECT_GT(seen[28], 50);
}

std::set<std::set<int>> clusters_of(Device& device, const ClusterProbe& probe) {
  std::map<int, std::set<int>> sms;
  for (const LaneTrace& lane : device.run(probe).lanes) sms[lane.cluster].insert(lane.sm);
  std::set<std::set<int>> clusters;
  for (const auto& [number, members] : sms) clusters.insert(members);
  return clusters;
}

/// As a real H200: its pairs are its TPCs, and six TPCs share no cluster with another.
TEST(SimDeviceTest, clusters_of_the_h200_pair_by_tpc_and_leave_some_tpcs_alone) {
  const auto device = open_sim(quiet_json("h200"));
  EXPECT_EQ(clusters_of(*device, {2, 24}).size(), 66u);
  std::set<int> reached;
  for (const auto& cluster : clusters_of(*device, {4, 24})) {
    reached.insert(cluster.begin(), cluster.end());
  }
  EXPECT_EQ(reached.size(), 120u);
  EXPECT_THROW(device->run(ClusterProbe{32, 1}), DeviceError);
  EXPECT_THROW(device->run(DsmProbe{DsmKind::latency, 17, 2}), DeviceError);
  EXPECT_THROW(open_sim(quiet_json("gtx980"))->run(ClusterProbe{2, 1}), DeviceError);
}

TEST(SimDeviceTest, clusters_in_any_order_change_partners) {
  nlohmann::json model = quiet_json("h200");
  model["chip"]["cluster_order"] = "any";
  EXPECT_GT(clusters_of(*open_sim(model), {2, 8}).size(), 2 * 66u);
  model["chip"]["lone_tpcs"] = 66;
  EXPECT_THROW(open_sim(model)->run(ClusterProbe{4, 1}), DeviceError) << "there is no room";
}

TEST(SimDeviceTest, the_floor_map_is_drawn_for_each_die) {
  const Model model = load_model("h200");
  std::set<std::vector<int>> maps;
  for (int rank = 0; rank < 8; ++rank) {
    std::vector<int> sizes(8);
    for (const DieSm& place : make_die(model, {}, die_seed(1, rank)).sms) {
      ++sizes[static_cast<std::size_t>(place.gpc)];
    }
    for (int size : sizes) EXPECT_TRUE(size == 16 || size == 18) << size;
    EXPECT_EQ(std::accumulate(sizes.begin(), sizes.end(), 0), 132);
    maps.insert(sizes);
  }
  EXPECT_GT(maps.size(), 2u);
}

}  // namespace
}  // namespace sonde::sim
