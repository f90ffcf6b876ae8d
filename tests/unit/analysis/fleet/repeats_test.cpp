#include "analysis/fleet/grounds/grounds.hpp"

#include "analysis/fleet/verdict/reduce.hpp"

#include <gmock/gmock.h>

#include <cmath>

namespace sonde {
namespace {

using ::testing::ElementsAre;

DeviceResult device_with(const std::string& uuid, std::uint64_t point, double latency_cycles) {
  DeviceResult device;
  device.info.uuid = uuid;
  device.info.name = "a GPU";
  device.node = "n1";
  device.point_index = point;
  device.status = DeviceOutcome::complete;
  JobResult job;
  job.job = "latency";
  job.status = Status::ok;
  job.elapsed_s = 2;
  job.findings = {found("latency.l1_cycles", latency_cycles, 1, 10, 0.5)};
  job.findings.front().replicates = 10;
  device.jobs = {job};
  return device;
}

/// Two settings of the carve-out, each measured with two seeds.
RunResult sweep_of(const std::vector<DeviceResult>& devices) {
  RunResult run{.provenance = {}, .devices = devices, .unaudited = {}};
  run.provenance.axes = {{.option = "latency.carveout_bytes", .unit = "byte", .is_number = true}};
  for (const char* hash : {"a", "b", "c", "d"}) {
    const bool is_second = hash[0] == 'b' || hash[0] == 'd';
    run.provenance.points.push_back({.config_hash = hash,
                                     .config_json = "{}",
                                     .seed = hash[0] < 'c' ? 1U : 2U,
                                     .repeat_index = 0,
                                     .at = {is_second ? "65536" : "0"}});
  }
  return run;
}

TEST(RepeatsTest, a_device_has_one_row_for_each_setting_with_the_centre_of_its_seeds) {
  const RunResult run = sweep_of({device_with("GPU-1", 0, 30), device_with("GPU-1", 1, 40),
                                  device_with("GPU-1", 2, 32), device_with("GPU-1", 3, 40)});

  const RunResult centre = centre_of_repeats(run);

  ASSERT_EQ(centre.devices.size(), 2);
  const Finding& first = centre.devices[0].jobs[0].findings[0];
  EXPECT_EQ(std::get<double>(first.value), 31);
  EXPECT_NEAR(first.reproducibility, std::sqrt(2.0), 1e-9);
  EXPECT_EQ(first.repeatability, 0.5);
  EXPECT_EQ(first.samples, 20);
  EXPECT_EQ(first.replicates, 2) << "of ten in each repeat: the deviation is that between repeats";
  EXPECT_EQ(centre.devices[0].repeats, 2);
  EXPECT_EQ(centre.devices[0].jobs[0].elapsed_s, 4);
  EXPECT_EQ(describe_setting(centre.provenance, centre.devices[1].point_index),
            "latency.carveout_bytes=65536");
  EXPECT_EQ(std::get<double>(centre.devices[1].jobs[0].findings[0].value), 40);
}

/// Repeats of one GPU, each with its own value of the metric.
RunResult repeats_with(const char* metric, double confidence, const std::vector<Value>& values) {
  RunResult run = sweep_of({});
  run.provenance.axes.clear();
  for (Point& point : run.provenance.points) point.at.clear();
  for (const Value& value : values) {
    run.devices.push_back(device_with("GPU-1", run.devices.size(), 0));
    run.devices.back().jobs[0].findings = {found(metric, value, confidence, 1)};
  }
  return run;
}

TEST(RepeatsTest, what_most_repeats_say_counts_and_the_worst_outcome_shows) {
  const std::string lru = "lru", fifo = "fifo";
  RunResult run = repeats_with("cache.l1.replacement", 0.8, {lru, fifo, lru, lru});
  run.devices[2].jobs[0].status = Status::failed;
  run.devices[2].jobs[0].reason = "a launch failed";
  run.devices[2].status = DeviceOutcome::incomplete;
  run.devices[3].jobs[0].status = Status::failed;
  run.devices[3].jobs[0].reason = "the data were wrong";

  const RunResult centre = centre_of_repeats(run);

  ASSERT_EQ(centre.devices.size(), 1);
  const JobResult& job = centre.devices[0].jobs[0];
  EXPECT_EQ(std::get<std::string>(job.findings[0].value), "lru");
  EXPECT_NEAR(job.findings[0].confidence, 0.8 * 3 / 4, 1e-9);
  EXPECT_EQ(job.status, Status::failed);
  EXPECT_EQ(job.reason, "a launch failed; the data were wrong");
  EXPECT_EQ(centre.devices[0].status, DeviceOutcome::incomplete);
}

TEST(RepeatsTest, a_job_that_the_first_repeat_did_not_run_has_the_findings_of_the_others) {
  RunResult run = sweep_of({device_with("GPU-1", 0, 30), device_with("GPU-1", 2, 32)});
  run.devices[0].jobs[0].status = Status::not_run;
  run.devices[0].jobs[0].findings.clear();

  const JobResult job = centre_of_repeats(run).devices[0].jobs[0];

  EXPECT_EQ(job.status, Status::not_run);
  ASSERT_EQ(job.findings.size(), 1u);
  EXPECT_EQ(std::get<double>(job.findings[0].value), 32);
}

TEST(RepeatsTest, errors_of_a_device_that_is_given_up_in_its_last_repeat_count) {
  RunResult run = sweep_of({device_with("GPU-1", 0, 30), device_with("GPU-1", 2, 30)});
  run.devices[0].after = {.temperature_c = 60, .ecc_uncorrected = 3};

  EXPECT_EQ(centre_of_repeats(run).devices[0].after.ecc_uncorrected, 3);
}

TEST(RepeatsTest, a_line_is_one_that_a_repeat_found_and_no_mean_of_two) {
  const RunResult centre = centre_of_repeats(
      repeats_with("cache.instruction_l1.line_bytes", 0.6, {1024.0, 256.0, 1024.0, 256.0}));

  const Finding& line = centre.devices[0].jobs[0].findings[0];
  EXPECT_EQ(std::get<double>(line.value), 1024);
  EXPECT_NEAR(line.confidence, 0.6 / 2, 1e-9);
}

TEST(RepeatsTest, devices_are_compared_within_one_setting_and_counted_once) {
  const RunResult run = sweep_of({device_with("GPU-1", 0, 30), device_with("GPU-1", 1, 60),
                                  device_with("GPU-2", 0, 30), device_with("GPU-2", 1, 60)});

  const FleetAnalysis analysis = reduce_fleet(centre_of_repeats(run));

  ASSERT_EQ(analysis.groups.size(), 2);
  EXPECT_THAT(analysis.groups[0].devices, ElementsAre(0, 2));
  EXPECT_THAT(analysis.groups[1].label, ::testing::EndsWith(", latency.carveout_bytes=65536"));
  EXPECT_EQ(analysis.counts.seen, 2);
  EXPECT_EQ(analysis.counts.passed, 2);
  EXPECT_TRUE(analysis.charges.empty());
}

TEST(RepeatsTest, a_run_without_repeats_comes_back_as_it_is) {
  RunResult run;
  run.devices = {device_with("GPU-1", 0, 30), device_with("GPU-1", 0, 31)};
  EXPECT_EQ(centre_of_repeats(run).devices.size(), 2);
}

}  // namespace
}  // namespace sonde
