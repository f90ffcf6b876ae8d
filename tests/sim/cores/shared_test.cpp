// The shared job gives back what Mei and Chu 2016 measured (tables VII and VIII, figures 17 and 19)
// on the simulated copies of their GPUs.
#include "sim/job_on_sim.hpp"
#include "sim/shipped_json.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <numeric>

namespace sonde::test {
namespace {

struct PaperShared {
  const char* model;
  double bank_bytes;
  double latency_cycles;
  std::array<double, 5> conflict_cycles;  // 2, 4, 8, 16, 32 ways
  double measured_bytes_per_s;
  double peak_bytes_per_s;
  double clock_hz;
  double warps;  // for the peak, by Little's law
};

class SharedSimTest : public testing::TestWithParam<PaperShared> {};

TEST_P(SharedSimTest, published_latencies_and_banks_are_recovered) {
  const PaperShared& paper = GetParam();
  JobOnSim sim(paper.model, {"clock", "shared"}, SuiteLevel::quick);

  EXPECT_NEAR(sim.number("shared.latency_cycles"), paper.latency_cycles, 0.5);
  EXPECT_EQ(sim.number("shared.bank_count"), 32);
  EXPECT_EQ(sim.number("shared.bank_bytes"), paper.bank_bytes);
  for (std::size_t i = 0; i < paper.conflict_cycles.size(); ++i) {
    EXPECT_NEAR(sim.number(fmt::format("shared.conflict_cycles.{}", 2 << i)),
                paper.conflict_cycles[i], 0.5);
  }
  EXPECT_GT(sim.number("shared.conflict_linearity_r2"), 0.98);
}

/// Mei and Chu 2016, table VII, and section 6.1: the GTX 780 needs 94 warps, more than it can hold.
/// A bank of the GTX 560 Ti gives a word in two cycles.
TEST_P(SharedSimTest, published_throughput_and_peak_are_recovered) {
  const PaperShared& paper = GetParam();
  JobOnSim sim(paper.model, {"clock", "shared"});

  EXPECT_NEAR(sim.number("shared.bytes_per_s_per_sm"), paper.measured_bytes_per_s,
              0.03 * paper.measured_bytes_per_s)
      << sim.text("shared.best_shape");
  EXPECT_NEAR(sim.number("shared.peak_bytes_per_cycle_per_sm"),
              paper.peak_bytes_per_s / paper.clock_hz, 0.2);
  EXPECT_NEAR(sim.number("shared.littles_law_warps"), paper.warps, 1);
  const double efficiency = paper.measured_bytes_per_s / paper.peak_bytes_per_s;
  EXPECT_NEAR(sim.number("shared.efficiency"), efficiency, 0.1 * efficiency);
}

INSTANTIATE_TEST_SUITE_P(
    MeiAndChu2016, SharedSimTest,
    testing::Values(
        PaperShared{"gtx560ti", 4, 50, {87, 162, 311, 611, 1209}, 34.90e9, 60.80e9, 0.950e9, 25},
        PaperShared{"gtx780", 8, 47, {82, 96, 158, 257, 484}, 83.81e9, 257.54e9, 1.006e9, 94},
        PaperShared{"gtx980", 4, 28, {30, 34, 42, 58, 90}, 137.41e9, 163.84e9, 1.279e9, 28}),
    [](const auto& row) { return row.param.model; });

class SharedBankSimTest : public testing::TestWithParam<const char*> {};

TEST_P(SharedBankSimTest, a_bank_gives_words_at_its_declared_pace) {
  const JobOnSim sim(GetParam(), {"clock", "shared"}, SuiteLevel::quick);
  const sim::SharedModel& declared = sim.truth().units.shared;
  EXPECT_NEAR(sim.number("shared.bank_words_per_cycle"), 1 / declared.load_interval_cycles,
              0.01 / declared.load_interval_cycles);
  EXPECT_EQ(sim.number("shared.peak_bytes_per_cycle_per_sm"),
            declared.banks * declared.bank_bytes / declared.load_interval_cycles);
}

INSTANTIATE_TEST_SUITE_P(Shipped, SharedBankSimTest, testing::ValuesIn(shipped_models),
                         [](const auto& model) { return std::string(model.param); });

TEST(SharedPeakSimTest, a_word_every_so_many_whole_cycles_or_no_peak) {
  nlohmann::json model = json_of("gtx980");
  model["shared"]["load_interval_cycles"] = 1.5;
  const JobOnSim sim(write_model(model, "odd_banks"), {"clock", "shared"}, SuiteLevel::quick);
  EXPECT_NEAR(sim.number("shared.bank_words_per_cycle"), 1 / 1.5, 0.01);
  EXPECT_EQ(sim.status("shared.peak_bytes_per_cycle_per_sm"), Status::not_resolvable);
  EXPECT_EQ(sim.status("shared.efficiency"), Status::not_resolvable);
}

/// Wong 2010, table I, and Mei and Chu 2016, table III: of an SM, and of a block.
TEST(SharedMemoryTest, its_sizes_are_those_of_the_papers) {
  struct Paper {
    const char* model;
    double kib_per_sm, kib_per_block;
  };
  for (const Paper& paper : {Paper{"gtx280", 16, 16}, Paper{"gtx560ti", 48, 48},
                             Paper{"gtx780", 48, 48}, Paper{"gtx980", 96, 48}}) {
    JobOnSim sim(paper.model, {"device"}, SuiteLevel::quick);
    EXPECT_EQ(sim.number("device.shared_bytes_per_sm"), 1024 * paper.kib_per_sm) << paper.model;
    EXPECT_EQ(sim.number("device.shared_bytes_per_block"), 1024 * paper.kib_per_block)
        << paper.model;
  }
}

/// Mei 2014, table 1, and Mei and Chu 2016, table III: half a warp is served at a time.
TEST(SharedBanksSimTest, the_gtx280_has_16_banks_of_4_bytes) {
  JobOnSim sim("gtx280", {"clock", "shared"}, SuiteLevel::quick);

  EXPECT_EQ(sim.number("shared.bank_count"), 16);
  EXPECT_EQ(sim.number("shared.bank_bytes"), 4);
  EXPECT_GT(sim.number("shared.conflict_cycles.2"), sim.number("shared.latency_cycles") + 2);
  EXPECT_NEAR(sim.number("shared.conflict_cycles.32"), sim.number("shared.conflict_cycles.16"), 1);
}

TEST(SharedStrideSimTest, conflict_degree_is_gcd_of_stride_and_banks_on_fermi_and_maxwell) {
  for (const auto& [model, alone] : {std::pair{"gtx560ti", 50.0}, std::pair{"gtx980", 28.0}}) {
    JobOnSim sim(model, {"clock", "shared"}, SuiteLevel::quick);

    const auto latencies = sim.vector("shared.stride_latency_cycles");
    ASSERT_EQ(latencies.size(), 65u);
    EXPECT_NEAR(latencies[0], alone, 0.5) << model << ": broadcast";
    for (int stride = 1; stride <= 64; ++stride) {
      const int ways = std::gcd(stride, 32);
      const double expected =
          ways == 1 ? alone : sim.number(fmt::format("shared.conflict_cycles.{}", ways));
      EXPECT_NEAR(latencies[static_cast<std::size_t>(stride)], expected, 0.5)
          << model << ", stride " << stride;
    }
  }
}

TEST(SharedStrideSimTest, kepler_modes_differ_as_published) {
  JobOnSim sim("gtx780", {"clock", "shared"}, SuiteLevel::quick);

  const auto four = sim.vector("shared.stride_latency_cycles");
  const auto eight = sim.vector("shared.stride_latency_wide_mode_cycles");
  const double none = sim.number("shared.latency_cycles");
  const double two_way = sim.number("shared.conflict_cycles.2");
  EXPECT_NEAR(four[2], none, 0.5);
  EXPECT_NEAR(eight[2], none, 0.5);
  EXPECT_NEAR(four[4], two_way, 0.5);
  EXPECT_NEAR(eight[4], two_way, 0.5);
  EXPECT_NEAR(four[6], two_way, 0.5);
  EXPECT_NEAR(eight[6], none, 0.5);
}

}  // namespace
}  // namespace sonde::test
