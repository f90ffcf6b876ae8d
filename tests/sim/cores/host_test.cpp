// The job host finds the declared way to the host, and what is wrong with it.
#include "jobs/host/links.hpp"
#include "sim/job_on_sim.hpp"

#include <gmock/gmock.h>

namespace sonde::test {
namespace {

JobOnSim host_on(const std::string& model, std::uint64_t seed = 1) {
  return JobOnSim(model, seed, {"device", "clock", "host"});
}

using testing::Each;
using testing::ElementsAre;
using testing::IsEmpty;

/// Of a copy of the largest size, which has a start, too.
double rate_of(const sim::HostModel& host, double bytes_per_s, double copies) {
  const double bytes = copies * (64 << 20);
  return bytes / (bytes / bytes_per_s + host.copy_ns * 1e-9);
}

TEST(HostSimTest, bandwidth_and_latency_of_the_h200_come_back) {
  for (std::uint64_t seed : {1u, 2u}) {
    const JobOnSim sim = host_on("h200", seed);
    const sim::HostModel& host = *sim.truth().units.host;

    EXPECT_NEAR(sim.number("host.to_device_bytes_per_s"),
                rate_of(host, host.to_device_bytes_per_s, 1), 0.005 * host.to_device_bytes_per_s);
    EXPECT_NEAR(sim.number("host.from_device_bytes_per_s"),
                rate_of(host, host.from_device_bytes_per_s, 1),
                0.005 * host.from_device_bytes_per_s);
    EXPECT_NEAR(sim.number("host.both_bytes_per_s"), rate_of(host, host.both_bytes_per_s, 2),
                0.005 * host.both_bytes_per_s);
    EXPECT_NEAR(sim.number("host.latency_ns"), host.latency_ns, 0.005 * host.latency_ns);
    EXPECT_GE(sim.find("host.latency_ns").replicates, 5u);
    EXPECT_GE(sim.find("host.both_bytes_per_s").replicates, 5u);
  }
}

TEST(HostSimTest, healthy_links_are_whole) {
  const JobOnSim sim = host_on("h200");

  EXPECT_EQ(sim.number("host.link_generation"), 5);
  EXPECT_EQ(sim.number("host.link_width"), 16);
  EXPECT_EQ(sim.number("host.most_link_width"), 16);
  EXPECT_EQ(sim.find("host.link_width").confidence, 1);
  EXPECT_NEAR(sim.number("host.link_bytes_per_s"), 63.0e9, 0.1e9);  // PCIe 5.0 x16
  EXPECT_EQ(sim.number("host.nvlinks"), 18);
  for (const char* counter :
       {"host.pcie_replays", "host.new_pcie_replays", "host.new_nvlink_errors"}) {
    EXPECT_EQ(sim.number(counter), 0) << counter;
  }
  EXPECT_THAT(sim.vector("host.nvlink_crc_errors"), Each(0));
  EXPECT_THAT(sim.vector("host.new_nvlink_errors_by_link"), Each(0));
  EXPECT_THAT(sim.vector("host.xids"), IsEmpty());
}

TEST(HostSimTest, a_narrow_link_is_seen_and_halves_the_bandwidth) {
  const JobOnSim sim = host_on("h200+host_width=8");
  const sim::HostModel& host = *sim.truth().units.host;

  EXPECT_EQ(sim.number("host.link_width"), 8);
  EXPECT_EQ(sim.number("host.most_link_width"), 16);
  EXPECT_LT(sim.find("host.link_width").confidence, 0.9);  // it may be power saving
  EXPECT_NEAR(sim.number("host.to_device_bytes_per_s"), host.to_device_bytes_per_s / 2,
              0.01 * host.to_device_bytes_per_s);
}

TEST(HostSimTest, errors_of_links_are_counted_before_and_after) {
  const JobOnSim sim =
      host_on("h200+pcie_replays=2+nvlink_down=4+nvlink_errors=7+xid=79+new_xid=48:5+xid=13");

  EXPECT_EQ(sim.number("device.pcie_replays"), 0);  // it launches nothing
  EXPECT_EQ(sim.number("host.pcie_replays"), sim.number("host.new_pcie_replays"));
  EXPECT_GT(sim.number("host.new_pcie_replays"), 0);
  EXPECT_EQ(sim.number("host.nvlinks"), 17);
  EXPECT_NE(sim.find("host.nvlinks").reason.find("inactive: 4"), std::string::npos);
  EXPECT_EQ(sim.vector("host.nvlink_active")[4], 0);
  EXPECT_GT(sim.vector("host.nvlink_crc_errors")[7], 0);
  EXPECT_EQ(sim.vector("host.nvlink_crc_errors")[6], 0);
  EXPECT_GT(sim.number("host.new_nvlink_errors"), 0);
  EXPECT_EQ(sim.vector("host.new_nvlink_errors_by_link")[7], sim.number("host.new_nvlink_errors"));
  EXPECT_THAT(sim.vector("device.xids"), ElementsAre(79, 13));
  EXPECT_THAT(sim.vector("host.xids"), ElementsAre(79, 13, 48));
  EXPECT_THAT(sim.vector("host.new_xids"), ElementsAre(48));
}

TEST(HostSimTest, the_quick_suite_copies_one_way_at_a_time_and_looks_at_all_counters) {
  JobOnSim sim("h200+host_copies=0.25+pcie_replays=1");
  sim.run("device");
  sim.run("host", SuiteLevel::quick);
  const sim::HostModel& host = *sim.truth().units.host;

  EXPECT_NEAR(sim.number("host.to_device_bytes_per_s"), host.to_device_bytes_per_s / 4,
              0.01 * host.to_device_bytes_per_s);
  EXPECT_NEAR(sim.number("host.from_device_bytes_per_s"), host.from_device_bytes_per_s / 4,
              0.01 * host.from_device_bytes_per_s);
  for (const char* metric : {"host.both_bytes_per_s", "host.to_device_by_size_bytes_per_s",
                             "host.copy_bytes", "host.latency_ns"}) {
    EXPECT_EQ(sim.status(metric), Status::skipped) << metric;
  }
  EXPECT_EQ(sim.number("host.link_width"), 16);
  EXPECT_LE(sim.number("host.pcie_replays"), 8) << "probes of a quick look";
}

TEST(HostLinksTest, rates_of_pcie_are_those_of_the_specification) {
  EXPECT_DOUBLE_EQ(pcie_bytes_per_s(1, 1), 250e6);
  EXPECT_DOUBLE_EQ(pcie_bytes_per_s(2, 4), 2e9);
  EXPECT_NEAR(pcie_bytes_per_s(3, 16), 15.754e9, 1e6);
  EXPECT_NEAR(pcie_bytes_per_s(4, 16), 31.508e9, 1e6);
  EXPECT_NEAR(pcie_bytes_per_s(5, 16), 63.015e9, 1e6);
  EXPECT_EQ(pcie_bytes_per_s(0, 16), 0);
  EXPECT_EQ(pcie_bytes_per_s(7, 16), 0);
}

}  // namespace
}  // namespace sonde::test
