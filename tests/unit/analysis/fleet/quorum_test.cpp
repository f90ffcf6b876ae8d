#include "analysis/fleet/verdict/reduce.hpp"

#include "unit/analysis/fleet/fleet_maker.hpp"

#include <gmock/gmock.h>

namespace sonde {
namespace {

using ::testing::HasSubstr;

/// As many devices as values of the metric, each with its own.
RunResult fleet_with(const char* metric, const std::vector<Value>& values) {
  RunResult run = maker::healthy_fleet(values.size(), 1);
  for (std::size_t i = 0; i < values.size(); ++i) {
    maker::finding_of(run.devices[i], metric).value = values[i];
  }
  return run;
}

RunResult fleet_with_sizes(const std::vector<double>& sizes_kib) {
  std::vector<Value> values;
  for (const double size : sizes_kib) values.emplace_back(1024 * size);
  return fleet_with("cache.l1.size_bytes", values);
}

std::string verdicts_of(const RunResult& run) {
  return maker::verdicts_of(reduce_fleet(run, maker::options()));
}

TEST(QuorumTest, a_dissenter_fails_and_where_it_may_be_right_all_are_warned_by_name) {
  struct Case {
    std::vector<double> sizes_kib;
    const char* verdicts;
    const char* says;  // of the last one that is flagged
  };
  const Case cases[] = {
      {{192, 192, 128, 192}, "ppfp", "128 KiB where 3 of 4 devices have 192 KiB"},
      {{128, 192, 192, 128}, "wwww", "falls into parts, n=4: 128 KiB on 2, 192 KiB on 2: cannot"},
      {{128, 128, 128, 128, 192}, "wwwww", "128 KiB on 4, 192 KiB on 1: cannot tell"},  // has more
      {{192, 128}, "ww", "n=2: cannot tell which is wrong"}};
  for (const Case& one : cases) {
    const FleetAnalysis analysis = reduce_fleet(fleet_with_sizes(one.sizes_kib), maker::options());
    EXPECT_EQ(maker::verdicts_of(analysis), one.verdicts);
    const std::size_t flagged = std::string_view(one.verdicts).find_last_of("fw");
    EXPECT_EQ(analysis.verdicts[flagged].likely, Trouble::structure);
    EXPECT_THAT(analysis.verdicts[flagged].reason, HasSubstr(one.says));
  }
}

TEST(QuorumTest, a_dissenter_that_is_not_sure_is_warned) {
  RunResult run = fleet_with_sizes({192, 192, 128, 192});
  maker::finding_of(run.devices[2], "cache.l1.size_bytes").confidence = 0.6;
  EXPECT_EQ(verdicts_of(run), "ppwp");
}

TEST(QuorumTest, two_that_agree_against_three_may_be_right_where_no_direction_is_better) {
  const std::string lru = "lru", fifo = "fifo", random = "random";
  EXPECT_EQ(verdicts_of(fleet_with("cache.l1.replacement", {lru, fifo, fifo, lru, lru})), "wwwww");
  EXPECT_EQ(verdicts_of(fleet_with("cache.l1.replacement", {lru, fifo, random, lru, lru})),
            "pffpp");
}

TEST(QuorumTest, a_link_with_fewer_lanes_than_those_of_its_peers_is_a_fault_of_the_link) {
  RunResult run = maker::healthy_fleet(4, 1);
  for (DeviceResult& device : run.devices) {
    device.jobs.push_back(maker::job("host", {found("host.link_width", 16.0, 1, 1)}));
  }
  run.devices[2].jobs.back().findings[0].value = 8.0;
  const Metric width{"host.link_width", "1", maker::structural, maker::higher, "host", "lanes", ""};

  const FleetAnalysis analysis = reduce_fleet(run, maker::options(std::span(&width, 1)));

  EXPECT_EQ(maker::verdicts_of(analysis), "ppfp");
  EXPECT_EQ(analysis.verdicts[2].likely, Trouble::pcie_link);
}

/// An L2 on each device that ends somewhere between these.
RunResult fleet_with_edges(const std::vector<Interval>& edges_mib) {
  RunResult run = maker::healthy_fleet(edges_mib.size(), 1);
  for (std::size_t i = 0; i < edges_mib.size(); ++i) {
    const Interval edge{.low = edges_mib[i].low * (1 << 20), .high = edges_mib[i].high * (1 << 20)};
    Finding& size = maker::finding_of(run.devices[i], "cache.l2.size_bytes");
    size.value = (edge.low + edge.high) / 2;
    size.interval = edge;
  }
  return run;
}

TEST(QuorumTest, counts_are_compared_exactly) {
  EXPECT_EQ(verdicts_of(fleet_with("device.sm_count", {5120.0, 5120.0, 5119.0, 5120.0})), "ppfp");
}

TEST(QuorumTest, capacities_are_compared_as_intervals) {
  const auto verdicts = [](const std::vector<Interval>& edges_mib) {
    return verdicts_of(fleet_with_edges(edges_mib));
  };
  EXPECT_EQ(verdicts({{57, 59}, {58, 60}, {56.5, 58.5}, {57.5, 59}}), "pppp");
  EXPECT_EQ(verdicts({{57, 59}, {57, 59}, {47, 49}, {57, 59}}), "ppfp");
  EXPECT_EQ(verdicts({{60, 60}, {40, 40}, {60, 60}, {30, 62}, {60, 60}}), "pfppp")
      << "a wide edge does not make all agree";
  constexpr double two_lines = 256.0 / (1 << 20);
  EXPECT_EQ(verdicts({{60, 60}, {60 - two_lines, 60 - two_lines}, {60, 60}}), "ppp");
  EXPECT_EQ(verdicts({{60, 60}, {59.4, 59.4}, {60, 60}}), "pfp");
  EXPECT_EQ(verdicts({{57, 59}, {58, 60}}), "pp");
  EXPECT_EQ(verdicts({{57, 59}, {47, 49}}), "ww");
}

TEST(QuorumTest, equal_middles_of_unequal_edges_are_shown_as_they_are) {
  const FleetAnalysis analysis = reduce_fleet(
      fleet_with_edges({{37, 39}, {57.5, 58.5}, {57, 59}, {57, 59}}), maker::options());

  EXPECT_EQ(maker::verdicts_of(analysis), "fppp");
  EXPECT_EQ(analysis.charges.at(0).value, "between 37 and 39 MiB");
  EXPECT_EQ(analysis.charges.at(0).reference, "between 57 and 59 MiB");
}

TEST(QuorumTest, absence_is_a_vote_and_silence_is_none) {
  RunResult run = maker::healthy_fleet(5, 1);
  for (const char* metric : {"cache.l1.replacement", "cache.l2.size_bytes"}) {
    maker::finding_of(run.devices[1], metric) = not_present(metric, "no such cache");
    maker::finding_of(run.devices[3], metric) = not_resolvable(metric, "too noisy");
  }
  EXPECT_EQ(verdicts_of(run), "pfppp");

  for (const std::size_t other : {2, 3}) {
    maker::finding_of(run.devices[other], "cache.l2.size_bytes") =
        not_present("cache.l2.size_bytes", "no such cache");
  }
  EXPECT_EQ(reduce_fleet(run, maker::options()).counts.flagged, 5u);
}

TEST(QuorumTest, gpcs_may_differ_between_healthy_dies) {
  RunResult run = maker::healthy_fleet(4, 1);
  maker::finding_of(run.devices[1], "topology.gpc_count").value = 7.0;

  const FleetAnalysis analysis = reduce_fleet(run, maker::options());

  EXPECT_EQ(analysis.counts.passed, 4u);
  const auto charge =
      std::ranges::find(analysis.charges, std::string("topology.gpc_count"), &Charge::metric);
  ASSERT_NE(charge, analysis.charges.end());
  EXPECT_EQ(charge->severity, Severity::info);
}

}  // namespace
}  // namespace sonde
