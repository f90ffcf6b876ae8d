// Totals of error counters: who stands out of the group, and who does not.
#include "analysis/fleet/verdict/reduce.hpp"
#include "base/random.hpp"
#include "tests/unit/analysis/fleet/fleet_maker.hpp"

#include <gmock/gmock.h>

namespace sonde {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

RunResult run_with_corrected(const std::vector<std::uint64_t>& counts) {
  RunResult run = maker::healthy_fleet(counts.size(), 1);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    run.devices[i].before.ecc_corrected = run.devices[i].after.ecc_corrected = counts[i];
  }
  return run;
}

std::vector<Charge> findings_of(const RunResult& run) {
  std::vector<Charge> charges = reduce_fleet(run, maker::options()).charges;
  std::erase_if(charges, [](const Charge& one) { return !one.metric.starts_with("health."); });
  return charges;
}

std::vector<std::size_t> flagged(const std::vector<std::uint64_t>& counts) {
  std::vector<std::size_t> devices;
  for (const Charge& finding : findings_of(run_with_corrected(counts))) {
    devices.push_back(finding.device);
  }
  return devices;
}

TEST(ErrorCountsTest, a_total_that_stands_still_is_held_against_the_peers) {
  const RunResult run = run_with_corrected({0, 2, 0, 1000, 1, 0});
  const std::vector<Charge> findings = findings_of(run);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].device, 3u);
  EXPECT_EQ(findings[0].metric, "health.ecc_corrected_total");
  EXPECT_EQ(findings[0].severity, Severity::warn);
  EXPECT_EQ(findings[0].trouble, Trouble::ecc_corrected);
  EXPECT_THAT(findings[0].reason,
              HasSubstr("1000 corrected memory errors since its driver was loaded where its peers "
                        "have 0.5 (median), n=6"));
  const FleetAnalysis analysis = reduce_fleet(run, maker::options());
  EXPECT_EQ(analysis.verdicts[3].verdict, Verdict::warn);
  EXPECT_EQ(analysis.counts.passed, 5u);

  RunResult rows = maker::healthy_fleet(4, 1);
  rows.devices[1].after.remapped_rows = 12;
  ASSERT_EQ(findings_of(rows).size(), 1u);
  EXPECT_EQ(findings_of(rows)[0].device, 1u);
  EXPECT_EQ(findings_of(rows)[0].metric, "health.remapped_rows");
}

TEST(ErrorCountsTest, only_many_more_than_those_of_the_peers_count) {
  EXPECT_THAT(flagged({0, 0, 0, 9, 0, 0}), IsEmpty());
  EXPECT_THAT(flagged({0, 0, 0, 10, 0, 0}), ElementsAre(3u));
  EXPECT_THAT(flagged({0, 300, 12, 90, 0, 700, 45, 20}), IsEmpty());
  EXPECT_THAT(flagged({100, 110, 95, 400, 105, 90}), IsEmpty());  // four times is no other order
  EXPECT_THAT(flagged({0, 1000}), IsEmpty());                     // none of two is usual
}

TEST(ErrorCountsTest, counts_by_chance_alone_flag_nobody) {
  Random random(7);
  for (int fleet = 0; fleet < 200; ++fleet) {
    std::vector<std::uint64_t> counts(64);
    for (std::uint64_t& count : counts) {  // 3 errors each: 300 chances of 1 %
      for (int i = 0; i < 300; ++i) count += random.unit() < 0.01;
    }
    EXPECT_THAT(flagged(counts), IsEmpty());
  }
}

}  // namespace
}  // namespace sonde
