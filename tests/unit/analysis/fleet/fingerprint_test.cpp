#include "analysis/fleet/fingerprint.hpp"
#include "analysis/fleet/verdict/reduce.hpp"

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

std::vector<int> numbers_of(const std::vector<OutlyingSm>& all) {
  std::vector<int> numbers;
  for (const OutlyingSm& one : all) numbers.push_back(one.sm);
  return numbers;
}

TEST(FingerprintTest, names_the_sms_that_stand_apart_for_the_worse) {
  const auto slow_with = [](std::vector<std::pair<std::size_t, double>> values) {
    std::vector<double> map = flat_map();
    for (const auto& [sm, cycles] : values) map[sm] = cycles;
    return numbers_of(slow_ones(map));
  };
  EXPECT_THAT(slow_with({{17, 39.5}}), testing::ElementsAre(17));
  EXPECT_THAT(slow_with({{16, 40}, {17, 40}}), testing::ElementsAre(16, 17)) << "a TPC";
  EXPECT_THAT(slow_with({}), testing::IsEmpty()) << "steps of whole cycles";
  EXPECT_THAT(slow_with({{17, 30}}), testing::IsEmpty()) << "a fast one";
  EXPECT_TRUE(slow_ones(std::vector<double>(132, std::nan(""))).empty());
  std::vector<double> far_gpc(132, 280);
  for (std::size_t sm = 0; sm < 16; ++sm) far_gpc[sm] = 300;
  EXPECT_TRUE(slow_ones(far_gpc).empty());
  std::vector<double> rates(132, 60e9);
  rates[5] = 50e9;
  EXPECT_THAT(numbers_of(outlying_sms(rates, Better::higher, 0, 0.03, 0.005)),
              testing::ElementsAre(5));
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
