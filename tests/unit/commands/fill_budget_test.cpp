#include "commands/measure/fill_budget.hpp"

#include "commands/measure/measure.hpp"
#include "store/shard.hpp"
#include "support/random_run.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace sonde {
namespace {

namespace fs = std::filesystem;

class FillBudgetTest : public ::testing::Test {
 protected:
  /// Two points in each of four repeats; two GPUs, of ranks 0 and 1.
  FillBudgetTest() {
    plan_.options.suite = "full";
    plan_.options.time_budget = "1h";
    for (std::uint64_t i = 0; i < 8; ++i) {
      const std::string hash = std::to_string(i);
      plan_.provenance.points.push_back({.config_hash = hash, .config_json = "{}", .seed = 1});
      MeasurePlan& point = plan_.points.emplace_back();
      point.repeat_index = i / 2;
      point.parts = folder_.path() / hash;
      fs::create_directories(point.parts);
    }
    roster_ = {.provenance = plan_.provenance, .open_end = true};
    roster_.devices = {{.uuid = "GPU-0", .node = "n", .rank = 0},
                       {.uuid = "GPU-1", .node = "n", .rank = 1}};
  }

  void finish_points(const std::string& uuid, std::size_t count) const {
    for (std::size_t i = 0; i < count; ++i)
      std::ofstream(finished_shard(plan_.points[i].parts, uuid));
  }

  test::TemporaryFolder folder_;
  RunPlan plan_;
  Roster roster_;
};

TEST_F(FillBudgetTest, points_stand_that_all_gpus_have_finished_but_not_those_of_lost_ranks) {
  EXPECT_EQ(whole_points(plan_, roster_), 0);
  finish_points("GPU-0", 7);
  finish_points("GPU-1", 5);
  EXPECT_EQ(whole_points(plan_, roster_), 5);
  EXPECT_EQ(whole_points(plan_, roster_, {1}), 7);
  EXPECT_EQ(whole_points(plan_, roster_, {0, 1}), 7);
}

TEST_F(FillBudgetTest, a_gpu_that_was_given_up_holds_up_nobody_and_one_repeat_is_there_without_it) {
  const auto give_up = [this](const std::string& uuid, MeasurePlan& at) {
    at.provenance = test::some_provenance();
    DeviceResult device;
    device.info.uuid = uuid;
    Shard shard = Shard::create(at.parts, device, at.provenance);
    shard.append(job_without_answers(all_jobs().front(), Status::not_run, "it hangs"));
    shard.finish(device);
  };
  finish_points("GPU-0", 7);
  finish_points("GPU-1", 2);
  give_up("GPU-1", plan_.points[2]);
  EXPECT_EQ(whole_points(plan_, roster_), 7);
  EXPECT_EQ(whole_points(plan_, roster_, {0}), 7) << "those that a GPU has measured";
  roster_.devices = {{.uuid = "GPU-2", .node = "n", .rank = 0}};
  give_up("GPU-2", plan_.points[0]);
  EXPECT_EQ(whole_points(plan_, roster_), 2);
}

TEST_F(FillBudgetTest, a_plan_that_keeps_points_has_another_hash_and_says_what_stands) {
  const std::string before = plan_.provenance.config_hash;
  keep_points(5, plan_);
  EXPECT_EQ(plan_.points.size(), 5);
  EXPECT_EQ(plan_.provenance.points.size(), 5);
  EXPECT_NE(plan_.provenance.config_hash, before);
  EXPECT_EQ(describe_kept(plan_), "2 complete repeat(s) are kept, and 1 point(s) of the next one");
  keep_points(4, plan_);
  EXPECT_EQ(describe_kept(plan_), "2 complete repeat(s) are kept");
  EXPECT_TRUE(plan_.is_sweep());
}

}  // namespace
}  // namespace sonde
