// How often healthy fleets are flagged, and how often a real defect is missed, over many seeds.
#include "analysis/fleet/verdict/reduce.hpp"

#include "unit/analysis/fleet/fleet_maker.hpp"

#include <gtest/gtest.h>

namespace sonde {
namespace {

struct Trial {
  std::size_t devices;
  std::size_t fleets;
};

class FalseAlarmTest : public ::testing::TestWithParam<Trial> {};

TEST_P(FalseAlarmTest, healthy_fleets_are_rarely_flagged) {
  std::size_t flagged = 0;
  for (std::size_t seed = 0; seed < GetParam().fleets; ++seed) {
    const RunResult run = maker::healthy_fleet(GetParam().devices, 1000 + seed);
    if (reduce_fleet(run, maker::options()).counts.flagged > 0) ++flagged;
  }

  EXPECT_LE(flagged, GetParam().fleets / 100);  // 1 %
}

TEST_P(FalseAlarmTest, defects_of_a_fifth_are_found) {
  std::size_t found = 0;
  for (std::size_t seed = 0; seed < GetParam().fleets; ++seed) {
    RunResult run = maker::healthy_fleet(GetParam().devices, 5000 + seed);
    const std::size_t bad = seed % GetParam().devices;
    maker::scale_finding(run.devices[bad], "global.read_bytes_per_s", 0.8);
    const FleetAnalysis analysis = reduce_fleet(run, maker::options());
    if (analysis.verdicts[bad].verdict == Verdict::fail && analysis.counts.flagged == 1) ++found;
  }

  EXPECT_GE(found, GetParam().fleets * 97 / 100);
}

INSTANTIATE_TEST_SUITE_P(Sizes, FalseAlarmTest,
                         ::testing::Values(Trial{3, 200}, Trial{4, 200}, Trial{8, 100},
                                           Trial{9, 100}, Trial{16, 60}, Trial{64, 20}),
                         [](const auto& trial) { return fmt::format("n{}", trial.param.devices); });

}  // namespace
}  // namespace sonde
