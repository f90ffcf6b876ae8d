// Links between simulated GPUs: what both ends make of them, and what chases and streams see.
#include "device/sim/play/peer.hpp"

#include "sim/engine/engine_support.hpp"

#include <gmock/gmock.h>

namespace sonde::sim {
namespace {

using ::testing::Each;

constexpr const char* link_json =
    R"({"link": "nvlink", "latency_cycles": 900, "bytes_per_s": 4e10})";

FaultyModel with_link(const std::string& json) {
  nlohmann::json model = quiet_json("h200");
  model["peer"] = nlohmann::json::parse(json);
  return {.model = parse_model(model.dump(), "test"), .faults = {}};
}

/// GPU 0 with GPU 1 as its peer "P".
std::unique_ptr<Device> open_pair(const FaultyModel& own, const FaultyModel& other) {
  std::vector<LinkedPeer> peers{
      {.uuid = "P",
       .link = join_ends({.faulty = own, .world_rank = 0}, {.faulty = other, .world_rank = 1})}};
  return std::make_unique<SimDevice>(own, die_seed(1, 0), std::move(peers));
}

StreamProbe stream(StreamKind kind) {
  StreamProbe probe;
  probe.kind = kind;
  probe.blocks = 132;
  probe.block_threads = 512;
  probe.ilp = 4;
  probe.footprint_bytes = 1 << 28;
  probe.repeats = 3;
  probe.peer_uuid = "P";
  return probe;
}

double bytes_per_s(Device& device, const StreamProbe& probe) {
  return stream_bytes(probe) / device.run(probe).repeat_ns.back() * 1e9;
}

TEST(SimPeerTest, a_link_is_as_fast_as_its_slower_end) {
  const FaultyModel fast = with_link(link_json);
  const FaultyModel slow =
      with_link(R"({"link": "nvlink", "latency_cycles": 700, "bytes_per_s": 2e10})");

  const auto link = join_ends({fast, 0}, {slow, 1});

  ASSERT_TRUE(link.has_value());
  EXPECT_TRUE(link->nvlink);
  EXPECT_EQ(link->latency_cycles, 900u);  // of the GPU that loads
  EXPECT_EQ(link->bytes_per_s, 2e10);
}

TEST(SimPeerTest, lanes_that_either_end_lost_are_missing_at_both) {
  const FaultyModel whole = with_link(link_json);
  FaultyModel hurt = with_link(link_json);
  hurt.faults.lost_lanes = {{.part = 0, .share = 0.75}};

  EXPECT_EQ(join_ends({whole, 0}, {hurt, 1})->bytes_per_s, 3e10);
  EXPECT_EQ(join_ends({hurt, 1}, {whole, 0})->bytes_per_s, 3e10);
  EXPECT_EQ(join_ends({hurt, 1}, {whole, 2})->bytes_per_s, 4e10);  // to another GPU
}

TEST(SimPeerTest, no_way_leads_between_ends_of_different_kinds) {
  const FaultyModel nvlink = with_link(link_json);
  const FaultyModel pcie =
      with_link(R"({"link": "pcie", "latency_cycles": 3000, "bytes_per_s": 64e9})");
  const FaultyModel none = load_faulty_model("gtx980");

  EXPECT_FALSE(join_ends({nvlink, 0}, {pcie, 1}).has_value());
  EXPECT_FALSE(join_ends({nvlink, 0}, {none, 1}).has_value());
  EXPECT_EQ(open_pair(pcie, pcie)->link_to("P"), PeerLink::pcie);
  const auto device = open_pair(nvlink, none);
  EXPECT_THROW(device->run(stream(StreamKind::read)), DeviceError);
  EXPECT_NO_THROW(device->run(chase({0, 4096}, 2, 2)));  // and nothing else is lost
}

TEST(SimPeerTest, chases_take_the_latency_of_the_link) {
  const FaultyModel model = with_link(link_json);
  const auto device = open_pair(model, model);
  ChaseProbe probe = chase(steps(64, 4096), 64, 64, LoadPath::past_l1);
  probe.preparation = Preparation::as_is;
  probe.peer_uuid = "P";

  const std::uint32_t window = 900 + model.model.clock.sink_window_cycles;
  EXPECT_THAT(device->run(probe).lanes.at(0).window_cycles, Each(window));
  probe.timed_accesses = probe.recorded_accesses = 0;
  probe.amortised_accesses = 100;
  EXPECT_EQ(device->run(probe).lanes.at(0).elapsed_cycles, 100u * 900);
}

TEST(SimPeerTest, streams_take_one_direction_and_copies_both) {
  const FaultyModel model = with_link(link_json);
  const auto device = open_pair(model, model);

  EXPECT_NEAR(bytes_per_s(*device, stream(StreamKind::read)), 4e10, 4e8);
  EXPECT_NEAR(bytes_per_s(*device, stream(StreamKind::write)), 4e10, 4e8);
  EXPECT_NEAR(bytes_per_s(*device, stream(StreamKind::copy)), 8e10, 8e8);
  StreamProbe elsewhere = stream(StreamKind::read);
  elsewhere.peer_uuid = "Q";
  EXPECT_THROW(device->run(elsewhere), DeviceError);
}

TEST(SimPeerTest, few_accesses_in_flight_do_not_fill_a_link) {
  const FaultyModel model = with_link(link_json);
  const auto device = open_pair(model, model);
  StreamProbe probe = stream(StreamKind::read);
  probe.blocks = 1;
  probe.block_threads = 32;
  probe.ilp = 1;
  probe.footprint_bytes = 1 << 20;

  const double in_flight = 32 * 16;
  EXPECT_NEAR(bytes_per_s(*device, probe), in_flight / (900 / 1.98e9), 3e7);
}

}  // namespace
}  // namespace sonde::sim
