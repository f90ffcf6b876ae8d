#include "analysis/fleet/reduce.hpp"
#include "analysis/report/charts.hpp"

#include "unit/analysis/fleet/fleet_maker.hpp"

#include <gmock/gmock.h>

#include <limits>

namespace sonde {
namespace {

JobResult carveouts(std::vector<double> sizes) {
  return maker::job("cache.l1", {found("cache.l1.carveout_bytes",
                                       std::vector<double>{8192, 102400, 233472}, 1, 3),
                                 found("cache.l1.size_by_carveout_bytes", std::move(sizes), 1, 3)});
}

Json charts_of(const RunResult& run) {
  return carveout_charts(run, reduce_fleet(run, maker::options()));
}

TEST(CarveoutChartTest, shared_memory_and_l1_stand_on_each_other) {
  RunResult run = maker::healthy_fleet(1, 7);
  run.devices[0].jobs.push_back(carveouts({253952, 159744, 28672}));
  Json specs = charts_of(run);
  ASSERT_EQ(specs.size(), 1u);
  const Json& bars = entry_of(specs[0]["data"], "bars").at("values");
  ASSERT_EQ(bars.size(), 3u);
  EXPECT_EQ(bars.at(1),
            (Json{{"carveout", "100 KiB"}, {"shared", 100.0}, {"l1", 156.0}, {"text", "156 KiB"}}));
  EXPECT_EQ(specs[0]["title"]["text"], chart_label(run.devices[0]));
  EXPECT_EQ(specs[0]["legends"].size(), 1u);
}

TEST(CarveoutChartTest, a_flagged_device_is_dots_on_the_bars_of_most) {
  RunResult run = maker::healthy_fleet(4, 7);
  for (DeviceResult& device : run.devices) {
    device.jobs.push_back(carveouts({253952, 159744, 28672}));
  }
  run.devices[3].jobs.back() = carveouts({131072, 131072, 28672});
  maker::scale_finding(run.devices[3], "global.read_bytes_per_s", 0.8);
  Json specs = charts_of(run);
  ASSERT_EQ(specs.size(), 1u);
  EXPECT_EQ(entry_of(specs[0]["data"], "bars").at("values").at(0).at("l1"), 248);
  const Json& dots = entry_of(specs[0]["data"], "dots").at("values");
  ASSERT_EQ(dots.size(), 3u);
  EXPECT_EQ(dots.at(0).at("l1"), 128);
  EXPECT_EQ(dots.at(0).at("device"), chart_label(run.devices[3]));
}

TEST(CarveoutChartTest, what_was_not_resolved_is_left_out) {
  RunResult run = maker::healthy_fleet(1, 7);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  run.devices[0].jobs.push_back(carveouts({253952, nan, 28672}));
  Json specs = charts_of(run);
  EXPECT_EQ(entry_of(specs[0]["data"], "bars").at("values").size(), 2u);
  run.devices[0].jobs.back() = carveouts({253952, 28672});
  EXPECT_TRUE(charts_of(run).empty()) << "lists that do not belong together";
  EXPECT_TRUE(charts_of(maker::healthy_fleet(1, 7)).empty());
}

}  // namespace
}  // namespace sonde
