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

class HealthyFleetTest : public ::testing::TestWithParam<Trial> {};
class FaultyFleetTest : public ::testing::TestWithParam<Trial> {};

TEST_P(HealthyFleetTest, is_rarely_flagged) {
  std::size_t flagged = 0;
  for (std::size_t seed = 0; seed < GetParam().fleets; ++seed) {
    const RunResult run = maker::healthy_fleet(GetParam().devices, 1000 + seed);
    if (reduce_fleet(run, maker::options()).counts.flagged > 0) ++flagged;
  }

  EXPECT_LE(flagged, GetParam().fleets / 100);  // 1 %
}

TEST_P(FaultyFleetTest, shows_a_defect_of_a_fifth) {
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

const auto name_of = [](const auto& trial) { return fmt::format("n{}", trial.param.devices); };

INSTANTIATE_TEST_SUITE_P(Sizes, HealthyFleetTest,
                         ::testing::Values(Trial{2, 200}, Trial{3, 200}, Trial{8, 200},
                                           Trial{9, 100}, Trial{64, 100}, Trial{256, 100}),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Sizes, FaultyFleetTest,
                         ::testing::Values(Trial{3, 200}, Trial{8, 100}, Trial{9, 100},
                                           Trial{64, 20}),
                         name_of);

}  // namespace
}  // namespace sonde
