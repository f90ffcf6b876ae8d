#include "commands/measure/late_jobs.hpp"

#include "base/error.hpp"
#include "commands/commands.hpp"
#include "commands/measure/again_plan.hpp"
#include "store/output.hpp"
#include "store/run_reader.hpp"
#include "store/shard.hpp"
#include "store/write_run.hpp"
#include "support/random_run.hpp"

#include <gmock/gmock.h>

#include <filesystem>

namespace sonde {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

constexpr const char* read_metric = "global.read_bytes_per_s";

/// Devices of a simulated fleet, as ranks would measure them one after the other.
class MeasureAgainTest : public testing::Test {
 protected:
  void measure(const std::string& backend, int ranks) {
    run_ = plan_run({.backend = backend,
                     .suite = "quick",
                     .jobs = {"clock", "shared", "global.throughput"},
                     .output = (folder_ / "run.h5").string()},
                    "sonde run");
    plan_ = run_.points.front();
    fs::create_directories(plan_.parts);
    Roster roster{.provenance = plan_.provenance};
    for (int rank = 0; rank < ranks; ++rank) {
      const auto visible = list_visible_devices(plan_.backend, rank, plan_.options.seed);
      tasks_.push_back({.kind = TaskKind::measure, .rank = rank, .device = visible.at(0)});
      measure_device(run_, tasks_.back(), [](const Step&) {});
      roster.devices.push_back({.uuid = visible[0].uuid, .node = "n", .rank = rank});
    }
    write_roster(plan_.parts, roster);
  }
  Task again(std::size_t rank, double limit_s = 60) const {
    Task task = tasks_[rank];
    task.kind = TaskKind::measure_again;
    task.again_jobs = {"global.throughput", "shared"};
    task.limit_s = limit_s;
    return task;
  }
  DeviceResult shard(std::size_t rank) const {
    const auto path = finished_shard(plan_.parts, tasks_[rank].device.uuid);
    return read_run(path, Depth::traces).devices.at(0);
  }
  static double number(const std::vector<JobResult>& jobs, const char* metric) {
    for (const JobResult& job : jobs) {
      const Finding* finding = find_finding(job.findings, metric);
      if (finding != nullptr) return std::get<double>(finding->value);
    }
    ADD_FAILURE() << "no " << metric;
    return 0;
  }

  const test::TemporaryFolder folder_;
  RunPlan run_;
  MeasurePlan plan_;
  std::vector<Task> tasks_;
};

TEST_F(MeasureAgainTest, the_second_try_stands_beside_the_first_one_and_draws_afresh) {
  measure("sim:gtx980", 1);
  const DeviceResult first = shard(0);
  int begun = 0;

  measure_late(plan_, again(0), [&begun](const Step& step) { begun += step.begins ? 1 : 0; });

  const DeviceResult both = shard(0);
  EXPECT_EQ(begun, 2);
  EXPECT_EQ(both.status, DeviceOutcome::complete);
  ASSERT_EQ(both.again.size(), 2U);
  EXPECT_EQ(both.again[0].job, "global.throughput");
  EXPECT_EQ(both.again[0].status, Status::ok);
  EXPECT_FALSE(both.again[0].probes.empty());
  EXPECT_NEAR(number(both.again, read_metric) / number(first.jobs, read_metric), 1, 0.02);
  EXPECT_NE(both.again[0].probes[0].trace.conditions.seed,
            first.jobs[2].probes[0].trace.conditions.seed);
  DeviceResult without = both;
  without.again.clear();
  EXPECT_EQ(test::print(without), test::print(first));
}

TEST_F(MeasureAgainTest, it_ends_at_a_probe_when_its_time_is_over) {
  measure("sim:gtx980", 1);

  measure_late(plan_, again(0, 0), [](const Step&) {});

  const DeviceResult device = shard(0);
  ASSERT_EQ(device.again.size(), 2U);
  for (const JobResult& job : device.again) {
    EXPECT_EQ(job.status, Status::failed);
    EXPECT_THAT(job.reason, HasSubstr("not over after 0 s"));
  }
  EXPECT_EQ(device.jobs[2].status, Status::ok);
}

TEST_F(MeasureAgainTest, a_device_lost_in_the_second_try_loses_that_alone) {
  measure("sim:gtx980", 1);
  plan_.backend = parse_backend("sim:gtx980+sticky=2");

  measure_late(plan_, again(0), [](const Step&) {});

  const DeviceResult device = shard(0);
  EXPECT_EQ(device.status, DeviceOutcome::complete);
  ASSERT_EQ(device.again.size(), 2U);
  for (const JobResult& job : device.again) {
    EXPECT_EQ(job.status, Status::failed);
    EXPECT_THAT(job.reason, HasSubstr("illegal state"));
  }
}

TEST_F(MeasureAgainTest, a_shard_that_is_gone_is_an_error) {
  measure("sim:gtx980", 1);
  fs::remove(finished_shard(plan_.parts, tasks_[0].device.uuid));

  EXPECT_THROW(measure_late(plan_, again(0), [](const Step&) {}), StoreError);
  EXPECT_THROW(measure_late(plan_, again(0), {}, "why"), StoreError);
}

TEST_F(MeasureAgainTest, shards_are_judged) {
  measure("sim:gtx980+low_bandwidth=0.8,gtx980", 2);
  const auto tasks = judge_shards(plan_.parts);
  ASSERT_EQ(tasks.size(), 2U) << "both of a pair that differs";
  for (const AgainTask& task : tasks) EXPECT_EQ(task.jobs.front(), "global.throughput");
}

}  // namespace
}  // namespace sonde
