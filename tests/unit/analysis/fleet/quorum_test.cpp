#include "analysis/fleet/quorum.hpp"
#include "analysis/fleet/reduce.hpp"

#include "unit/analysis/fleet/fleet_maker.hpp"

#include <gmock/gmock.h>

namespace sonde {
namespace {

using ::testing::HasSubstr;

std::vector<FleetFinding> findings_on(const FleetAnalysis& analysis, std::string_view metric) {
  std::vector<FleetFinding> found;
  for (const FleetFinding& finding : analysis.findings) {
    if (finding.metric == metric) found.push_back(finding);
  }
  return found;
}

void set_size(DeviceResult& device, double size_bytes) {
  maker::finding_of(device, "cache.l1.size_bytes").value = size_bytes;
}

TEST(QuorumTest, unique_plurality_is_the_reference) {
  const Quorum quorum = count_votes({{0, "a", "A"}, {1, "b", "B"}, {2, "a", "A"}, {3, "c", "C"}});

  EXPECT_EQ(quorum.text, "a");
  EXPECT_EQ(quorum.agreeing, 2u);
  EXPECT_FALSE(quorum.ambiguous);
}

TEST(QuorumTest, tie_is_ambiguous) {
  EXPECT_TRUE(count_votes({{0, "a", "A"}, {1, "b", "B"}, {2, "a", "A"}, {3, "b", "B"}}).ambiguous);
}

TEST(QuorumTest, dissenter_against_a_majority_fails) {
  RunResult run = maker::healthy_fleet(4, 1);
  set_size(run.devices[2], 131072);

  const FleetAnalysis analysis = reduce_fleet(run, maker::options());

  EXPECT_EQ(analysis.verdicts[2].verdict, Verdict::fail);
  EXPECT_EQ(analysis.verdicts[2].likely, FaultClass::structure);
  EXPECT_THAT(analysis.verdicts[2].reason, HasSubstr("128 KiB where 3 of 4 devices have 192 KiB"));
  EXPECT_EQ(analysis.counts.passed, 3u);
}

TEST(QuorumTest, unsure_inference_only_warns) {
  RunResult run = maker::healthy_fleet(4, 1);
  set_size(run.devices[2], 131072);
  maker::finding_of(run.devices[2], "cache.l1.size_bytes").confidence = 0.6;

  EXPECT_EQ(reduce_fleet(run, maker::options()).verdicts[2].verdict, Verdict::warn);
}

TEST(QuorumTest, tie_among_four_judges_nobody) {
  RunResult run = maker::healthy_fleet(4, 1);
  set_size(run.devices[0], 131072);
  set_size(run.devices[3], 131072);

  const FleetAnalysis analysis = reduce_fleet(run, maker::options());

  EXPECT_EQ(analysis.counts.passed, 4u);
  const auto found = findings_on(analysis, "cache.l1.size_bytes");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].device, FleetFinding::no_device);
  EXPECT_THAT(found[0].reason, HasSubstr("ambiguous: 128 KiB on 2, 192 KiB on 2"));
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

TEST(QuorumTest, gpcs_may_differ_between_healthy_dies) {
  RunResult run = maker::healthy_fleet(4, 1);
  maker::finding_of(run.devices[1], "topology.gpc_count").value = 7.0;

  const FleetAnalysis analysis = reduce_fleet(run, maker::options());

  EXPECT_EQ(analysis.counts.passed, 4u);
  EXPECT_EQ(findings_on(analysis, "topology.gpc_count").at(0).severity, Severity::info);
}

}  // namespace
}  // namespace sonde
