// Job peer on simulated GPUs: the ranks of one node one after the other, each with its own row.
#include "device/backends/open_device.hpp"
#include "device/sim/model/model_files.hpp"
#include "jobs/suite.hpp"

#include <gmock/gmock.h>

#include <chrono>
#include <cmath>

namespace sonde::test {
namespace {

constexpr double h200_link_bytes_per_s = 18 * 20.8e9;  // lanes of the shipped model

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// A node whose GPUs never meet at the same time, if not told otherwise.
class Node {
 public:
  Node(const std::string& models, int ranks, std::uint64_t seed = 1)
      : backend_(parse_backend("sim:" + models)), seed_(seed) {
    for (int rank = 0; rank < ranks; ++rank) {
      const auto visible = list_visible_devices(backend_, rank, seed);
      gpus_.push_back({.uuid = visible.at(0).uuid, .rank = rank});
    }
    turns_ = {.begin = [] {},
              .end = [] {},
              .meet = [] { return Appointment{.refusal = "not asked"}; },
              .compare = [](TimeSpan) { return Overlap{.refusal = "not asked"}; }};
  }

  NodeTurns& turns() { return turns_; }
  NodeGpu& gpu(std::size_t rank) { return gpus_[rank]; }

  JobResult measure(std::size_t rank) const {
    std::vector<NodeGpu> peers = gpus_;
    peers.erase(peers.begin() + static_cast<std::ptrdiff_t>(rank));
    const DeviceChoice choice{.uuid = gpus_[rank].uuid, .ordinal = static_cast<int>(rank)};
    const auto device = open_device(backend_, choice, seed_, 1, peers);
    const auto jobs = select_jobs(SuiteLevel::full, {"peer"});
    return run_job(*jobs.back(), *device, SuiteLevel::full, seed_, {}, 600, {}, {},
                   {.gpus = gpus_, .own = rank, .turns = turns_})
        .result;
  }

 private:
  BackendChoice backend_;
  std::uint64_t seed_;
  std::vector<NodeGpu> gpus_;
  NodeTurns turns_;
};

const Finding& find(const JobResult& result, const char* metric) {
  const Finding* finding = find_finding(result.findings, metric);
  EXPECT_NE(finding, nullptr) << metric;
  static const Finding none;
  return finding != nullptr ? *finding : none;
}

std::vector<double> row(const JobResult& result, const char* metric) {
  const Finding& finding = find(result, metric);
  const auto* values = std::get_if<std::vector<double>>(&finding.value);
  EXPECT_NE(values, nullptr) << metric << ": " << finding.reason;
  return values != nullptr ? *values : std::vector<double>{};
}

void expect_row(const JobResult& result, const char* metric, std::size_t own, double expected,
                double tolerance) {
  const std::vector<double> values = row(result, metric);
  for (std::size_t rank = 0; rank < values.size(); ++rank) {
    if (rank == own) {
      EXPECT_TRUE(std::isnan(values[rank])) << metric;
    } else {
      EXPECT_NEAR(values[rank], expected, tolerance * expected) << metric << ", rank " << rank;
    }
  }
}

TEST(PeerSimTest, rows_are_what_the_model_declares) {
  const Node node("h200", 4);
  const auto link = *sim::load_model("h200").units.peer;
  const double direction = link.bytes_per_s;
  for (std::size_t rank = 0; rank < 4; ++rank) {
    const JobResult result = node.measure(rank);

    EXPECT_EQ(result.status, Status::ok) << result.reason;
    EXPECT_THAT(row(result, "peer.ranks"), ElementsAre(0, 1, 2, 3));
    EXPECT_EQ(std::get<std::string>(find(result, "peer.link").value), "nvlink");
    expect_row(result, "peer.latency_cycles", rank, link.latency_cycles, 0.002);
    expect_row(result, "peer.read_bytes_per_s", rank, direction, 0.01);
    expect_row(result, "peer.write_bytes_per_s", rank, direction, 0.01);
    expect_row(result, "peer.both_ways_bytes_per_s", rank, 2 * direction, 0.01);
    EXPECT_EQ(find(result, "peer.slowest").status, Status::not_present);
    EXPECT_GT(find(result, "peer.latency_cycles").reproducibility, 0);
    EXPECT_EQ(find(result, "peer.read_bytes_per_s").replicates, 5u);
  }
}

TEST(PeerSimTest, a_link_with_lanes_down_is_named_at_both_ends_and_no_other) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    const Node node("h200,h200,h200,h200+peer_lanes=1:0.9444", 4, seed);
    for (std::size_t rank = 0; rank < 4; ++rank) {
      const JobResult result = node.measure(rank);
      const Finding& slowest = find(result, "peer.slowest");
      if (rank == 0 || rank == 2) {
        EXPECT_EQ(slowest.status, Status::not_present) << slowest.reason;
        continue;
      }
      ASSERT_EQ(slowest.status, Status::ok) << "seed " << seed << ", rank " << rank;
      EXPECT_EQ(std::get<double>(slowest.value), rank == 1 ? 3 : 1);
      EXPECT_THAT(slowest.reason, HasSubstr("worse than the others in peer.read_bytes_per_s"));
    }
  }
}

TEST(PeerSimTest, two_gpus_have_a_link_but_nothing_to_compare_it_with) {
  const JobResult result = Node("h200,h200+peer_lanes=0:0.5", 2).measure(0);

  EXPECT_NEAR(row(result, "peer.read_bytes_per_s").at(1), h200_link_bytes_per_s / 2, 2e9);
  EXPECT_EQ(find(result, "peer.slowest").status, Status::not_resolvable);
}

TEST(PeerSimTest, one_gpu_asks_nobody_and_waits_for_nobody) {
  Node node("h200", 1);
  node.turns() = {};  // to call one of them would throw
  const JobResult result = node.measure(0);

  EXPECT_EQ(result.status, Status::ok) << result.reason;
  for (const Finding& finding : result.findings) {
    EXPECT_EQ(finding.status, Status::not_resolvable) << finding.metric;
    EXPECT_THAT(finding.reason, HasSubstr("one GPU of the node"));
  }
}

TEST(PeerSimTest, gpus_out_of_sight_are_left_out_with_the_reason) {
  Node node("h200", 3);
  node.gpu(2).reachable = false;
  const JobResult result = node.measure(0);

  const std::vector<double> reads = row(result, "peer.read_bytes_per_s");
  EXPECT_TRUE(std::isfinite(reads.at(1)));
  EXPECT_TRUE(std::isnan(reads.at(2)));
  EXPECT_THAT(find(result, "peer.read_bytes_per_s").reason, HasSubstr("rank 2: it is not visible"));
}

TEST(PeerSimTest, gpus_without_a_link_are_not_resolvable) {
  const JobResult result = Node("h200,gtx980", 2).measure(0);

  EXPECT_EQ(find(result, "peer.read_bytes_per_s").status, Status::not_resolvable);
  EXPECT_THAT(find(result, "peer.read_bytes_per_s").reason, HasSubstr("no peer access"));
}

std::int64_t now_unix_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

class AllAtOnceTest : public testing::Test {
 protected:
  AllAtOnceTest() {
    node_.turns().meet = [] { return Appointment{.begin_unix_ns = now_unix_ns()}; };
  }
  Finding measured() { return find(node_.measure(2), "peer.all_at_once_bytes_per_s"); }

  Node node_{"h200", 3};
};

TEST_F(AllAtOnceTest, is_the_rate_from_the_next_gpu) {
  node_.turns().compare = [](TimeSpan own) { return Overlap{.span = own}; };
  const Finding finding = measured();

  ASSERT_EQ(finding.status, Status::ok) << finding.reason;
  const auto& values = std::get<std::vector<double>>(finding.value);
  EXPECT_NEAR(values.at(0), h200_link_bytes_per_s, 5e9);  // the next one of the last is the first
  EXPECT_TRUE(std::isnan(values.at(1)));
  EXPECT_TRUE(std::isnan(values.at(2)));
}

TEST_F(AllAtOnceTest, without_enough_time_together_there_is_none) {
  node_.turns().compare = [](TimeSpan own) {
    return Overlap{.span = {own.end_unix_ns - 30'000'000, own.end_unix_ns}};
  };
  const Finding finding = measured();

  EXPECT_EQ(finding.status, Status::not_resolvable);
  EXPECT_THAT(finding.reason, HasSubstr("all GPUs were at work during only"));
}

TEST_F(AllAtOnceTest, refusals_are_the_reason) {
  node_.turns().compare = [](TimeSpan) { return Overlap{.refusal = "rank 1 was lost"}; };
  EXPECT_THAT(measured().reason, HasSubstr("rank 1 was lost"));
  node_.turns().meet = [] { return Appointment{.refusal = "rank 1 does not take part"}; };
  EXPECT_THAT(measured().reason, HasSubstr("rank 1 does not take part"));
}

}  // namespace
}  // namespace sonde::test
