#include "analysis/fleet/verdict/reduce.hpp"
#include "analysis/report/content.hpp"
#include "analysis/report/report.hpp"

#include <gmock/gmock.h>

#include <limits>

namespace sonde {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr double none = std::numeric_limits<double>::quiet_NaN();

/// A GPU of a node of two whose link gives so many bytes per second.
DeviceResult device(const std::string& node, int rank, int first_rank, double rate) {
  DeviceResult result;
  result.node = node;
  result.rank = rank;
  result.info.uuid = "GPU-" + std::to_string(rank);
  result.info.name = "NVIDIA H200";
  result.status = DeviceOutcome::complete;
  const bool first = rank == first_rank;
  JobResult job;
  job.job = "peer";
  job.status = Status::ok;
  job.findings = {
      found("peer.ranks", std::vector<double>{1.0 * first_rank, first_rank + 1.0}, 1, 1),
      found("peer.link", "nvlink", 1, 1),
      found("peer.read_bytes_per_s", first ? std::vector{none, rate} : std::vector{rate, none}, 1,
            1),
      not_resolvable("peer.write_bytes_per_s", "its turn took too long")};
  result.jobs.push_back(std::move(job));
  return result;
}

RunResult run_of(std::vector<DeviceResult> devices) {
  RunResult run;
  run.devices = std::move(devices);
  return run;
}

TEST(PeerMatrixTest, has_a_row_and_a_column_for_each_gpu_of_the_node) {
  const auto matrices =
      peer_matrices(run_of({device("a", 1, 0, 3.5e11), device("a", 0, 0, 3.9e11)}), all_metrics());

  ASSERT_EQ(matrices.size(), 1u);  // nobody has written
  EXPECT_EQ(matrices[0].title, "a: peer.read_bytes_per_s, GB/s (nvlink)");
  ASSERT_EQ(matrices[0].table.columns.size(), 3u);
  EXPECT_EQ(matrices[0].table.columns[2].title, "rank 1");
  EXPECT_THAT(matrices[0].table.rows,
              ElementsAre(ElementsAre("0", "-", "390"), ElementsAre("1", "350", "-")));
}

TEST(PeerMatrixTest, a_gpu_without_a_value_for_each_has_no_row_but_its_column) {
  DeviceResult odd = device("a", 0, 0, 4e11);
  odd.jobs[0].findings[2].value = std::vector{1.0, 2.0, 3.0};
  const auto matrices = peer_matrices(run_of({device("a", 1, 0, 3.5e11), odd}), all_metrics());

  ASSERT_EQ(matrices.size(), 1u);
  EXPECT_THAT(matrices[0].table.rows, ElementsAre(ElementsAre("1", "350", "-")));
  EXPECT_TRUE(peer_matrices(run_of({odd}), all_metrics()).empty());
}

TEST(PeerMatrixTest, nodes_are_apart_and_those_with_a_slow_link_come_first) {
  RunResult run;
  for (int node = 0; node < 8; ++node) {
    for (int gpu = 0; gpu < 2; ++gpu) {
      run.devices.push_back(device("n" + std::to_string(node), 2 * node + gpu, 2 * node, 4e11));
    }
  }
  run.devices[12].jobs[0].findings.push_back(found("peer.slowest", 13.0, 1, 1));

  const auto matrices = peer_matrices(run, all_metrics());

  ASSERT_EQ(matrices.size(), 4u);
  EXPECT_THAT(matrices[0].title, HasSubstr("n6"));
  EXPECT_EQ(matrices[0].table.columns[1].title, "rank 12");
  EXPECT_THAT(matrices[1].title, HasSubstr("n0"));
}

TEST(PeerMatrixTest, settings_of_a_sweep_are_apart_but_not_their_repeats) {
  RunResult run = run_of({device("a", 0, 0, 3.9e11), device("a", 1, 0, 3.5e11),
                          device("a", 0, 0, 2.9e11), device("a", 1, 0, 2.5e11)});
  run.provenance.axes = {{.option = "peer.bytes", .unit = "byte"}};
  for (const char* at : {"1M", "1M", "2M"}) {
    run.provenance.points.push_back(
        {.config_hash = "", .config_json = "", .seed = 1, .repeat_index = 0, .at = {at}});
  }
  run.devices[1].point_index = 1;  // its first repeat was lost
  run.devices[2].point_index = run.devices[3].point_index = 2;

  const auto matrices = peer_matrices(run, all_metrics());

  ASSERT_EQ(matrices.size(), 2u);
  EXPECT_EQ(matrices[0].title, "a, peer.bytes=1M: peer.read_bytes_per_s, GB/s (nvlink)");
  EXPECT_EQ(matrices[1].title, "a, peer.bytes=2M: peer.read_bytes_per_s, GB/s (nvlink)");
  EXPECT_EQ(matrices[0].table.rows.size(), 2u);
}

TEST(PeerMatrixTest, every_report_for_people_has_it) {
  const RunResult run = run_of({device("a", 0, 0, 3.9e11), device("a", 1, 0, 3.5e11)});
  const FleetAnalysis analysis = reduce_fleet(run);

  for (const std::string& text : {render_terminal(run, analysis), render_html(run, analysis)}) {
    EXPECT_THAT(text, HasSubstr("peer.read_bytes_per_s, GB/s (nvlink)"));
  }
  const RunResult without = run_of({});
  EXPECT_THAT(render_terminal(without, reduce_fleet(without)), Not(HasSubstr("GPU TO GPU")));
}

}  // namespace
}  // namespace sonde
