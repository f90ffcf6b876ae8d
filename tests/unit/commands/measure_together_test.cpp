#include "commands/measure/late_jobs.hpp"

#include "commands/commands.hpp"
#include "fleet/turns.hpp"
#include "store/run_reader.hpp"
#include "store/shard.hpp"
#include "store/write_run.hpp"
#include "support/random_run.hpp"

#include <gmock/gmock.h>

#include <chrono>
#include <filesystem>

namespace sonde {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

RankView view(int rank, int machine, std::vector<std::string> uuids) {
  return {.rank = rank, .machine = machine, .node = "n", .uuids = std::move(uuids)};
}

TEST(NodeGpusTest, are_those_of_the_node_by_rank_without_ranks_that_stand_down) {
  const std::vector<RankView> views{view(0, 0, {"A", "B"}), view(1, 1, {"C"}),
                                    view(2, 0, {"A", "B"}), view(3, 0, {"A", "B"})};
  const Assignment assignment = assign_devices(views);
  const std::vector<DeviceChoice> visible{{"A", 0}, {"B", 1}};

  const NodeView node = view_node(views, assignment, 2, parse_backend("cuda"), visible);
  const auto& gpus = node.gpus;

  ASSERT_EQ(gpus.size(), 2u);
  EXPECT_EQ(gpus[0].uuid, "A");
  EXPECT_EQ(gpus[0].rank, 0);
  EXPECT_EQ(gpus[1].uuid, "B");
  EXPECT_EQ(gpus[1].rank, 2);
  EXPECT_TRUE(gpus[0].reachable && gpus[1].reachable);
  EXPECT_EQ(view_node(views, assignment, 1, parse_backend("cuda"), {{"C", 0}}).gpus.size(), 1u);
  EXPECT_EQ(node.most_gpus, 2u);
}

TEST(NodeGpusTest, what_a_rank_does_not_see_it_cannot_reach_unless_it_is_simulated) {
  const std::vector<RankView> views{view(0, 0, {"A"}), view(1, 0, {"B"})};
  const Assignment assignment = assign_devices(views);

  const auto real = view_node(views, assignment, 0, parse_backend("cuda"), {{"A", 0}}).gpus;
  EXPECT_TRUE(real.at(0).reachable);
  EXPECT_FALSE(real.at(1).reachable);
  const auto simulated =
      view_node(views, assignment, 0, parse_backend("sim:h200"), {{"A", 0}}).gpus;
  EXPECT_TRUE(simulated.at(1).reachable);
}

/// Rank 0 of a node of simulated GPUs, measured by itself so far.
class MeasureTogetherTest : public testing::Test {
 protected:
  void measure(const std::string& backend, int ranks) {
    run_ = plan_run({.backend = backend,
                     .suite = "quick",
                     .jobs = {"peer"},
                     .output = (folder_ / "run.h5").string()},
                    "sonde run");
    plan_ = run_.points.front();
    fs::create_directories(plan_.parts);
    clear_turns(plan_.parts);
    for (int rank = 0; rank < ranks; ++rank) {
      const auto visible = list_visible_devices(plan_.backend, rank, plan_.options.seed);
      task_.node_gpus.push_back({.uuid = visible.at(0).uuid, .rank = rank});
    }
    task_.kind = TaskKind::measure;
    task_.device = {.uuid = task_.node_gpus[0].uuid, .ordinal = 0};
    measure_device(run_, task_, [](const Step&) {});
    task_.kind = TaskKind::measure_together;
    task_.limit_s = 60;
  }
  void together() {
    measure_late(plan_, task_, [](const Step&) {});
  }
  DeviceResult shard() const {
    return read_run(finished_shard(plan_.parts, task_.device.uuid), Depth::traces).devices.at(0);
  }
  static Status status_of(const DeviceResult& device, const char* metric) {
    const Finding* finding = find_finding(device, metric);
    return finding != nullptr ? finding->status : Status::not_run;
  }

  test::TemporaryFolder folder_;
  RunPlan run_;
  MeasurePlan plan_;
  Task task_;
};

TEST_F(MeasureTogetherTest, until_then_the_shard_says_what_is_missing) {
  measure("sim:h200", 2);

  EXPECT_EQ(shard().status, DeviceOutcome::incomplete);
  EXPECT_THAT(shard().reason, HasSubstr("job peer"));
  EXPECT_EQ(shard().jobs.size(), 1u);
}

TEST_F(MeasureTogetherTest, a_gpu_alone_is_whole_at_once) {
  measure("sim:h200", 1);

  EXPECT_EQ(shard().status, DeviceOutcome::complete) << shard().reason;
  EXPECT_EQ(shard().reason, "");
  EXPECT_EQ(status_of(shard(), "peer.read_bytes_per_s"), Status::not_resolvable);
  const auto digest =
      read_digest(finished_shard(plan_.parts, task_.device.uuid), plan_.provenance.config_hash);
  ASSERT_TRUE(digest.has_value());
  EXPECT_EQ(digest->jobs.size(), 2u);
  const std::string before = test::print(shard());
  together();
  EXPECT_EQ(test::print(shard()), before) << "what is there is not measured again";
}

TEST_F(MeasureTogetherTest, a_row_is_measured_without_the_ranks_that_left) {
  measure("sim:h200", 3);
  leave_node(plan_, 1);
  leave_node(plan_, 2);
  together();

  const DeviceResult device = shard();
  EXPECT_EQ(device.status, DeviceOutcome::complete) << device.reason;
  EXPECT_EQ(status_of(device, "peer.read_bytes_per_s"), Status::ok);
  EXPECT_EQ(status_of(device, "peer.all_at_once_bytes_per_s"), Status::not_resolvable);
  EXPECT_GT(device.jobs.back().probes.size(), 10u);
}

TEST_F(MeasureTogetherTest, a_lost_worker_is_the_reason_of_all_that_is_missing) {
  measure("sim:h200", 2);
  measure_late(plan_, task_, {}, "the worker process was killed");

  EXPECT_EQ(shard().status, DeviceOutcome::incomplete);
  EXPECT_EQ(shard().reason, "job peer: the worker process was killed");
  EXPECT_EQ(status_of(shard(), "peer.read_bytes_per_s"), Status::failed);
}

TEST_F(MeasureTogetherTest, afterwards_nobody_waits_for_this_rank) {
  measure("sim:h200", 2);
  leave_node(plan_, 1);
  together();
  Turns other(plan_.parts, "peer", {0, 1}, 1, {.ready_s = 30}, {});
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(other.begin(), "");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
}

}  // namespace
}  // namespace sonde
