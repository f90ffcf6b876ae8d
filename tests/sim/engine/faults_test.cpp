#include "device/sim/sim_device.hpp"
#include "engine_support.hpp"

#include <gmock/gmock.h>

#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <sstream>

namespace sonde::sim {
namespace {

using testing::HasSubstr;

Faults faults_of(const std::string& text) { return load_faulty_model(text).faults; }

/// The quiet GPU of that text, with its faults.
std::unique_ptr<Device> faulty(const std::string& text, std::uint64_t seed = 1) {
  return open_sim(quiet_json(text.substr(0, text.find('+'))), seed, faults_of(text));
}

Trace one_load(const std::unique_ptr<Device>& device) { return device->run(chase({0}, 0, 1)); }

Trace empty_windows(const std::unique_ptr<Device>& device) {
  return device->run(ClockProbe{ClockWindow::empty, {0}, 1});
}

TEST(FaultsTest, are_read_behind_the_model) {
  const FaultyModel faulty = load_faulty_model("h200+slow_sm=17:3+low_bandwidth=0.8+ecc=12");
  EXPECT_EQ(faulty.model.device.name, "NVIDIA H200");
  ASSERT_EQ(faulty.faults.slow_sms.size(), 1u);
  EXPECT_EQ(faulty.faults.slow_sms[0].part, 17);
  EXPECT_EQ(faulty.faults.slow_sms[0].cycles, 3u);
  EXPECT_EQ(faulty.faults.bandwidth_factor, 0.8);
  EXPECT_EQ(faulty.faults.ecc_corrected, 12u);
}

TEST(FaultsTest, unknown_ones_list_the_known) {
  EXPECT_THAT(test::thrown<ConfigError>([] { load_faulty_model("h200+melted"); }),
              AllOf(HasSubstr("melted"), HasSubstr("wrong_data")));
}

TEST(FaultsTest, values_must_make_sense) {
  std::istringstream wrong(
      "h200+slow_sm=132:3 h200+slow_sm=3 h200+slow_slice=94:9 gtx980+slow_slice=0:9 "
      "h200+slow_tpc=66:0.9 h200+slow_tpc=3:1.5 h200+slow_tpc=3 h200+low_bandwidth=1.5 "
      "h200+low_bandwidth= h200+bandwidth_dip h200+bandwidth_dip=2 h200+throttle=0 h200+hang=0 "
      "h200+hang h200+sticky=x h200+ h200++ecc=1 h200+crash h200+gone=0 h200+clock_drop "
      "h200+clock_drop=:0.5 h200+clock_drop=3: h200+clock_drop=3:2 h200+host_width=17 "
      "h200+host_width=0 h200+host_generation=6 h200+nvlink_down=18 h200+nvlink_errors "
      "gtx980+host_width=8 h200+xid=x h200+new_xid=48 h200+new_xid=48:0 h200+host_copies=0 "
      "gtx980+host_copies=0.5 h200+neighbour= h200+neighbour=1 h200+neighbour=0.5: "
      "h200+peer_lanes=1 h200+peer_lanes=1:0 h200+peer_lanes=-1:0.5 gtx980+peer_lanes=1:0.5");
  for (std::string text; wrong >> text;) {
    EXPECT_THROW(load_faulty_model(text), ConfigError) << text;
  }
}

TEST(FaultsTest, a_slow_slice_delays_its_lines_only) {
  auto model = quiet_json("h200");
  model["slices"]["spread_cycles"] = 0;
  const auto all_sets = chase(steps(2048, 128), 2048, 2048, LoadPath::past_l1);
  const auto even = latencies_on(model, all_sets);
  const auto odd = latencies(
      open_sim(model, 1, faults_of("h200+slow_slice=0:50+slow_slice=47:50"))->run(all_sets), model);
  int slow = 0;
  for (std::size_t i = 0; i < even.size(); ++i) {
    EXPECT_TRUE(odd[i] == even[i] || odd[i] == even[i] + 50) << i;
    slow += odd[i] != even[i] ? 1 : 0;
  }
  EXPECT_NEAR(slow, 2048.0 / 47, 16);  // that slice of either partition
}

TEST(FaultsTest, throttling_shows_in_health_and_in_time) {
  const auto device = faulty("h200+throttle=0.5");
  EXPECT_DOUBLE_EQ(device->health().sm_clock_hz, 990e6);
  EXPECT_NE(device->health().throttle_reasons, 0u);
  EXPECT_EQ(faulty("h200")->health().throttle_reasons, 0u);
}

TEST(FaultsTest, a_dropping_clock_is_lower_from_its_launch_on) {
  const auto device = faulty("h200+clock_drop=2:0.5");

  const Trace before = empty_windows(device);
  const Health health_before = device->health();
  const Trace after = empty_windows(device);

  EXPECT_DOUBLE_EQ(before.conditions.sm_clock_hz, 1980e6);
  EXPECT_EQ(before.conditions.throttle_reasons, 0u);
  EXPECT_DOUBLE_EQ(health_before.sm_clock_hz, 1980e6);
  EXPECT_DOUBLE_EQ(after.conditions.sm_clock_hz, 990e6);
  EXPECT_NE(after.conditions.throttle_reasons, 0u);
  EXPECT_NE(device->health().throttle_reasons, 0u);
  EXPECT_EQ(faults_of("h200+clock_drop=9").clock_drop_factor, 0.7);
}

TEST(FaultsTest, a_sinking_clock_is_lower_and_the_board_warmer_with_each_draw) {
  const auto device = faulty("h200+clock_sink=0.97");
  const double cool_c = device->health().temperature_c;
  EXPECT_DOUBLE_EQ(device->health().sm_clock_hz, 1980e6);
  device->draw_anew();
  device->draw_anew();
  EXPECT_NEAR(empty_windows(device).conditions.sm_clock_hz, 1980e6 * 0.97 * 0.97, 1);
  EXPECT_GT(device->health().temperature_c, cool_c + 20);
  EXPECT_EQ(device->health().throttle_reasons, 0u);
}

TEST(FaultsTest, rising_ecc_counts_rise_with_each_launch) {
  const auto device = faulty("gtx980+ecc=4+ecc_rising=2");
  std::vector<std::uint64_t> counts{device->health().ecc_corrected};
  for (int i = 0; i < 3; ++i) {
    one_load(device);
    counts.push_back(device->health().ecc_corrected);
  }
  EXPECT_THAT(counts, testing::ElementsAre(4, 4, 5, 6));
}

StreamProbe stream_of(std::uint64_t bytes, int passes) {
  StreamProbe probe;
  probe.path = LoadPath::past_l1;
  probe.blocks = 132;
  probe.block_threads = 512;
  probe.ilp = 4;
  probe.footprint_bytes = bytes;
  probe.passes = passes;
  return probe;
}

TEST(NeighbourTest, is_a_process_that_health_counts) {
  EXPECT_EQ(faulty("h200")->health().foreign_processes, 0);
  const auto early = faulty("h200+neighbour");
  EXPECT_EQ(early->info().foreign_processes, 1);
  EXPECT_EQ(early->health().foreign_processes, 1);

  const auto late = faulty("h200+neighbour=0.3:2");
  EXPECT_EQ(late->info().foreign_processes, 0);
  empty_windows(late);
  EXPECT_EQ(late->health().foreign_processes, 0);
  empty_windows(late);
  EXPECT_EQ(late->health().foreign_processes, 1);
}

TEST(NeighbourTest, takes_its_share_of_the_bandwidth_and_room_in_the_l2) {
  const auto alone = faulty("h200");
  const auto beside = faulty("h200+neighbour=0.4");
  const auto ratio = [&](const StreamProbe& probe) {
    return alone->run(probe).repeat_ns.at(0) / beside->run(probe).repeat_ns.at(0);
  };

  EXPECT_NEAR(ratio(stream_of(256 << 20, 1)), 0.6, 0.05);
  EXPECT_LT(ratio(stream_of(28 << 20, 8)), 0.95) << "the L2 alone would hold it";
  EXPECT_GT(ratio(stream_of(4 << 20, 8)), 0.98);
}

TEST(NeighbourTest, evicts_lines_from_the_l2_and_delays_loads_that_come_so_far) {
  const auto model = quiet_json("h200");
  const auto probe = chase(steps(1024, 128), 1024, 1024, LoadPath::past_l1);
  const auto alone = latencies_on(model, probe);
  const auto beside = latencies(faulty("h200+neighbour")->run(probe), model);
  const std::uint32_t slowest = *std::ranges::max_element(alone);

  EXPECT_GT(count_at_least(beside, slowest + 100), 20u);
  for (std::size_t i = 0; i < alone.size(); ++i) EXPECT_GE(beside[i], alone[i]) << i;
  const auto in_l1 = chase(steps(32, 128), 32, 32);
  EXPECT_EQ(latencies(faulty("h200+neighbour")->run(in_l1), model), latencies_on(model, in_l1));
}

TEST(NeighbourTest, makes_some_sms_late_in_some_probes) {
  const auto model = quiet_json("h200");
  const auto device = faulty("h200+neighbour", 3);
  ChaseProbe probe = chase({0}, 8, 16);
  probe.lanes.clear();
  for (int sm = 0; sm < 132; ++sm) probe.lanes.push_back({sm, {0}});
  const std::uint64_t usual = faulty("h200", 3)->run(probe).lanes[0].elapsed_cycles;

  std::vector<int> late_probes(132);
  for (int number = 0; number < 20; ++number) {
    for (const LaneTrace& lane : device->run(probe).lanes) {
      const double factor = static_cast<double>(lane.elapsed_cycles) / static_cast<double>(usual);
      if (factor < 1.05) continue;
      EXPECT_GT(factor, 1.4);
      EXPECT_LT(factor, 2.7);
      EXPECT_GT(lane.window_cycles[0], 1.4 * static_cast<double>(usual) / 16);
      ++late_probes[static_cast<std::size_t>(lane.sm)];
    }
  }
  const auto late_sms = 132 - std::ranges::count(late_probes, 0);
  EXPECT_GE(late_sms, 1);
  EXPECT_LE(late_sms, 33);
  EXPECT_LT(*std::ranges::max_element(late_probes), 20) << "in some probes alone";
}

TEST(FaultsTest, a_crash_ends_the_process_by_a_signal) {
  const auto device = faulty("gtx980+crash=2");
  EXPECT_NO_THROW(one_load(device));
  EXPECT_EXIT(one_load(device), testing::KilledBySignal(SIGSEGV), "");
}

TEST(FaultsTest, a_launch_that_fails_alone_or_reads_wrong_data_leaves_the_device_well) {
  struct Case {
    std::string fault, text;
  };
  for (const Case& one :
       {Case{"launch_failure=2", "launching"}, Case{"wrong_data=2", "wrong data"}}) {
    const auto device = faulty("gtx980+" + one.fault);
    EXPECT_NO_THROW(one_load(device));
    try {
      one_load(device);
      ADD_FAILURE() << one.fault << " did nothing";
    } catch (const DeviceLostError&) {
      ADD_FAILURE() << one.fault << " is no reason to give the device up";
    } catch (const DeviceError& error) {
      EXPECT_THAT(error.what(), HasSubstr(one.text));
    }
    EXPECT_NO_THROW(one_load(device));
  }
}

/// In a process of its own, as what is gone stays gone for the others of this file.
TEST(FaultsTest, a_gpu_that_is_gone_says_nothing_and_cannot_be_opened_again) {
  const auto lose_it = [] {
    const auto device = faulty("gtx980+gone=2", 77);
    one_load(device);
    const bool was_well = device->health().temperature_c > 0;
    bool was_lost = false;
    try {
      one_load(device);
    } catch (const DeviceLostError&) {
      was_lost = true;
    }
    const Health health = device->health();
    bool opens_again = true;
    try {
      faulty("gtx980", 77);
    } catch (const DeviceError&) {
      opens_again = false;
    }
    faulty("gtx980", 78);  // another GPU
    const bool is_silent = health.temperature_c == 0 && health.sm_clock_hz == 0;
    std::_Exit(was_well && was_lost && is_silent && !opens_again ? 0 : 1);
  };
  EXPECT_EXIT(lose_it(), testing::ExitedWithCode(0), "");
}

TEST(FaultsTest, a_gpu_is_gone_for_the_process_that_forked_its_user_too) {
  prepare_to_lose_gpus();
  EXPECT_EXIT(
      {
        const auto device = faulty("gtx980+gone=1", 79);
        EXPECT_THROW(one_load(device), DeviceLostError);
        std::_Exit(0);
      },
      testing::ExitedWithCode(0), "");
  EXPECT_THROW(faulty("gtx980", 79), DeviceError);
}

TEST(FaultsTest, a_time_that_is_nan_fails_its_probe) {
  const auto device = faulty("gtx980+nan=1");
  StreamProbe stream;
  stream.blocks = 16;
  stream.block_threads = 256;
  stream.footprint_bytes = 1 << 20;
  EXPECT_THROW(device->run(stream), DeviceError);
  const Trace trace = one_load(device);  // its windows are whole numbers
  EXPECT_TRUE(std::isnan(trace.conditions.temperature_c));
}

TEST(FaultsTest, a_hang_ends_like_a_watchdog_and_the_device_is_lost) {
  auto model = quiet_json("gtx980");
  model["watchdog_s"] = 0.05;
  const auto device = open_sim(model, 1, faults_of("gtx980+hang=2"));
  EXPECT_NO_THROW(one_load(device));

  const auto begin = std::chrono::steady_clock::now();
  EXPECT_THROW(one_load(device), DeviceLostError);
  const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - begin;

  EXPECT_GE(waited.count(), 0.05);
  EXPECT_THROW(one_load(device), DeviceLostError);
}

TEST(FaultsTest, a_sticky_error_stays) {
  const auto device = faulty("gtx980+sticky=2");
  EXPECT_NO_THROW(one_load(device));
  EXPECT_THROW(one_load(device), DeviceLostError);
  EXPECT_THROW(empty_windows(device), DeviceLostError);
}

}  // namespace
}  // namespace sonde::sim
