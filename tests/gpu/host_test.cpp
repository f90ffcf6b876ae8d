// The way to the host of a real GPU.
#include "gpu/gpu_test.hpp"

#include "base/error.hpp"

namespace sonde {
namespace {

using HostGpuTest = GpuTest;

HostProbe copy(HostKind kind, std::uint64_t bytes) {
  return {.kind = kind, .bytes = bytes, .repeats = 3};
}

double bytes_per_s(const HostProbe& probe, const Trace& trace) {
  return static_cast<double>(probe.bytes) / *std::ranges::min_element(trace.repeat_ns) * 1e9;
}

TEST_F(HostGpuTest, copies_of_every_size_arrive_and_none_outruns_its_link) {
  const Links links = device().links();
  for (HostKind kind : {HostKind::to_device, HostKind::from_device, HostKind::both}) {
    for (std::uint64_t bytes : {std::uint64_t{256}, 64_KiB, 32_MiB}) {
      const HostProbe probe = copy(kind, bytes);
      const Trace trace = device().run(probe);  // wrong data would throw

      ASSERT_EQ(trace.repeat_ns.size(), 3u);
      EXPECT_GT(bytes_per_s(probe, trace), bytes == 32_MiB ? 1e9 : 1e5);
      if (is_hopper() && links.pcie.most_width == 16) {
        EXPECT_LT(bytes_per_s(probe, trace), 65e9);  // PCIe 5.0 x16: 63 GB/s
      }
    }
  }
}

TEST_F(HostGpuTest, both_ways_at_once_take_less_than_one_after_the_other) {
  const auto least_ns = [&](HostKind kind) {
    const Trace trace = device().run(copy(kind, 64_MiB));
    return *std::ranges::min_element(trace.repeat_ns);
  };
  EXPECT_LT(least_ns(HostKind::both),
            0.95 * (least_ns(HostKind::to_device) + least_ns(HostKind::from_device)));
}

TEST_F(HostGpuTest, a_load_from_the_host_is_further_away_than_memory) {
  const Trace trace = device().run(
      HostProbe{.kind = HostKind::latency, .bytes = 256_KiB, .accesses = 256, .sm = 1, .seed = 5});
  ASSERT_EQ(trace.lanes.size(), 1u);
  EXPECT_EQ(trace.lanes[0].sm, 1);
  ASSERT_EQ(trace.lanes[0].window_cycles.size(), 256u);
  const double ns = median(trace.lanes[0].window_cycles) / device().info().sm_clock_hz * 1e9;
  EXPECT_THAT(ns, between(300, 5000));
}

TEST_F(HostGpuTest, the_driver_tells_of_links_in_plausible_numbers) {
  const Links links = device().links();
  if (links.pcie.width) {
    EXPECT_LE(*links.pcie.width, links.pcie.most_width.value_or(32));
    EXPECT_LE(*links.pcie.generation, links.pcie.most_generation.value_or(7));
  }
  EXPECT_LE(links.nvlinks.size(), 18u);
  const XidLog log = device().xids();
  EXPECT_TRUE(log.unreadable.empty() || log.codes.empty());
}

TEST_F(HostGpuTest, memory_goes_back_when_a_job_begins_and_probes_go_on) {
  device().run(copy(HostKind::both, 1_MiB));
  device().begin_job();
  EXPECT_NO_THROW(device().run(copy(HostKind::both, 1_MiB)));
}

}  // namespace
}  // namespace sonde
