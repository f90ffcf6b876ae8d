// What is read through NVML, from a library that stands for it (fake_nvml.cpp).
#include "device/cuda/session/nvml.hpp"

#include <gtest/gtest.h>

namespace sonde::cuda {
namespace {

GpuSettings read_settings() {
  const auto nvml = Nvml::open("GPU-fake");
  EXPECT_NE(nvml, nullptr);
  return nvml ? nvml->settings() : GpuSettings{};
}

TEST(NvmlTest, device_that_it_does_not_know_is_nothing) {
  EXPECT_EQ(Nvml::open("GPU-other"), nullptr);
}

TEST(NvmlTest, settings_come_in_the_units_of_their_names) {
  const GpuSettings settings = read_settings();
  EXPECT_EQ(settings.persistence, true);
  EXPECT_EQ(settings.throttle_reasons, 0x5u);
  EXPECT_DOUBLE_EQ(settings.power_limit_w.value(), 500);
  EXPECT_DOUBLE_EQ(settings.default_power_limit_w.value(), 700);
  EXPECT_EQ(settings.compute_mode, ComputeMode::one_process);
}

TEST(NvmlTest, links_to_peers_are_told_apart) {
  const auto nvml = Nvml::open("GPU-fake");
  ASSERT_NE(nvml, nullptr);
  EXPECT_EQ(nvml->link_to("GPU-peer-nvlink"), PeerLink::nvlink);
  EXPECT_EQ(nvml->link_to("GPU-peer-pcie"), PeerLink::pcie);
  EXPECT_EQ(nvml->link_to("GPU-other"), PeerLink::unknown);
}

TEST(NvmlTest, modes_and_counts_are_not_mixed_up) {
  const GpuSettings settings = read_settings();
  EXPECT_TRUE(settings.ecc->now);
  EXPECT_FALSE(settings.ecc->after_reset);
  EXPECT_EQ(settings.errors_since_load->corrected, 0u);
  EXPECT_EQ(settings.errors_since_load->uncorrected, 1u);
  EXPECT_EQ(settings.errors_ever->corrected, 10u);
  EXPECT_EQ(settings.errors_ever->uncorrected, 11u);
  EXPECT_EQ(settings.remaps->corrected, 3u);
  EXPECT_EQ(settings.remaps->uncorrected, 4u);
  EXPECT_TRUE(settings.remaps->pending);
  EXPECT_FALSE(settings.remaps->failed);
}

TEST(NvmlTest, what_the_library_lacks_or_does_not_support_stays_empty) {
  const GpuSettings settings = read_settings();
  EXPECT_EQ(settings.page_retirement_pending, std::nullopt);  // no such function
  EXPECT_FALSE(settings.mig.has_value());
  EXPECT_EQ(settings.foreign_processes, std::nullopt);  // not supported
  DeviceInfo info;
  Nvml::open("GPU-fake")->add_to(info);
  EXPECT_EQ(info.foreign_processes, 0);
}

TEST(NvmlTest, all_processes_of_a_busy_gpu_are_listed) {
  const auto nvml = Nvml::open("GPU-busy");
  ASSERT_NE(nvml, nullptr);
  const Processes processes = nvml->processes();
  ASSERT_EQ(processes.size(), 100u);
  EXPECT_EQ(processes.back(), 100u);
  EXPECT_GE(nvml->settings().foreign_processes, 99);  // this process may have one of the numbers
}

TEST(ProcessesTest, others_are_all_but_this_one_or_what_came_with_its_context) {
  const Processes own = find_own({11, 12}, {11, 12, 13, 20}, 20);
  EXPECT_EQ(own, Processes{20}) << "13 came with the context, but this one is there";
  EXPECT_EQ(count_others({11, 20}, own), 1);
  EXPECT_EQ(count_others({20}, own), 0);
  EXPECT_EQ(find_own({4011}, {4011, 4020}, 20), Processes{4020}) << "in a container";
}

TEST(NvmlTest, links_and_their_counters_are_not_mixed_up) {
  const auto nvml = Nvml::open("GPU-fake");
  ASSERT_NE(nvml, nullptr);
  const Links links = nvml->links();
  EXPECT_EQ(links.pcie.generation, 4);
  EXPECT_EQ(links.pcie.width, 8);
  EXPECT_EQ(links.pcie.most_generation, 5);
  EXPECT_EQ(links.pcie.most_width, 16);
  EXPECT_EQ(links.pcie.replays, 7u);
  ASSERT_EQ(links.nvlinks.size(), 3u);  // the library knows of no more
  EXPECT_TRUE(links.nvlinks[0].active);
  EXPECT_FALSE(links.nvlinks[1].active);
  EXPECT_EQ(links.nvlinks[1].crc_errors, std::nullopt);
  EXPECT_EQ(links.nvlinks[2].number, 2);
  EXPECT_EQ(links.nvlinks[2].replays, 200u);
  EXPECT_EQ(links.nvlinks[2].recoveries, 210u);
  EXPECT_EQ(links.nvlinks[2].crc_errors, 220u);
}

}  // namespace
}  // namespace sonde::cuda
