#include "analysis/fleet/verdict/reduce.hpp"

#include "unit/analysis/fleet/fleet_maker.hpp"

#include <gmock/gmock.h>

namespace sonde {
namespace {

using ::testing::HasSubstr;

std::vector<Charge> findings_on(const FleetAnalysis& analysis, std::string_view metric) {
  std::vector<Charge> found;
  for (const Charge& finding : analysis.charges) {
    if (finding.metric == metric) found.push_back(finding);
  }
  return found;
}

void set_size(DeviceResult& device, double size_bytes) {
  maker::finding_of(device, "cache.l1.size_bytes").value = size_bytes;
}

TEST(QuorumTest, dissenter_against_a_majority_fails_if_both_are_sure) {
  RunResult run = maker::healthy_fleet(4, 1);
  set_size(run.devices[2], 131072);

  const FleetAnalysis analysis = reduce_fleet(run, maker::options());

  EXPECT_EQ(analysis.verdicts[2].verdict, Verdict::fail);
  EXPECT_EQ(analysis.verdicts[2].likely, Trouble::structure);
  EXPECT_THAT(analysis.verdicts[2].reason, HasSubstr("128 KiB where 3 of 4 devices have 192 KiB"));
  EXPECT_EQ(analysis.counts.passed, 3u);

  maker::finding_of(run.devices[2], "cache.l1.size_bytes").confidence = 0.6;
  EXPECT_EQ(reduce_fleet(run, maker::options()).verdicts[2].verdict, Verdict::warn);
}

TEST(QuorumTest, a_link_with_fewer_lanes_than_those_of_its_peers_is_a_fault_of_the_link) {
  RunResult run = maker::healthy_fleet(4, 1);
  for (DeviceResult& device : run.devices) {
    device.jobs.push_back(maker::job("host", {found("host.link_width", 16.0, 1, 1)}));
  }
  run.devices[2].jobs.back().findings[0].value = 8.0;
  const Metric width{"host.link_width", "1", maker::structural, maker::higher, "host", "lanes", ""};
  ReduceOptions options;
  options.registry = std::span(&width, 1);

  const FleetAnalysis analysis = reduce_fleet(run, options);

  EXPECT_EQ(analysis.verdicts[2].verdict, Verdict::fail);
  EXPECT_EQ(analysis.verdicts[2].likely, Trouble::pcie_link);
  EXPECT_EQ(analysis.counts.passed, 3u);
}

void set_edge(DeviceResult& device, double low_mib, double high_mib) {
  Finding& size = maker::finding_of(device, "cache.l2.size_bytes");
  size.value = (low_mib + high_mib) / 2 * (1 << 20);
  size.interval = {.low = low_mib * (1 << 20), .high = high_mib * (1 << 20)};
}

TEST(QuorumTest, equal_middles_of_unequal_edges_are_shown_as_they_are) {
  RunResult run = maker::healthy_fleet(4, 1);
  set_edge(run.devices[0], 37, 39);
  for (const std::size_t other : {1, 2, 3}) set_edge(run.devices[other], 57, 59);
  set_edge(run.devices[1], 57.5, 58.5);  // the same middle as the two others

  const FleetAnalysis analysis = reduce_fleet(run, maker::options());

  const auto found = findings_on(analysis, "cache.l2.size_bytes");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].device, 0u);
  EXPECT_EQ(found[0].value, "between 37 and 39 MiB");
  EXPECT_EQ(found[0].reference, "between 57 and 59 MiB");
}

TEST(QuorumTest, capacities_are_compared_as_intervals) {
  using Edges = std::vector<std::pair<double, double>>;  // MiB
  const auto verdicts_of = [](const Edges& edges) {
    RunResult run = maker::healthy_fleet(edges.size(), 1);
    for (std::size_t i = 0; i < edges.size(); ++i) {
      set_edge(run.devices[i], edges[i].first, edges[i].second);
    }
    std::string text;
    for (const DeviceVerdict& one : reduce_fleet(run, maker::options()).verdicts) {
      text += to_text(one.verdict).substr(0, 1);
    }
    return text;
  };
  EXPECT_EQ(verdicts_of({{57, 59}, {58, 60}, {56.5, 58.5}, {57.5, 59}}), "pppp");
  EXPECT_EQ(verdicts_of({{57, 59}, {57, 59}, {47, 49}, {57, 59}}), "ppfp");
  EXPECT_EQ(verdicts_of({{60, 60}, {40, 40}, {60, 60}, {30, 62}, {60, 60}}), "pfppp")
      << "a wide edge does not make all agree";
  constexpr double two_lines = 256.0 / (1 << 20);
  EXPECT_EQ(verdicts_of({{60, 60}, {60 - two_lines, 60 - two_lines}, {60, 60}}), "ppp");
  EXPECT_EQ(verdicts_of({{60, 60}, {59.4, 59.4}, {60, 60}}), "pfp");
  EXPECT_EQ(verdicts_of({{57, 59}, {58, 60}}), "pp");
  EXPECT_EQ(verdicts_of({{57, 59}, {47, 49}}), "ww");
}

TEST(QuorumTest, tie_among_four_warns_all) {
  RunResult run = maker::healthy_fleet(4, 1);
  set_size(run.devices[0], 131072);
  set_size(run.devices[3], 131072);

  const FleetAnalysis analysis = reduce_fleet(run, maker::options());

  EXPECT_EQ(analysis.counts.warned, 4u);
  EXPECT_EQ(findings_on(analysis, "cache.l1.size_bytes").size(), 4u);
  EXPECT_THAT(analysis.verdicts[1].reason,
              HasSubstr("falls into parts, n=4: 128 KiB on 2, 192 KiB on 2: cannot tell"));
}

TEST(QuorumTest, one_that_has_more_than_all_others_may_be_the_only_healthy_one) {
  RunResult run = maker::healthy_fleet(5, 1);
  for (std::size_t device = 0; device < 4; ++device) set_size(run.devices[device], 131072);

  const FleetAnalysis analysis = reduce_fleet(run, maker::options());

  EXPECT_EQ(analysis.counts.warned, 5u);
  EXPECT_THAT(analysis.verdicts[4].reason, HasSubstr("128 KiB on 4, 192 KiB on 1: cannot tell"));
}

TEST(QuorumTest, two_that_agree_against_three_may_be_right_where_no_direction_is_better) {
  RunResult run = maker::healthy_fleet(5, 1);
  for (const std::size_t device : {1, 2}) {
    maker::finding_of(run.devices[device], "cache.l1.replacement").value = "fifo";
  }
  EXPECT_EQ(reduce_fleet(run, maker::options()).counts.warned, 5u);

  maker::finding_of(run.devices[2], "cache.l1.replacement").value = "random";
  const FleetAnalysis analysis = reduce_fleet(run, maker::options());
  EXPECT_EQ(analysis.counts.failed, 2u);
  EXPECT_EQ(analysis.counts.passed, 3u);
}

TEST(QuorumTest, two_devices_cannot_tell_which_is_wrong) {
  RunResult run = maker::healthy_fleet(2, 1);
  set_size(run.devices[1], 131072);

  const FleetAnalysis analysis = reduce_fleet(run, maker::options());

  EXPECT_EQ(analysis.counts.warned, 2u);
  EXPECT_THAT(analysis.verdicts[0].reason, HasSubstr("n=2: cannot tell which is wrong"));
}

TEST(QuorumTest, absence_is_a_vote_and_silence_is_none) {
  RunResult run = maker::healthy_fleet(4, 1);
  maker::finding_of(run.devices[1], "cache.l1.replacement") =
      not_present("cache.l1.replacement", "no such cache");
  maker::finding_of(run.devices[3], "cache.l1.replacement") =
      not_resolvable("cache.l1.replacement", "too noisy");

  const FleetAnalysis analysis = reduce_fleet(run, maker::options());

  EXPECT_EQ(analysis.verdicts[1].verdict, Verdict::fail);
  EXPECT_EQ(analysis.verdicts[3].verdict, Verdict::pass);
}

TEST(QuorumTest, absence_is_a_value_among_capacities) {
  RunResult run = maker::healthy_fleet(5, 1);
  const auto remove = [&](std::size_t device) {
    maker::finding_of(run.devices[device], "cache.l2.size_bytes") =
        not_present("cache.l2.size_bytes", "no such cache");
  };
  remove(1);
  EXPECT_EQ(reduce_fleet(run, maker::options()).verdicts[1].verdict, Verdict::fail);

  for (const std::size_t device : {2, 3}) remove(device);
  EXPECT_EQ(reduce_fleet(run, maker::options()).counts.flagged, 5u);
}

TEST(QuorumTest, gpcs_may_differ_between_healthy_dies) {
  RunResult run = maker::healthy_fleet(4, 1);
  maker::finding_of(run.devices[1], "topology.gpc_count").value = 7.0;

  const FleetAnalysis analysis = reduce_fleet(run, maker::options());

  EXPECT_EQ(analysis.counts.passed, 4u);
  EXPECT_EQ(findings_on(analysis, "topology.gpc_count").at(0).severity, Severity::info);
}

}  // namespace
}  // namespace sonde
