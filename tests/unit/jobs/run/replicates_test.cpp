// What replicates draw, when measuring ends, and what a throttled GPU costs.
#include "jobs/run/replicates.hpp"

#include "jobs/suite.hpp"
#include "support/stub_device.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <set>

namespace sonde {
namespace {

/// Throttled in the launches asked for; the replicates here take their samples from nowhere.
class ThrottledDevice final : public test::StubDevice {
 public:
  explicit ThrottledDevice(std::set<int> throttled)
      : StubDevice(132), throttled_(std::move(throttled)) {}

 protected:
  Trace play(const ProbeSpec&) override {
    Trace trace;
    if (throttled_.contains(++launches_)) {
      trace.conditions.throttle_reasons = thermal_throttle_mask;
    }
    return trace;
  }

 private:
  std::set<int> throttled_;
  int launches_ = 0;
};

struct Measuring {
  explicit Measuring(std::set<int> throttled = {}) : device(std::move(throttled)) {}
  ThrottledDevice device;
  std::vector<JobResult> earlier;
  JobRun run{device, "latency", SuiteLevel::standard, 1, earlier};
  std::vector<Draw> draws;

  Replicates measure(const std::function<double(std::size_t)>& value, const StoppingRule& rule) {
    return measure_replicates(
        run, "test",
        [&](const Draw& draw) {
          draws.push_back(draw);
          run.run("window", ClockProbe{ClockWindow::sink, {draw.sm}, 1});
          return std::vector{value(draws.size() - 1)};
        },
        rule);
  }
};

TEST(DrawTest, places_sms_and_orders_differ) {
  const Measuring measuring;
  std::set<Place> places;
  std::set<int> sms;
  std::set<std::uint64_t> seeds;
  for (std::size_t number = 0; number < 132; ++number) {
    const Draw draw = draw_replicate(measuring.run, "test", number);
    places.insert(draw.place);
    sms.insert(draw.sm);
    seeds.insert(draw.seed);
  }
  EXPECT_EQ(places.size(), 132u);
  EXPECT_EQ(sms.size(), 132u);
  EXPECT_EQ(*sms.begin(), 0);
  EXPECT_EQ(*sms.rbegin(), 131);
  EXPECT_EQ(seeds.size(), 132u);
}

TEST(DrawTest, a_few_lie_all_over_the_sms) {
  const Measuring measuring;
  for (const char* what : {"one", "another", "a third"}) {
    std::array<int, 4> quarters{};
    for (std::size_t number = 0; number < 16; ++number) {
      ++quarters.at(static_cast<std::size_t>(draw_replicate(measuring.run, what, number).sm) / 33);
    }
    for (const int count : quarters) EXPECT_NEAR(count, 4, 1) << what;
  }
}

TEST(ReplicatesTest, values_that_agree_end_it_early_and_those_that_scatter_take_all) {
  for (const auto& [other, count] : {std::pair{100, 6U}, std::pair{150, 30U}}) {
    const auto replicates =
        Measuring().measure([other = other](std::size_t i) { return i % 2 == 0 ? 100 : other; },
                            {.least = 6, .most = 30});
    EXPECT_EQ(replicates.pooled().size(), count);
  }
}

TEST(ReplicatesTest, those_of_a_throttled_gpu_are_dropped_and_counted) {
  Measuring measuring({2, 5});
  const auto replicates = measuring.measure(
      [](std::size_t i) { return i == 1 || i == 4 ? 180 : 100; }, {.least = 6, .most = 30});
  EXPECT_EQ(replicates.samples.size(), 6u);
  EXPECT_EQ(measuring.run.take_result().reason,
            "2 replicate(s) do not count and were measured anew: heat or power held the clocks "
            "down");
  EXPECT_EQ(std::ranges::count(replicates.pooled(), 180), 0);
}

TEST(ReplicatesTest, a_finished_job_tells_what_was_dropped) {
  ThrottledDevice device({2});
  const Job job{"latency", "", SuiteLevel::quick, [](JobRun& run) {
                  measure_replicates(
                      run, "test",
                      [&](const Draw& draw) {
                        run.run("window", ClockProbe{ClockWindow::sink, {draw.sm}, 1});
                        return std::vector{100.0};
                      },
                      {.least = 6, .most = 30});
                }};
  EXPECT_EQ(run_job(job, device, SuiteLevel::quick, 1, {}, 60, {}).result.reason,
            "1 replicate(s) do not count and were measured anew: heat or power held the clocks "
            "down");
}

TEST(ReplicatesTest, a_gpu_that_is_always_throttled_is_measured_all_the_same) {
  std::set<int> all;
  for (int launch = 1; launch <= 10; ++launch) all.insert(launch);
  Measuring measuring(all);
  const auto replicates =
      measuring.measure([](std::size_t) { return 100; }, {.least = 6, .most = 10});
  EXPECT_EQ(replicates.samples.size(), 10u);
  EXPECT_EQ(measuring.run.take_result().reason, "");
}

}  // namespace
}  // namespace sonde
