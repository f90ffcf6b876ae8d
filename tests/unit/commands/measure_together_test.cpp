#include "commands/measure/late_jobs.hpp"

#include "commands/commands.hpp"
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

/// A node of simulated GPUs, of which the first few are measured by themselves so far.
class MeasureTogetherTest : public testing::Test {
 protected:
  void measure(const std::string& backend, int ranks, int measured) {
    run_ = plan_run({.backend = backend,
                     .suite = "quick",
                     .jobs = {"peer"},
                     .output = (folder_ / "run.h5").string()},
                    "sonde run");
    plan_ = run_.points.front();
    fs::create_directories(plan_.parts);
    for (int rank = 0; rank < ranks; ++rank) {
      const auto visible = list_visible_devices(plan_.backend, rank, plan_.options.seed);
      task_.node_gpus.push_back({.uuid = visible.at(0).uuid, .rank = rank});
    }
    for (int rank = 0; rank < measured; ++rank) {
      task_.rank = rank;
      task_.device = {.uuid = gpu(rank).uuid, .ordinal = rank};
      measure_device(run_, task_, [](const Step&) {});
    }
    task_ = {.kind = TaskKind::measure_together, .node_gpus = task_.node_gpus, .limit_s = 60};
  }
  void together() {
    measure_late(plan_, task_, [](const Step&) {});
  }
  NodeGpu& gpu(int rank) { return task_.node_gpus[static_cast<std::size_t>(rank)]; }
  DeviceResult shard(int rank = 0) {
    return read_run(finished_shard(plan_.parts, gpu(rank).uuid), Depth::traces).devices.at(0);
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

constexpr const char* peer_read = "peer.read_bytes_per_s";
constexpr const char* at_once = "peer.all_at_once_bytes_per_s";

TEST_F(MeasureTogetherTest, until_then_the_shard_says_what_is_missing) {
  measure("sim:h200", 2, 1);

  EXPECT_EQ(shard().status, DeviceOutcome::incomplete);
  EXPECT_THAT(shard().reason, HasSubstr("job peer"));
  EXPECT_EQ(shard().jobs.size(), 1u);
}

TEST_F(MeasureTogetherTest, a_gpu_alone_is_whole_at_once) {
  measure("sim:h200", 1, 1);

  EXPECT_EQ(shard().status, DeviceOutcome::complete) << shard().reason;
  EXPECT_EQ(shard().reason, "");
  EXPECT_EQ(status_of(shard(), peer_read), Status::not_resolvable);
  EXPECT_EQ(shard().jobs.size(), 2u);
  const std::string before = test::print(shard());
  together();
  EXPECT_EQ(test::print(shard()), before) << "what is there is not measured again";
}

TEST_F(MeasureTogetherTest, each_gpu_has_its_row_and_all_were_at_work_at_once) {
  measure("sim:h200", 3, 3);
  together();

  for (int rank = 0; rank < 3; ++rank) {
    const DeviceResult device = shard(rank);
    EXPECT_EQ(device.status, DeviceOutcome::complete) << device.reason;
    EXPECT_EQ(status_of(device, peer_read), Status::ok);
    EXPECT_EQ(status_of(device, at_once), Status::ok);
    EXPECT_GT(device.jobs.back().probes.size(), 10u);
  }
}

TEST_F(MeasureTogetherTest, a_row_is_measured_without_gpus_that_have_no_shard) {
  measure("sim:h200", 3, 1);
  together();

  EXPECT_EQ(shard().status, DeviceOutcome::complete) << shard().reason;
  EXPECT_EQ(status_of(shard(), peer_read), Status::ok);
  EXPECT_THAT(find_finding(shard(), at_once)->reason, HasSubstr("rank 1 of this node"));
}

TEST_F(MeasureTogetherTest, a_gpu_that_was_lost_costs_its_own_row) {
  measure("sim:h200,h200+sticky=1", 2, 1);
  task_.rank = 1;
  task_.device = {.uuid = gpu(1).uuid, .ordinal = 1};
  give_up_device(run_, task_, "it took all its workers along", [] {});
  together();

  EXPECT_EQ(status_of(shard(0), peer_read), Status::ok);
  EXPECT_EQ(status_of(shard(0), at_once), Status::not_resolvable);
  EXPECT_EQ(status_of(shard(1), peer_read), Status::failed);
  EXPECT_THAT(find_finding(shard(1), peer_read)->reason, HasSubstr("all its workers"));
}

TEST_F(MeasureTogetherTest, a_gpu_out_of_sight_has_no_links_and_has_not_failed) {
  measure("sim:h200", 2, 2);
  gpu(1).reachable = false;
  together();

  for (int rank = 0; rank < 2; ++rank) {
    EXPECT_EQ(shard(rank).status, DeviceOutcome::complete) << shard(rank).reason;
    EXPECT_EQ(status_of(shard(rank), peer_read), Status::not_resolvable);
  }
  EXPECT_THAT(find_finding(shard(1), peer_read)->reason,
              HasSubstr("rank 0, which measures the links"));
}

TEST_F(MeasureTogetherTest, its_end_leaves_no_row_under_way) {
  measure("sim:h200", 2, 2);
  task_.limit_s = 0;
  together();

  for (int rank = 0; rank < 2; ++rank) {
    EXPECT_EQ(shard(rank).reason, "job peer: not over after 0 s");
  }
}

TEST_F(MeasureTogetherTest, a_lost_worker_is_the_reason_of_all_that_is_missing) {
  measure("sim:h200", 3, 2);
  measure_late(plan_, task_, {}, "the worker process was killed");

  for (int rank = 0; rank < 2; ++rank) {
    EXPECT_EQ(shard(rank).status, DeviceOutcome::incomplete);
    EXPECT_EQ(shard(rank).reason, "job peer: the worker process was killed");
    EXPECT_EQ(status_of(shard(rank), peer_read), Status::failed);
  }
}

}  // namespace
}  // namespace sonde
