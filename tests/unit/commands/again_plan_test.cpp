#include "commands/measure/again_plan.hpp"

#include "analysis/fleet/verdict/reduce.hpp"
#include "base/error.hpp"
#include "support/random_run.hpp"
#include "unit/analysis/fleet/fleet_maker.hpp"

#include <gmock/gmock.h>

#include <fstream>

namespace sonde {
namespace {

using maker::healthy_fleet;
using maker::scale_finding;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr const char* read = "global.read_bytes_per_s";
constexpr const char* dram = "latency.dram_cycles";

class AgainPlanTest : public testing::Test {
 protected:
  AgainPlanTest() {
    run_.provenance.config_json = R"({"backend": "cuda", "suite": "full", "seed": 7})";
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
  std::string advice() const {
    return describe_unconfirmed(run_, reduce_fleet(run_, maker::options()), "runs/a b.h5");
  }
  const std::string& uuid(std::size_t device) const { return run_.devices[device].info.uuid; }

  RunResult run_ = healthy_fleet(8, 1);
  std::vector<std::string> present_;
};

TEST_F(AgainPlanTest, nobody_measures_again_in_a_healthy_fleet) {
  EXPECT_TRUE(plan().empty());
  EXPECT_EQ(advice(), "");
}

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
  EXPECT_THAT(advice(), HasSubstr("1 finding(s)"));
}

TEST_F(AgainPlanTest, a_job_that_was_tried_again_without_an_answer_is_not_tried_a_third_time) {
  scale_finding(run_.devices[5], read, 0.8);
  run_.devices[5].again = {
      maker::job("global.throughput", {no_answer(read, Status::failed, "it crashed")})};
  run_.devices[5].again[0].status = Status::failed;

  EXPECT_TRUE(plan().empty());
  EXPECT_THAT(advice(), HasSubstr("sonde run --resume"));
}

TEST_F(AgainPlanTest, where_the_ranks_have_gone_the_command_is_told) {
  scale_finding(run_.devices[5], read, 0.8);  // on node02

  EXPECT_THAT(advice(), AllOf(HasSubstr("1 finding(s)"),
                              HasSubstr("sonde run --resume --suite full --seed 7 -o "
                                        "\"runs/a b.h5\"\n")));

  run_.devices[5].again = {job_of(5, "global.throughput")};
  EXPECT_EQ(advice(), "");
}

TEST_F(AgainPlanTest, what_a_file_says_does_not_reach_the_terminal_or_the_shell) {
  scale_finding(run_.devices[5], read, 0.8);
  run_.provenance.config_json = R"-({"suite": "$(reboot)", "jobs": [1], "backend": {"a": 2}})-";

  EXPECT_THAT(advice(), AllOf(HasSubstr("--suite '$(reboot)'"), Not(HasSubstr("\x1b"))));
}

TEST_F(AgainPlanTest, the_plan_comes_back_from_its_file) {
  const test::TemporaryFolder folder;
  EXPECT_THROW(read_again_plan(folder.path()), StoreError);

  write_again_plan(folder.path(), {{.uuid = "GPU-1", .jobs = {"tlb", "shared"}, .limit_s = 12.5}});

  const auto tasks = read_again_plan(folder.path());
  ASSERT_EQ(tasks.size(), 1U);
  EXPECT_EQ(tasks[0].uuid, "GPU-1");
  EXPECT_THAT(tasks[0].jobs, ElementsAre("tlb", "shared"));
  EXPECT_EQ(tasks[0].limit_s, 12.5);
  clear_again_plan(folder.path());
  EXPECT_THROW(read_again_plan(folder.path()), StoreError);
  std::ofstream(folder / "again.json") << R"([{"uuid": 3}])";
  EXPECT_THROW(read_again_plan(folder.path()), StoreError);
  EXPECT_THROW(write_again_plan(folder / "missing", {}), StoreError);
}

}  // namespace
}  // namespace sonde
