// Throughput comes out of queues: the published peaks, and what must hold for any of them.
#include "engine_support.hpp"

#include <gtest/gtest.h>

namespace sonde::sim {
namespace {

constexpr double gb = 1e9;

StreamProbe stream(const Device& device, StreamKind kind, int threads, int blocks_per_sm, int ilp,
                   std::uint64_t footprint_bytes) {
  StreamProbe probe;
  probe.kind = kind;
  probe.blocks = blocks_per_sm * device.info().sm_count;
  probe.block_threads = threads;
  probe.ilp = ilp;
  probe.footprint_bytes = footprint_bytes;
  probe.repeats = 3;
  return probe;
}

TEST(ThroughputTest, few_warps_leave_the_memory_idle) {
  const auto device = open_sim(quiet_json("gtx780"));
  const double one = rate(*device, stream(*device, StreamKind::read, 32, 1, 1, 64 << 20));
  const double two = rate(*device, stream(*device, StreamKind::read, 64, 1, 1, 64 << 20));
  const double deep = rate(*device, stream(*device, StreamKind::read, 32, 1, 2, 64 << 20));
  EXPECT_NEAR(two / one, 2, 0.1);
  EXPECT_NEAR(deep / one, 2, 0.1);
  // Little: 12 warps x 512 bytes in flight, 339 cycles at 1.006 GHz.
  EXPECT_NEAR(one, 12 * 512 / (339 / 1.006e9), 0.1 * one);
}

TEST(ThroughputTest, what_fits_the_l2_flows_faster) {
  const auto device = open_sim(quiet_json("h200"));
  const auto cached_rate = [&](std::uint64_t mib) {
    StreamProbe probe = stream(*device, StreamKind::read, 1024, 2, 4, mib << 20);
    probe.path = LoadPath::past_l1;
    probe.passes = 64;
    return rate(*device, probe);
  };
  EXPECT_GT(cached_rate(16), 9500 * gb);
  EXPECT_GT(cached_rate(36), 9500 * gb) << "lines are kept once and a half";
  EXPECT_LT(cached_rate(60), 5000 * gb);
}

TEST(ThroughputTest, low_bandwidth_slows_dram_and_not_the_l2_and_a_dip_passes) {
  const auto good = open_sim(quiet_json("h200"));
  const auto bad =
      open_sim(quiet_json("h200"), 1, load_faulty_model("h200+low_bandwidth=0.8").faults);
  const StreamProbe dram = stream(*good, StreamKind::read, 512, 4, 4, 4ULL << 30);
  StreamProbe l2 = stream(*good, StreamKind::read, 512, 4, 4, 16 << 20);
  l2.path = LoadPath::past_l1;
  l2.passes = 64;
  EXPECT_NEAR(rate(*bad, dram) / rate(*good, dram), 0.8, 0.01);
  EXPECT_NEAR(rate(*bad, l2) / rate(*good, l2), 1, 0.01);
  const auto dipped =
      open_sim(quiet_json("h200"), 1, load_faulty_model("h200+bandwidth_dip=0.8").faults);
  EXPECT_NEAR(rate(*dipped, dram) / rate(*good, dram), 0.8, 0.01);
  dipped->draw_anew();
  EXPECT_NEAR(rate(*dipped, dram) / rate(*good, dram), 1, 0.01);
}

/// Bytes per cycle of each of some SMs that read 32 KiB each again and again out of the L2.
std::vector<double> rates_together(Device& device, const std::vector<int>& sms) {
  StreamProbe probe = stream(device, StreamKind::read, 256, 1, 8, sms.size() * (32 << 10));
  probe.path = LoadPath::past_l1;
  probe.passes = 64;
  probe.sms = sms;
  std::vector<double> rates;
  for (const LaneTrace& lane : device.run(probe).lanes) {
    rates.push_back(64.0 * (32 << 10) / static_cast<double>(lane.elapsed_cycles));
  }
  return rates;
}

TEST(ThroughputTest, sms_of_a_tpc_share_its_port_and_others_do_not) {
  const auto device = open_sim(quiet_json("h200"));  // 64 bytes a cycle for an SM, 112 for a TPC
  for (double rate : rates_together(*device, {0, 2, 4})) EXPECT_NEAR(rate, 63.5, 1);
  const std::vector<double> mixed = rates_together(*device, {0, 1, 4});
  EXPECT_NEAR(mixed[0], 56, 1);
  EXPECT_NEAR(mixed[1], 56, 1);
  EXPECT_NEAR(mixed[2], 63.5, 1);
}

TEST(ThroughputTest, tpcs_of_a_gpc_share_its_port) {
  nlohmann::json model = quiet_json("h200");
  model["throughput"]["gpc_port_bytes_per_cycle"] = 160;
  const auto device = open_sim(model);
  const Die die = make_die(load_model("h200"), {}, die_seed(1, 0));
  std::vector<int> sms;  // the first of each of four TPCs of the GPC of SM 0
  for (int sm = 0; sms.size() < 4; sm += 2) {
    if (die.sm(sm).gpc == die.sms[0].gpc) sms.push_back(sm);
  }
  for (double rate : rates_together(*device, sms)) EXPECT_NEAR(rate, 40, 1);
  sms.back() = 2;  // of another GPC
  const std::vector<double> mixed = rates_together(*device, sms);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(mixed[i], 160.0 / 3, 1);
  EXPECT_NEAR(mixed[3], 63.5, 1);
}

TEST(ThroughputTest, only_kepler_has_bank_modes) {
  SharedChaseProbe probe{{0}, 4, BankMode::eight_bytes, 1, {0}};
  EXPECT_NO_THROW(open_sim(quiet_json("gtx780"))->run(probe));
  EXPECT_THROW(open_sim(quiet_json("gtx980"))->run(probe), DeviceError);
}

}  // namespace
}  // namespace sonde::sim
