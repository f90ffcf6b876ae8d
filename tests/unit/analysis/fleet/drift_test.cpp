#include "analysis/fleet/grounds/grounds.hpp"

#include "analysis/fleet/verdict/reduce.hpp"
#include "unit/analysis/fleet/fleet_maker.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <functional>

namespace sonde {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Night {
  RunResult run;  // with each repeat in a row of its own
  std::vector<DeviceConditions> conditions;
};

/// Repeats of healthy devices, half an hour apart: throughput scatters by `scatter` (a fraction)
/// from repeat to repeat.
/// @param spoil called with each row, its conditions and the share of the night that is over
Night make_night(std::size_t devices, std::size_t repeats, double scatter, std::uint64_t seed,
                 const std::function<void(DeviceResult&, DeviceConditions&, double)>& spoil) {
  Night night;
  Random random(seed);
  const RunResult fleet = maker::healthy_fleet(devices, seed);
  night.run.provenance = fleet.provenance;
  for (std::size_t repeat = 0; repeat < repeats; ++repeat) {
    night.run.provenance.points.push_back({.config_hash = fmt::format("{}", repeat),
                                           .config_json = "{}",
                                           .seed = seed,
                                           .repeat_index = repeat});
    for (DeviceResult device : fleet.devices) {
      device.point_index = repeat;
      for (const char* metric : {"global.read_bytes_per_s", "global.write_bytes_per_s"}) {
        double& value = std::get<double>(maker::finding_of(device, metric).value);
        value *= 1 + scatter * maker::gauss(random);
      }
      DeviceConditions at{.sm_clock_hz = 1.98e9,
                          .temperature_c = 61,
                          .start_unix_s = 1.7e9 + 1800.0 * static_cast<double>(repeat)};
      spoil(device, at, static_cast<double>(repeat) / static_cast<double>(repeats - 1));
      night.run.devices.push_back(std::move(device));
      night.conditions.push_back(at);
    }
  }
  return night;
}

double& number(DeviceResult& device, std::string_view metric) {
  return std::get<double>(maker::finding_of(device, metric).value);
}

const auto unspoiled = [](DeviceResult&, DeviceConditions&, double) {};

/// The second of three GPUs loses clock and bandwidth as it warms.
void warm_second(DeviceResult& device, DeviceConditions& at, double over) {
  if (device.rank != 1) return;
  number(device, "global.read_bytes_per_s") *= 1 - 0.06 * over;
  at.sm_clock_hz *= 1 - 0.06 * over;
  at.temperature_c += 27 * over;
}

std::vector<std::string> metrics_of(const std::vector<Charge>& drifts) {
  std::vector<std::string> metrics;
  for (const Charge& drift : drifts) {
    EXPECT_TRUE(drift.metric.ends_with(" (drift)"));
    metrics.push_back(drift.metric.substr(0, drift.metric.find(' ')));
  }
  return metrics;
}

std::vector<Charge> drifts_of(const Night& night) {
  return drift_charges(night.run, night.conditions, maker::registry);
}

FleetAnalysis analyse(const Night& night) {
  const std::vector<Charge> drifts = drifts_of(night);
  ReduceOptions options = maker::options();
  options.drifts = drifts;
  return reduce_fleet(centre_of_repeats(night.run), options);
}

TEST(DriftTest, what_falls_through_the_night_warns_with_the_heat_as_its_cause) {
  const Night night = make_night(3, 9, 0.002, 1, warm_second);
  const std::vector<Charge> drifts = drifts_of(night);

  EXPECT_THAT(metrics_of(drifts), ElementsAre("global.read_bytes_per_s", "conditions.sm_clock_hz"));
  for (const Charge& drift : drifts) {
    EXPECT_EQ(drift.device, 1);
    EXPECT_EQ(drift.severity, Severity::warn);
    EXPECT_EQ(drift.ground, Ground::past);
    EXPECT_EQ(drift.trouble, Trouble::thermal);
    EXPECT_NEAR(drift.size, -0.06, 0.01);
    EXPECT_EQ(drift.cause,
              "SM clock fell 6.0 % in 4.0 h (fitted), read 1.98 to 1.861 GHz, 61 to 88 C");
    EXPECT_THAT(drift.reason, HasSubstr("in 4.0 h by a line fitted to 9 repeats, the first and "
                                        "the last read "));
  }
  const FleetAnalysis analysis = analyse(night);
  EXPECT_EQ(analysis.verdicts[1].verdict, Verdict::warn);
  EXPECT_EQ(analysis.verdicts[0].verdict, Verdict::pass);
}

TEST(DriftTest, readings_are_told_and_not_the_ends_of_the_line) {
  // A GPU that is warm after two thirds of the night: the line begins and ends where it never was.
  const Night night =
      make_night(3, 10, 0, 1, [](DeviceResult& device, DeviceConditions& at, double over) {
        if (device.rank != 1) return;
        const double warm = std::min(1.0, 1.5 * over);
        number(device, "global.read_bytes_per_s") = 4e12 * (1 - 0.2 * warm);
        at.sm_clock_hz = 2e9 * (1 - 0.2 * warm);
        at.temperature_c = 41 + 47 * warm;
      });
  const std::vector<Charge> drifts = drifts_of(night);
  ASSERT_EQ(drifts.size(), 2u);
  EXPECT_THAT(drifts[0].reason, HasSubstr("read 4 to 3.2 TB/s; SM clock 2 to 1.6 GHz, 41 to 88 C"));
  EXPECT_THAT(drifts[0].cause, HasSubstr("read 2 to 1.6 GHz, 41 to 88 C"));
  EXPECT_EQ(drifts[0].value, "3.2 TB/s");
  EXPECT_EQ(drifts[0].reference, "4 TB/s");
}

TEST(DriftTest, a_temperature_that_was_not_read_is_no_warming) {
  const Night night =
      make_night(3, 9, 0.002, 1, [](DeviceResult& device, DeviceConditions& at, double over) {
        if (device.rank != 1) return;
        number(device, "global.read_bytes_per_s") *= 1 - 0.06 * over;
        at.sm_clock_hz *= 1 - 0.06 * over;
        if (over < 0.3) at.temperature_c = 0;
      });
  const std::vector<Charge> drifts = drifts_of(night);
  ASSERT_EQ(drifts.size(), 2u);
  EXPECT_THAT(drifts.front().cause, HasSubstr("61 to 61 C"));
  for (const Charge& drift : drifts) EXPECT_EQ(drift.trouble, Trouble::clock) << drift.metric;
}

TEST(DriftTest, without_a_change_of_clock_the_cause_is_what_the_metric_measures) {
  for (const double change : {-0.08, 0.08}) {
    const Night night =
        make_night(1, 9, 0.002, 1, [=](DeviceResult& device, DeviceConditions&, double over) {
          number(device, "global.read_bytes_per_s") *= 1 + change * over;
        });
    const FleetAnalysis analysis = analyse(night);
    ASSERT_EQ(analysis.charges.size(), 1);
    EXPECT_EQ(analysis.verdicts[0].verdict, change < 0 ? Verdict::warn : Verdict::pass);
    if (change > 0) continue;
    EXPECT_EQ(analysis.charges[0].trouble, Trouble::memory_rate);
    EXPECT_EQ(analysis.charges[0].cause, "");
    EXPECT_THAT(analysis.charges[0].reason, HasSubstr("; SM clock 1.98 to 1.98 GHz, 61 to 61 C"));
  }
}

TEST(DriftTest, one_cycle_is_no_drift_and_two_are) {
  const auto slower_by = [](double cycles) {
    return make_night(1, 20, 0, 1, [cycles](DeviceResult& device, DeviceConditions&, double over) {
      number(device, "latency.l1_cycles") = over < 0.5 ? 36 : 36 + cycles;
    });
  };
  EXPECT_THAT(drifts_of(slower_by(1)), IsEmpty());
  EXPECT_THAT(metrics_of(drifts_of(slower_by(2))), ElementsAre("latency.l1_cycles"));
}

TEST(DriftTest, a_change_within_the_tolerance_or_in_two_repeats_or_without_times_is_none) {
  const auto falls_by = [](double share, std::size_t repeats) {
    return make_night(1, repeats, 0.0001, 1,
                      [share](DeviceResult& device, DeviceConditions&, double over) {
                        number(device, "global.read_bytes_per_s") *= 1 - share * over;
                      });
  };
  EXPECT_THAT(drifts_of(falls_by(0.02, 9)), IsEmpty());
  EXPECT_THAT(drifts_of(falls_by(0.2, 2)), IsEmpty());
  Night night = falls_by(0.2, 3);
  EXPECT_THAT(metrics_of(drifts_of(night)), ElementsAre("global.read_bytes_per_s"));
  for (DeviceConditions& at : night.conditions) at.start_unix_s = 0;  // not known
  EXPECT_THAT(drifts_of(night), IsEmpty());
}

TEST(DriftTest, settings_of_a_sweep_are_kept_apart) {
  Night night = make_night(1, 8, 0.002, 1, unspoiled);
  night.run.provenance.axes = {{.option = "memory-percent", .unit = "1", .is_number = true}};
  for (std::size_t i = 0; i < 8; ++i) {
    night.run.provenance.points[i].at = {i % 2 == 0 ? "50" : "100"};
    const double over = static_cast<double>(i / 2) / 3;
    if (i % 2 == 1) {
      number(night.run.devices[i], "global.read_bytes_per_s") *= 1 - 0.1 * over;
    }
  }
  const std::vector<Charge> drifts = drifts_of(night);
  ASSERT_EQ(drifts.size(), 1);
  EXPECT_EQ(drifts[0].device, 1);
  const FleetAnalysis analysis = analyse(night);
  EXPECT_THAT(analysis.charges.at(0).evidence, HasSubstr("with memory-percent=100"));
}

/// 20 nights of 64 GPUs whose throughput scatters by more than the tolerance.
TEST(DriftTest, scatter_alone_is_no_drift) {
  std::size_t flagged = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    flagged += drifts_of(make_night(64, 16, 0.03, seed, unspoiled)).empty() ? 0 : 1;
  }
  EXPECT_LE(flagged, 1);  // one of a hundred is expected
}

}  // namespace
}  // namespace sonde
