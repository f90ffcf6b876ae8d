#include "analysis/fleet/grounds/grounds.hpp"

#include "base/random.hpp"
#include "unit/analysis/fleet/fleet_maker.hpp"

#include <gmock/gmock.h>

namespace sonde {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(HistoryTest, one_sm_that_slowed_down_is_found_by_its_place) {
  const RunResult before = maker::healthy_fleet(1, 1);
  RunResult after = before;
  maker::slow_sm(after.devices[0], "placement.l2_latency_cycles", 99, 15);

  const RunComparison comparison = compare_runs(before, after, maker::registry);

  ASSERT_EQ(comparison.changes.size(), 1u);
  EXPECT_THAT(comparison.changes[0].charge.reason, HasSubstr("place 99 moved"));
  EXPECT_EQ(comparison.changes[0].place, 99u);
  EXPECT_EQ(std::get<double>(comparison.changes[0].after),
            std::get<double>(comparison.changes[0].before) + 15);
}

/// Of 132 places the farthest one moves by three deviations, in any healthy pair of runs.
TEST(HistoryTest, the_farthest_place_of_a_noisy_map_is_no_change) {
  const auto noisy = [](std::uint64_t seed) {
    Random random(seed);
    std::vector<double> map;
    for (int sm = 0; sm < 132; ++sm) {
      double sum = 0;  // of twelve, nearly normal with a deviation of 1
      for (int i = 0; i < 12; ++i) sum += random.unit();
      map.push_back(280 + 4 * (sum - 6));
    }
    return map;
  };
  const auto set = [&](RunResult& run, std::uint64_t seed) {
    Finding& finding = maker::finding_of(run.devices[0], "placement.l2_latency_cycles");
    finding.value = noisy(seed);
    finding.replicates = 3;
    finding.reproducibility = 5.5;  // of one replicate; the median of three: 4
  };
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    RunResult before = maker::healthy_fleet(1, 1);
    RunResult after = before;
    set(before, seed);
    set(after, 100 + seed);
    EXPECT_TRUE(compare_runs(before, after, maker::registry).changes.empty()) << seed;
  }
}

TEST(HistoryTest, a_gradual_edge_may_lie_elsewhere_in_its_interval) {
  RunResult before = maker::healthy_fleet(1, 1);
  RunResult after = before;
  const auto set = [](RunResult& run, double low, double high) {
    Finding& size = maker::finding_of(run.devices[0], "cache.l2.size_bytes");
    size.value = (low + high) / 2;
    size.interval = {.low = low, .high = high};
  };
  set(before, 57e6, 59e6);
  set(after, 58.5e6, 60e6);
  EXPECT_TRUE(compare_runs(before, after, maker::registry).changes.empty());

  set(after, 40e6, 42e6);
  EXPECT_EQ(compare_runs(before, after, maker::registry).changes.size(), 1u);
}

TEST(HistoryTest, structure_that_is_not_sure_is_compared_by_tolerance) {
  RunResult before = maker::healthy_fleet(1, 1);
  Finding& size = maker::finding_of(before.devices[0], "cache.l2.size_bytes");
  size.confidence = 0.5;
  RunResult after = before;
  maker::scale_finding(after.devices[0], "cache.l2.size_bytes", 1.01);
  RunResult far_after = before;
  maker::scale_finding(far_after.devices[0], "cache.l2.size_bytes", 1.10);

  EXPECT_TRUE(compare_runs(before, after, maker::registry).changes.empty());
  EXPECT_EQ(compare_runs(before, far_after, maker::registry).changes.size(), 1u);
}

/// One GPU at each of these values of the axis.
RunResult swept(const char* axis, const std::vector<std::vector<std::string>>& settings) {
  return maker::sweep_of(maker::healthy_fleet(1, 1), {{.option = axis, .unit = "1"}}, settings);
}

TEST(HistoryTest, a_gpu_of_a_sweep_is_paired_and_listed_by_its_setting) {
  const RunResult before = swept("memory-percent", {{"50"}, {"100"}});
  RunResult after = swept("memory-percent", {{"100"}, {"25"}});
  maker::scale_finding(after.devices[0], "global.read_bytes_per_s", 0.8);

  const RunComparison comparison = compare_runs(before, after, maker::registry);

  const std::string uuid = before.devices[0].info.uuid;
  EXPECT_EQ(comparison.paired_gpus, 1u);
  EXPECT_THAT(comparison.only_before, ElementsAre(uuid + " (memory-percent=50)"));
  EXPECT_THAT(comparison.only_after, ElementsAre(uuid + " (memory-percent=25)"));
  ASSERT_EQ(comparison.changes.size(), 1u);
  EXPECT_EQ(comparison.changes[0].setting, "memory-percent=100");
  const RunResult others = swept("memory-percent", {{"25"}, {"75"}});
  EXPECT_EQ(compare_runs(before, others, maker::registry).paired_gpus, 0u);
}

TEST(HistoryTest, points_of_a_sweep_over_jobs_were_asked_for_the_same) {
  RunResult before = swept("jobs", {{"clock"}, {"shared"}});
  for (Point& point : before.provenance.points) {
    point.config_json = R"({"jobs": ")" + point.at[0] + R"("})";
  }
  before.provenance.config_json = before.provenance.points[0].config_json;
  RunResult after = before;
  std::swap(after.provenance.points[0], after.provenance.points[1]);
  after.provenance.config_json = after.provenance.points[0].config_json;

  EXPECT_EQ(compare_runs(before, after, maker::registry).other_options, "");
}

}  // namespace
}  // namespace sonde
