#include "analysis/fleet/fingerprint.hpp"
#include "analysis/fleet/reduce.hpp"

#include "unit/analysis/fleet/fleet_maker.hpp"

#include <gmock/gmock.h>

#include <cmath>

namespace sonde {
namespace {

using ::testing::HasSubstr;

std::vector<double> flat_map() {
  std::vector<double> map(132, 36);
  for (std::size_t sm = 0; sm < map.size(); sm += 3) map[sm] = 37;
  return map;
}

std::vector<OutlyingSm> slow_ones(const std::vector<double>& map) {
  return outlying_sms(map, Better::lower, 1, 0.03, 0.005);
}

TEST(FingerprintTest, names_the_slow_sm) {
  std::vector<double> map = flat_map();
  map[17] = 39.5;

  const auto out = slow_ones(map);

  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(out[0].sm, 17);
  EXPECT_NEAR(out[0].deviation_fraction, 3.5 / 36, 1e-12);
}

TEST(FingerprintTest, names_both_sms_of_a_slow_tpc) {
  std::vector<double> map = flat_map();
  map[16] = map[17] = 40;

  EXPECT_EQ(slow_ones(map).size(), 2u);
}

TEST(FingerprintTest, whole_cycle_steps_are_no_outliers) {
  EXPECT_TRUE(slow_ones(flat_map()).empty());
}

/// SMs of which a map knows nothing, as those that share no cluster with others (dsm.sm_cycles).
TEST(FingerprintTest, sms_without_a_value_do_not_count) {
  std::vector<double> map = flat_map();
  map[17] = 39.5;
  for (std::size_t sm = 1; sm < map.size(); sm += 5) map[sm] = std::nan("");

  const auto out = slow_ones(map);
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(out[0].sm, 17);
  EXPECT_NEAR(out[0].deviation_fraction, 3.5 / 36, 1e-12);
  const std::vector<double> profile = sorted_profile(map, 5);
  EXPECT_EQ(profile.front(), 0);
  EXPECT_NEAR(profile.back(), 3.5 / 36, 1e-12);
}

TEST(FingerprintTest, a_map_without_any_value_says_nothing) {
  const std::vector<double> map(132, std::nan(""));

  EXPECT_TRUE(slow_ones(map).empty());
}

TEST(FingerprintTest, far_gpc_is_a_group_and_no_outlier) {
  std::vector<double> map(132, 280);
  for (std::size_t sm = 0; sm < 16; ++sm) map[sm] = 300;

  EXPECT_TRUE(slow_ones(map).empty());
}

/// As of a simulated H200 whose slice 35 answers half of its SMs 30 cycles later.
TEST(FingerprintTest, names_the_slow_slice_among_two_groups) {
  std::vector<double> map;
  for (int slice = 0; slice < 47; ++slice)
    map.push_back((slice % 2 == 0 ? 260.5 : 264.5) + slice % 3);
  const std::vector<double> healthy = map;
  map[35] = 278.1;

  const auto out = outlying_sms(map, Better::lower, 1, 0.05, 0.005);

  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(out[0].sm, 35);
  EXPECT_TRUE(outlying_sms(healthy, Better::lower, 1, 0.001, 0.005).empty());
}

TEST(FingerprintTest, fast_sm_is_no_defect) {
  std::vector<double> map = flat_map();
  map[17] = 30;

  EXPECT_TRUE(slow_ones(map).empty());
}

TEST(FingerprintTest, less_is_worse_for_throughput) {
  std::vector<double> map(132, 60e9);
  map[5] = 50e9;

  const auto out = outlying_sms(map, Better::higher, 0, 0.03, 0.005);

  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(out[0].sm, 5);
}

TEST(FingerprintTest, profiles_do_not_see_the_order_of_sms) {
  std::vector<double> map = flat_map();
  std::vector<double> other = map;
  Random random(3);
  shuffle(other, random);

  const auto distances = profile_distances(
      {sorted_profile(map, 33), sorted_profile(other, 33), sorted_profile(map, 33)});

  EXPECT_EQ(distances, (std::vector<double>{0, 0, 0}));
}

TEST(FingerprintTest, distance_is_the_mean_shift_between_profiles) {
  const std::vector<std::vector<double>> profiles{{0, 0, 0}, {0, 0, 0}, {0, 0, 0.3}};

  EXPECT_THAT(profile_distances(profiles),
              testing::ElementsAre(0, 0, testing::DoubleNear(0.1, 1e-12)));
}

TEST(FingerprintTest, device_with_a_slow_sm_is_named_among_four) {
  RunResult run = maker::healthy_fleet(4, 5);
  maker::slow_sm(run.devices[3], "placement.l1_latency_cycles", 17, 3);

  const FleetAnalysis analysis = reduce_fleet(run, maker::options());

  EXPECT_EQ(analysis.verdicts[3].verdict, Verdict::fail);
  EXPECT_EQ(analysis.verdicts[3].likely, Trouble::sm);
  EXPECT_THAT(analysis.verdicts[3].reason, HasSubstr("SM 17 (TPC 8, GPC "));
  EXPECT_THAT(analysis.charges.front().unit.numbers, testing::ElementsAre(17));
  EXPECT_EQ(analysis.counts.passed, 3u);
}

TEST(FingerprintTest, slow_sm_is_found_on_a_single_device) {
  RunResult run = maker::healthy_fleet(1, 5);
  maker::slow_sm(run.devices[0], "placement.l1_latency_cycles", 101, 3);

  EXPECT_EQ(reduce_fleet(run, maker::options()).verdicts[0].verdict, Verdict::fail);
}

/// 47 slices around 264 cycles, as an H200 has them.
RunResult fleet_with_slices(std::size_t devices) {
  RunResult run = maker::healthy_fleet(devices, 5);
  Random random(11);
  for (DeviceResult& device : run.devices) {
    std::vector<double> cycles;
    for (int slice = 0; slice < 47; ++slice) cycles.push_back(264 + 1.5 * maker::gauss(random));
    device.jobs.push_back(
        maker::job("slices", {found("cache.l2.slice_latency_cycles", cycles, 1, 64)}));
  }
  return run;
}

TEST(FingerprintTest, a_slow_slice_is_named_as_a_slice) {
  RunResult run = fleet_with_slices(4);
  maker::slow_sm(run.devices[1], "cache.l2.slice_latency_cycles", 13, 20);

  const FleetAnalysis analysis = reduce_fleet(run);

  EXPECT_EQ(analysis.verdicts[1].verdict, Verdict::fail);
  EXPECT_EQ(analysis.verdicts[1].likely, Trouble::slice);
  EXPECT_THAT(analysis.verdicts[1].reason, testing::StartsWith("slice 13 of the L2 is "));
  EXPECT_EQ(analysis.charges.front().unit, (Unit{Unit::Kind::slice, {13}}));
  EXPECT_EQ(analysis.counts.passed, 3u);
}

/// Maps in which every SM reads the same.
RunResult even_fleet(std::size_t devices) {
  RunResult run = maker::healthy_fleet(devices, 5);
  for (DeviceResult& device : run.devices) {
    for (const char* map : {"placement.l1_latency_cycles", "placement.l2_latency_cycles"}) {
      maker::finding_of(device, map).value =
          std::vector<double>(maker::sm_count, map[11] == '1' ? 36 : 280);
    }
  }
  return run;
}

TEST(FingerprintTest, a_cycle_in_two_maps_warns) {
  RunResult run = even_fleet(4);
  maker::slow_sm(run.devices[2], "placement.l1_latency_cycles", 17, 1);
  maker::slow_sm(run.devices[2], "placement.l2_latency_cycles", 17, 1);

  const FleetAnalysis analysis = reduce_fleet(run, maker::options());

  EXPECT_EQ(analysis.verdicts[2].verdict, Verdict::warn);
  EXPECT_EQ(analysis.verdicts[2].likely, Trouble::sm);
  EXPECT_THAT(analysis.charges.front().unit.numbers, testing::ElementsAre(17));
  EXPECT_THAT(analysis.charges.front().evidence, HasSubstr("maps of l1 and l2 agree"));
  EXPECT_EQ(analysis.counts.passed, 3u);
}

TEST(FingerprintTest, a_cycle_in_one_map_or_at_two_sms_is_no_finding) {
  RunResult run = even_fleet(4);
  maker::slow_sm(run.devices[1], "placement.l1_latency_cycles", 17, 1);
  maker::slow_sm(run.devices[2], "placement.l1_latency_cycles", 17, 1);
  maker::slow_sm(run.devices[2], "placement.l2_latency_cycles", 18, 1);

  EXPECT_EQ(reduce_fleet(run, maker::options()).counts.passed, 4u);
}

TEST(FingerprintTest, a_cycle_on_two_of_four_is_not_put_to_a_vote) {
  RunResult run = even_fleet(4);
  for (const std::size_t device : {1u, 2u}) {
    maker::slow_sm(run.devices[device], "placement.l1_latency_cycles", 17, 1);
    maker::slow_sm(run.devices[device], "placement.l2_latency_cycles", 17, 1);
  }

  EXPECT_EQ(reduce_fleet(run, maker::options()).counts.warned, 2u);
}

/// Two of three GPUs with a slow SM used to acquit each other.
TEST(FingerprintTest, slow_sms_of_two_gpus_do_not_acquit_each_other) {
  RunResult run = maker::healthy_fleet(3, 5);
  maker::slow_sm(run.devices[0], "placement.l1_latency_cycles", 17, 30);
  maker::slow_sm(run.devices[1], "placement.l1_latency_cycles", 20, 30);

  EXPECT_EQ(reduce_fleet(run, maker::options()).counts.failed, 2u);
}

TEST(FingerprintTest, the_same_sm_by_the_same_amount_on_most_of_five_is_how_they_are_built) {
  RunResult run = maker::healthy_fleet(5, 5);
  for (std::size_t device = 0; device < 4; ++device) {
    maker::slow_sm(run.devices[device], "placement.l1_latency_cycles", 17, 30);
  }

  const FleetAnalysis analysis = reduce_fleet(run, maker::options());

  EXPECT_EQ(analysis.counts.passed, 5u);
  EXPECT_EQ(std::ranges::count_if(analysis.charges,
                                  [](const Charge& charge) {
                                    return charge.reason.find("built so") != std::string::npos;
                                  }),
            1);
  maker::slow_sm(run.devices[3], "placement.l1_latency_cycles", 17, 60);
  EXPECT_EQ(reduce_fleet(run, maker::options()).counts.failed, 4u);
}

}  // namespace
}  // namespace sonde
