#include "engine_support.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

namespace sonde::sim {
namespace {

using testing::HasSubstr;

Faults faults_of(const std::string& text) { return load_faulty_model(text).faults; }

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
  try {
    load_faulty_model("h200+melted");
    FAIL() << "an unknown fault was taken";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("melted"));
    EXPECT_THAT(error.what(), HasSubstr("wrong_data"));
  }
}

TEST(FaultsTest, values_must_make_sense) {
  for (const char* text :
       {"h200+slow_sm=132:3", "h200+slow_sm=3", "h200+slow_slice=64:9", "gtx980+slow_slice=0:9",
        "h200+low_bandwidth=1.5", "h200+low_bandwidth=", "h200+throttle=0", "h200+hang=0",
        "h200+hang", "h200+sticky=x", "h200+", "h200++ecc=1"}) {
    EXPECT_THROW(load_faulty_model(text), ConfigError) << text;
  }
}

TEST(FaultsTest, a_slow_sm_is_slow_and_the_others_are_not) {
  const auto model = quiet_json("gtx980");
  const auto device = open_sim(model, 1, faults_of("gtx980+slow_sm=5:7"));
  ChaseProbe probe = chase({0}, 8, 16);
  probe.lanes = {{4, {0}}, {5, {0}}};

  const Trace trace = device->run(probe);

  EXPECT_THAT(latencies(trace, model, 0), testing::Each(82u));
  EXPECT_THAT(latencies(trace, model, 1), testing::Each(89u));
}

TEST(FaultsTest, a_slow_slice_delays_its_lines_only) {
  auto model = quiet_json("h200");
  model["slices"]["spread_cycles"] = 0;
  const auto all_sets = chase(steps(2048, 128), 2048, 2048, LoadPath::past_l1);
  const auto even = latencies(open_sim(model)->run(all_sets), model);
  const auto odd = latencies(
      open_sim(model, 1, faults_of("h200+slow_slice=0:50+slow_slice=32:50"))->run(all_sets), model);
  int slow = 0;
  for (std::size_t i = 0; i < even.size(); ++i) {
    EXPECT_TRUE(odd[i] == even[i] || odd[i] == even[i] + 50) << i;
    slow += odd[i] != even[i] ? 1 : 0;
  }
  EXPECT_NEAR(slow, 2048 / 32, 16);
}

TEST(FaultsTest, throttling_shows_in_health_and_in_time) {
  const auto device = open_sim(quiet_json("h200"), 1, faults_of("h200+throttle=0.5"));
  EXPECT_DOUBLE_EQ(device->health().sm_clock_hz, 990e6);
  EXPECT_NE(device->health().throttle_reasons, 0u);
  EXPECT_EQ(open_sim(quiet_json("h200"))->health().throttle_reasons, 0u);
}

TEST(FaultsTest, ecc_counts_show_in_health) {
  EXPECT_EQ(open_sim(quiet_json("h200"), 1, faults_of("h200+ecc=4"))->health().ecc_corrected, 4u);
}

TEST(FaultsTest, a_hang_ends_like_a_watchdog_and_the_device_is_lost) {
  auto model = quiet_json("gtx980");
  model["watchdog_s"] = 0.05;
  const auto device = open_sim(model, 1, faults_of("gtx980+hang=2"));
  const ChaseProbe probe = chase({0}, 0, 1);
  EXPECT_NO_THROW(device->run(probe));

  const auto begin = std::chrono::steady_clock::now();
  EXPECT_THROW(device->run(probe), DeviceLostError);
  const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - begin;

  EXPECT_GE(waited.count(), 0.05);
  EXPECT_THROW(device->run(probe), DeviceLostError);
}

TEST(FaultsTest, a_sticky_error_stays) {
  const auto device = open_sim(quiet_json("gtx980"), 1, faults_of("gtx980+sticky=2"));
  const ChaseProbe probe = chase({0}, 0, 1);
  EXPECT_NO_THROW(device->run(probe));
  EXPECT_THROW(device->run(probe), DeviceLostError);
  EXPECT_THROW(device->run(ClockProbe{ClockWindow::empty, {0}, 1}), DeviceLostError);
}

TEST(FaultsTest, wrong_data_fails_the_probe_and_not_the_device) {
  const auto device = open_sim(quiet_json("gtx980"), 1, faults_of("gtx980+wrong_data=2"));
  const ChaseProbe probe = chase({0}, 0, 1);
  EXPECT_NO_THROW(device->run(probe));
  try {
    device->run(probe);
    FAIL() << "wrong data went unseen";
  } catch (const DeviceLostError&) {
    FAIL() << "wrong data is no reason to give the device up";
  } catch (const DeviceError& error) {
    EXPECT_THAT(error.what(), HasSubstr("wrong data"));
  }
  EXPECT_NO_THROW(device->run(probe));
}

}  // namespace
}  // namespace sonde::sim
