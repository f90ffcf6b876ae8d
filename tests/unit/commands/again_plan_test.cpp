#include "commands/measure/again_plan.hpp"

#include "analysis/fleet/verdict/reduce.hpp"
#include "unit/analysis/fleet/fleet_maker.hpp"

#include <gmock/gmock.h>

namespace sonde {
namespace {

using maker::healthy_fleet;
using maker::scale_finding;
using testing::ElementsAre;

constexpr const char* read = "global.read_bytes_per_s";
constexpr const char* dram = "latency.dram_cycles";

class AgainPlanTest : public testing::Test {
 protected:
  AgainPlanTest() {
    for (DeviceResult& device : run_.devices) {
      present_.push_back(device.info.uuid);
      for (JobResult& job : device.jobs) job.elapsed_s = 2;
    }
  }

  JobResult& job_of(std::size_t device, const std::string& name) {
    return *std::ranges::find(run_.devices[device].jobs, name, &JobResult::job);
  }
  std::vector<AgainTask> plan() const {
    return plan_again(run_, reduce_fleet(run_, maker::options()), present_);
  }
  const std::string& uuid(std::size_t device) const { return run_.devices[device].info.uuid; }

  RunResult run_ = healthy_fleet(8, 1);
  std::vector<std::string> present_;
};

TEST_F(AgainPlanTest, nobody_measures_again_in_a_healthy_fleet) { EXPECT_TRUE(plan().empty()); }

TEST_F(AgainPlanTest, a_suspect_and_one_peer_measure_the_job_again) {
  scale_finding(run_.devices[5], read, 0.8);

  const auto tasks = plan();

  ASSERT_EQ(tasks.size(), 2U);
  EXPECT_NE(tasks[0].uuid, tasks[1].uuid);
  EXPECT_EQ(std::ranges::count(tasks, uuid(5), &AgainTask::uuid), 1);
  for (const AgainTask& task : tasks) {
    EXPECT_THAT(task.jobs, ElementsAre("global.throughput"));
    EXPECT_GT(task.limit_s, 2);
    EXPECT_LT(task.limit_s, 20);
  }
}

TEST_F(AgainPlanTest, a_job_of_two_findings_is_measured_once_in_the_order_of_charges) {
  scale_finding(run_.devices[5], "global.write_bytes_per_s", 0.9);
  scale_finding(run_.devices[5], read, 0.8);
  scale_finding(run_.devices[5], dram, 1.5);

  const auto tasks = plan();

  const auto own = std::ranges::find(tasks, uuid(5), &AgainTask::uuid);
  ASSERT_NE(own, tasks.end());
  EXPECT_THAT(own->jobs, ElementsAre("global.throughput", "latency"));
}

TEST_F(AgainPlanTest, a_device_without_a_rank_is_left_out_and_so_is_its_peer) {
  scale_finding(run_.devices[5], read, 0.8);
  std::erase(present_, uuid(5));
  EXPECT_TRUE(plan().empty());

  present_ = {uuid(5)};  // and no peer
  ASSERT_EQ(plan().size(), 1U);
  EXPECT_EQ(plan()[0].uuid, uuid(5));
}

TEST_F(AgainPlanTest, no_device_measures_again_for_longer_than_all_may_wait) {
  scale_finding(run_.devices[5], read, 0.8);
  scale_finding(run_.devices[5], dram, 1.5);
  job_of(5, "latency").elapsed_s = 100;
  for (std::size_t i = 0; i < 8; ++i) job_of(i, "global.throughput").elapsed_s = 30;

  for (const AgainTask& task : plan()) {
    EXPECT_THAT(task.jobs, ElementsAre("global.throughput"));
    EXPECT_LE(task.limit_s, most_again_s);
    EXPECT_GT(task.limit_s, 30);
  }
  EXPECT_EQ(plan().size(), 2U);
}

TEST_F(AgainPlanTest, a_job_that_was_tried_again_without_an_answer_is_not_tried_a_third_time) {
  scale_finding(run_.devices[5], read, 0.8);
  run_.devices[5].again = {
      maker::job("global.throughput", {no_answer(read, Status::failed, "it crashed")})};
  run_.devices[5].again[0].status = Status::failed;

  EXPECT_TRUE(plan().empty());
}

}  // namespace
}  // namespace sonde
