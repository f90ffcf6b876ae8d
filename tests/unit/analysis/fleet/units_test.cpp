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

constexpr Metric sm_cycles{"dsm.sm_cycles", "cycle", maker::fingerprint, maker::lower, "dsm",
                           "by SM",         "-"};

/// What a GPU alone is charged with that has such a map.
std::vector<Charge> charges_of(const std::vector<double>& map, const Metric& metric = sm_cycles) {
  RunResult run = maker::healthy_fleet(1, 1);
  run.devices[0].jobs.push_back(maker::job("maps", {found(std::string(metric.name), map, 1, 64)}));
  return reduce_fleet(run, maker::options(std::span(&metric, 1))).charges;
}

/// The units that are named.
std::vector<int> out_of(const std::vector<double>& map, const Metric& metric = sm_cycles) {
  const std::vector<Charge> charges = charges_of(map, metric);
  return charges.empty() ? std::vector<int>{} : charges.front().unit.numbers;
}

TEST(UnitsTest, sms_that_stand_apart_for_the_worse_are_named) {
  const auto slow_with = [](std::vector<std::pair<std::size_t, double>> values) {
    std::vector<double> map = flat_map();
    for (const auto& [sm, cycles] : values) map[sm] = cycles;
    return out_of(map);
  };
  EXPECT_THAT(slow_with({{17, 39.5}}), testing::ElementsAre(17));
  EXPECT_THAT(slow_with({{16, 40}, {17, 40}}), testing::ElementsAre(16, 17)) << "a TPC";
  EXPECT_THAT(slow_with({}), testing::IsEmpty()) << "steps of whole cycles";
  EXPECT_THAT(slow_with({{17, 30}}), testing::IsEmpty()) << "a fast one";
  EXPECT_THAT(out_of(std::vector<double>(132, std::nan(""))), testing::IsEmpty());
  std::vector<double> far_gpc(132, 280);
  for (std::size_t sm = 0; sm < 16; ++sm) far_gpc[sm] = 300;
  EXPECT_THAT(out_of(far_gpc), testing::IsEmpty());
  Metric rate = sm_cycles;
  rate.unit = "byte/s";
  rate.better = maker::higher;
  std::vector<double> rates(132, 60e9);
  rates[5] = 50e9;
  EXPECT_THAT(out_of(rates, rate), testing::ElementsAre(5));
}

/// SMs of which a map knows nothing, as those that share no cluster with others (dsm.sm_cycles).
TEST(UnitsTest, sms_without_a_value_do_not_count) {
  std::vector<double> map = flat_map();
  map[17] = 39.5;
  for (std::size_t sm = 1; sm < map.size(); sm += 5) map[sm] = std::nan("");

  const auto charges = charges_of(map);
  ASSERT_EQ(charges.size(), 1u);
  EXPECT_THAT(charges[0].unit.numbers, testing::ElementsAre(17));
  EXPECT_NEAR(charges[0].size, 3.5 / 36, 1e-12);
}

/// As of a simulated H200 whose slice 35 answers half of its SMs 30 cycles later.
TEST(UnitsTest, the_slow_slice_among_two_groups_is_named) {
  Metric slices = sm_cycles;
  slices.name = "cache.l2.slice_latency_cycles";
  slices.warn = 0.05;
  std::vector<double> map;
  for (int slice = 0; slice < 47; ++slice)
    map.push_back((slice % 2 == 0 ? 260.5 : 264.5) + slice % 3);
  const std::vector<double> healthy = map;
  map[35] = 278.1;

  const std::vector<Charge> charges = charges_of(map, slices);
  ASSERT_EQ(charges.size(), 1u);
  EXPECT_EQ(charges[0].unit, (Unit{Unit::Kind::slice, {35}}));
  EXPECT_EQ(charges[0].trouble, Trouble::slice);
  EXPECT_THAT(charges[0].cause, testing::StartsWith("slice 35 of the L2 is "));
  slices.warn = 0.001;
  EXPECT_THAT(out_of(healthy, slices), testing::IsEmpty());
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

/// A third of the SMs is 21 % slower: a mean distance of 7 %, and the same median.
TEST(UnitsTest, the_profile_of_a_map_is_compared_and_not_the_order_of_its_sms) {
  RunResult run = even_fleet(4);
  const auto slow_third = [&](std::size_t device) {
    for (std::size_t sm = device; sm < maker::sm_count; sm += 3) {
      maker::slow_sm(run.devices[device], "placement.l2_latency_cycles", sm, 60);
    }
  };
  slow_third(2);
  const FleetAnalysis analysis = reduce_fleet(run, maker::options());
  EXPECT_EQ(analysis.verdicts[2].verdict, Verdict::warn);
  EXPECT_THAT(analysis.verdicts[2].reason,
              HasSubstr("l2_latency_cycles (profile distance): 7.3 %"));

  for (const std::size_t other : {0, 1, 3}) slow_third(other);
  EXPECT_EQ(reduce_fleet(run, maker::options()).counts.passed, 4u);
}

TEST(UnitsTest, a_cycle_in_two_maps_warns) {
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

TEST(UnitsTest, a_cycle_in_one_map_or_at_two_sms_is_no_finding) {
  RunResult run = even_fleet(4);
  maker::slow_sm(run.devices[1], "placement.l1_latency_cycles", 17, 1);
  maker::slow_sm(run.devices[2], "placement.l1_latency_cycles", 17, 1);
  maker::slow_sm(run.devices[2], "placement.l2_latency_cycles", 18, 1);

  EXPECT_EQ(reduce_fleet(run, maker::options()).counts.passed, 4u);
}

TEST(UnitsTest, the_same_sm_by_the_same_amount_on_most_of_five_is_how_they_are_built) {
  RunResult run = maker::healthy_fleet(5, 5);
  for (std::size_t device = 0; device < 4; ++device) {
    maker::slow_sm(run.devices[device], "placement.l1_latency_cycles", 17, 30);
  }

  const FleetAnalysis analysis = reduce_fleet(run, maker::options());

  EXPECT_EQ(analysis.counts.passed, 5u);
  EXPECT_EQ(std::ranges::count_if(analysis.charges,
                                  [](const Charge& charge) {
                                    return charge.reason.find("by design") != std::string::npos;
                                  }),
            1);
  maker::slow_sm(run.devices[3], "placement.l1_latency_cycles", 17, 60);
  EXPECT_EQ(reduce_fleet(run, maker::options()).counts.failed, 4u);
}

}  // namespace
}  // namespace sonde
