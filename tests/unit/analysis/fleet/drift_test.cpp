#include "analysis/fleet/drift.hpp"

#include "analysis/fleet/reduce.hpp"
#include "analysis/fleet/repeats.hpp"
#include "night_maker.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace sonde {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

const auto unspoiled = [](DeviceResult&, DeviceConditions&, double) {};

/// The second of three GPUs loses clock and bandwidth as it warms.
void warm_second(DeviceResult& device, DeviceConditions& at, double over) {
  if (device.rank != 1) return;
  maker::number(device, "global.read_bytes_per_s") *= 1 - 0.06 * over;
  at.sm_clock_hz *= 1 - 0.06 * over;
  at.temperature_c += 27 * over;
}

std::vector<std::string> metrics_of(const std::vector<Drift>& drifts) {
  std::vector<std::string> metrics;
  for (const Drift& drift : drifts) metrics.push_back(drift.metric);
  return metrics;
}

std::vector<Drift> drifts_of(const maker::Night& night) {
  return find_drifts(night.run, night.conditions, maker::options());
}

FleetAnalysis analyse(const maker::Night& night, const std::vector<Drift>& drifts) {
  ReduceOptions options = maker::options();
  options.drifts = drifts;
  return reduce_fleet(centre_of_repeats(night.run), options);
}

TEST(DriftTest, what_falls_through_the_night_is_found_with_clock_and_temperature) {
  const maker::Night night = maker::night(3, 9, 0.002, 1, warm_second);
  const std::vector<Drift> drifts = drifts_of(night);

  EXPECT_THAT(metrics_of(drifts),
              UnorderedElementsAre("global.read_bytes_per_s", "conditions.sm_clock_hz"));
  const Drift& read = drifts.front();
  EXPECT_EQ(read.device, 1);
  EXPECT_EQ(read.repeats.size(), 9);
  EXPECT_EQ(read.span_s(), 4 * maker::hour_s);
  EXPECT_NEAR(read.value.fraction(), -0.06, 0.01);
  EXPECT_NEAR(read.sm_clock_hz.fraction(), -0.06, 1e-9);
  EXPECT_NEAR(read.temperature_c.last, 88, 1e-9);
}

TEST(DriftTest, it_warns_with_the_heat_as_its_cause) {
  const maker::Night night = maker::night(3, 9, 0.002, 1, warm_second);
  const std::vector<Drift> drifts = drifts_of(night);
  const FleetAnalysis analysis = analyse(night, drifts);

  std::size_t found = 0;
  for (const Charge& finding : analysis.charges) {
    if (!finding.metric.ends_with(" (drift)")) continue;  // the centre is low among its peers, too
    ++found;
    EXPECT_EQ(finding.severity, Severity::warn);
    EXPECT_EQ(finding.trouble, Trouble::thermal);
    EXPECT_EQ(finding.cause,
              "SM clock fell 6.0 % in 4.0 h (fitted), read 1.98 to 1.861 GHz, 61 to 88 C");
    EXPECT_THAT(finding.reason, HasSubstr("in 4.0 h"));
    EXPECT_THAT(finding.reason,
                HasSubstr("by a line fitted to 9 repeats, the first and the last read "));
  }
  EXPECT_EQ(found, 2);
  EXPECT_EQ(analysis.verdicts[1].verdict, Verdict::warn);
  EXPECT_EQ(analysis.verdicts[0].verdict, Verdict::pass);
  EXPECT_EQ(analysis.drifts.size(), 2);
}

TEST(DriftTest, readings_are_told_and_not_the_ends_of_the_line) {
  // A GPU that is warm after two thirds of the night: the line begins and ends where it never was.
  const maker::Night night =
      maker::night(3, 10, 0, 1, [](DeviceResult& device, DeviceConditions& at, double over) {
        if (device.rank != 1) return;
        const double warm = std::min(1.0, 1.5 * over);
        maker::number(device, "global.read_bytes_per_s") = 4e12 * (1 - 0.2 * warm);
        at.sm_clock_hz = 2e9 * (1 - 0.2 * warm);
        at.temperature_c = 41 + 47 * warm;
      });
  const std::vector<Drift> drifts = drifts_of(night);
  ASSERT_EQ(drifts.size(), 2u);
  EXPECT_GT(drifts[0].temperature_c.first, 42);
  EXPECT_GT(drifts[0].temperature_c.last, 90);
  const Readings read_c = first_and_last(drifts[0], &RepeatValue::temperature_c);
  EXPECT_EQ(read_c.first, 41);
  EXPECT_EQ(read_c.last, 88);

  const FleetAnalysis analysis = analyse(night, drifts);
  const auto of_read =
      std::ranges::find(analysis.charges, "global.read_bytes_per_s (drift)", &Charge::metric);
  ASSERT_NE(of_read, analysis.charges.end());
  EXPECT_THAT(of_read->reason, HasSubstr("read 4 to 3.2 TB/s; SM clock 2 to 1.6 GHz, 41 to 88 C"));
  EXPECT_THAT(of_read->cause, HasSubstr("read 2 to 1.6 GHz, 41 to 88 C"));
  EXPECT_EQ(of_read->value, "3.2 TB/s");
  EXPECT_EQ(of_read->reference, "4 TB/s");
}

TEST(DriftTest, repeats_without_a_reading_are_passed_over) {
  Drift drift;
  for (const double read_c : {0, 50, 60, 0}) drift.repeats.push_back({.temperature_c = read_c});
  const Readings read_c = first_and_last(drift, &RepeatValue::temperature_c);
  EXPECT_EQ(read_c.first, 50);
  EXPECT_EQ(read_c.last, 60);
  EXPECT_EQ(first_and_last(drift, &RepeatValue::sm_clock_hz).last, 0);
}

TEST(DriftTest, a_temperature_that_was_not_read_is_no_warming) {
  const maker::Night night =
      maker::night(3, 9, 0.002, 1, [](DeviceResult& device, DeviceConditions& at, double over) {
        if (device.rank != 1) return;
        maker::number(device, "global.read_bytes_per_s") *= 1 - 0.06 * over;
        at.sm_clock_hz *= 1 - 0.06 * over;
        if (over < 0.3) at.temperature_c = 0;
      });
  const std::vector<Drift> drifts = drifts_of(night);
  ASSERT_EQ(drifts.size(), 2u);
  EXPECT_EQ(drifts.front().temperature_c.change(), 0);
  for (const Charge& finding : analyse(night, drifts).charges) {
    EXPECT_NE(finding.trouble, Trouble::thermal) << finding.metric;
  }
}

TEST(DriftTest, without_a_change_of_clock_the_cause_is_what_the_metric_measures) {
  const maker::Night night =
      maker::night(1, 9, 0.002, 1, [](DeviceResult& device, DeviceConditions&, double over) {
        maker::number(device, "global.read_bytes_per_s") *= 1 - 0.08 * over;
      });
  const FleetAnalysis analysis = analyse(night, drifts_of(night));
  ASSERT_EQ(analysis.charges.size(), 1);
  EXPECT_EQ(analysis.charges[0].trouble, Trouble::memory_rate);
  EXPECT_EQ(analysis.charges[0].cause, "");
  EXPECT_THAT(analysis.charges[0].reason, Not(HasSubstr("clock")));
}

TEST(DriftTest, what_becomes_better_is_a_note) {
  const maker::Night night =
      maker::night(1, 9, 0.002, 1, [](DeviceResult& device, DeviceConditions&, double over) {
        maker::number(device, "global.read_bytes_per_s") *= 1 + 0.08 * over;
      });
  const FleetAnalysis analysis = analyse(night, drifts_of(night));
  ASSERT_EQ(analysis.charges.size(), 1);
  EXPECT_EQ(analysis.charges[0].severity, Severity::info);
  EXPECT_EQ(analysis.verdicts[0].verdict, Verdict::pass);
}

TEST(DriftTest, one_cycle_is_no_drift_and_two_are) {
  const auto slower_by = [](double cycles) {
    return maker::night(
        1, 20, 0, 1, [cycles](DeviceResult& device, DeviceConditions&, double over) {
          maker::number(device, "latency.l1_cycles") = over < 0.5 ? 36 : 36 + cycles;
        });
  };
  EXPECT_THAT(drifts_of(slower_by(1)), IsEmpty());
  EXPECT_THAT(metrics_of(drifts_of(slower_by(2))), ElementsAre("latency.l1_cycles"));
}

TEST(DriftTest, a_change_within_the_tolerance_or_in_two_repeats_is_none) {
  const auto falls_by = [](double share, std::size_t repeats) {
    return maker::night(1, repeats, 0.0001, 1,
                        [share](DeviceResult& device, DeviceConditions&, double over) {
                          maker::number(device, "global.read_bytes_per_s") *= 1 - share * over;
                        });
  };
  EXPECT_THAT(drifts_of(falls_by(0.02, 9)), IsEmpty());
  EXPECT_THAT(drifts_of(falls_by(0.2, 2)), IsEmpty());
  EXPECT_THAT(metrics_of(drifts_of(falls_by(0.2, 3))), ElementsAre("global.read_bytes_per_s"));
}

TEST(DriftTest, repeats_without_a_time_have_no_slope) {
  maker::Night night = maker::night(3, 9, 0.002, 1, warm_second);
  for (DeviceConditions& at : night.conditions) at.start_unix_s = 0;
  EXPECT_THAT(drifts_of(night), IsEmpty());
}

TEST(DriftTest, settings_of_a_sweep_are_kept_apart) {
  maker::Night night = maker::night(1, 8, 0.002, 1, unspoiled);
  night.run.provenance.axes = {{.option = "memory-percent", .unit = "1", .is_number = true}};
  for (std::size_t i = 0; i < 8; ++i) {
    night.run.provenance.points[i].at = {i % 2 == 0 ? "50" : "100"};
    const double over = static_cast<double>(i / 2) / 3;
    if (i % 2 == 1) {
      maker::number(night.run.devices[i], "global.read_bytes_per_s") *= 1 - 0.1 * over;
    }
  }
  const std::vector<Drift> drifts = drifts_of(night);
  ASSERT_EQ(drifts.size(), 1);
  EXPECT_EQ(drifts[0].device, 1);
  const FleetAnalysis analysis = analyse(night, drifts);
  EXPECT_THAT(analysis.charges.at(0).evidence, HasSubstr("with memory-percent=100"));
}

/// 20 nights of 64 GPUs whose throughput scatters by more than the tolerance.
TEST(DriftTest, scatter_alone_is_no_drift) {
  std::size_t flagged = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    flagged += drifts_of(maker::night(64, 16, 0.03, seed, unspoiled)).empty() ? 0 : 1;
  }
  EXPECT_LE(flagged, 2);  // by Benjamini-Hochberg at q = 0.05, one is expected
}

}  // namespace
}  // namespace sonde
