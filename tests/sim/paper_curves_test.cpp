// Curves that the papers draw against footprint or stride, as sweeps of the job `chase` give them
// back: where stairs begin and end, and how many accesses miss on each.
#include "device/some_sms.hpp"
#include "sim/job_on_sim.hpp"
#include "sim/published_numbers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

namespace sonde::test {
namespace {

/// Points of a sweep of `chase` on some SMs of a simulated GPU.
class Sweep {
 public:
  Sweep(const std::string& model, const std::vector<int>& sms)
      : whole_(model), device_(limit_to_sms(whole_.device(), sms)) {
    known_.push_back(run("clock", {}));
  }

  /// Mean cycles of an access; of code, whose loops cannot be timed, without the outer tenths.
  double cycles(const JobSettings& settings) {
    const bool is_code = settings.at("path") == "instruction";
    const bool has_others = settings.contains("others_bytes");
    const std::string metric =
        is_code || has_others ? "chase.latency_cycles" : "chase.amortised_cycles";
    const JobResult result = run("chase", settings);
    const Finding* found = find_finding(result.findings, metric);
    if (const double* value = std::get_if<double>(&found->value)) return *value;
    ADD_FAILURE() << metric << ": " << found->reason;
    return 0;
  }

 private:
  JobResult run(const char* name, const JobSettings& settings) {
    const Job& job = *select_jobs(SuiteLevel::full, {name}).back();
    return run_job(job, *device_, SuiteLevel::quick, 1, known_, 600, {}, settings).result;
  }

  JobOnSim whole_;
  std::unique_ptr<Device> device_;
  std::vector<JobResult> known_;
};

JobSettings chase(const char* path, double stride_bytes, double footprint_bytes) {
  return {{"path", path},
          {"order", "ascending"},
          {"stride_bytes", std::to_string(std::lround(stride_bytes))},
          {"footprint_bytes", std::to_string(std::lround(footprint_bytes))}};
}

/// Points of a figure. At the first no access misses; the last one gives the cost of a miss.
struct Curve {
  const char* name;
  const char* model;
  const char* path;
  std::vector<double> strides_bytes;  // one, or one for each point
  std::vector<double> footprints_bytes;
  std::vector<double> missed;  // accesses of a pass
  double tolerance = 0.03;
  const char* order = "ascending";
  const char* carveout_bytes = nullptr;
};

class PaperCurvesTest : public testing::TestWithParam<Curve> {};

TEST_P(PaperCurvesTest, come_back_from_a_sweep) {
  const Curve& curve = GetParam();
  const std::size_t count = curve.missed.size();
  ASSERT_EQ(curve.footprints_bytes.size(), count);
  Sweep sweep(curve.model, {0});
  std::vector<double> cycles, accesses;
  for (std::size_t i = 0; i < count; ++i) {
    const double stride_bytes =
        curve.strides_bytes.size() == 1 ? curve.strides_bytes[0] : curve.strides_bytes.at(i);
    JobSettings settings = chase(curve.path, stride_bytes, curve.footprints_bytes[i]);
    settings["order"] = curve.order;
    if (curve.carveout_bytes != nullptr) settings["carveout_bytes"] = curve.carveout_bytes;
    cycles.push_back(sweep.cycles(settings));
    accesses.push_back(curve.footprints_bytes[i] / stride_bytes);
  }
  const double miss_cycles =
      (cycles.back() - cycles.front()) * accesses.back() / curve.missed.back();
  ASSERT_GT(miss_cycles, 10);
  for (std::size_t i = 0; i < count; ++i) {
    EXPECT_NEAR((cycles[i] - cycles.front()) * accesses[i] / miss_cycles, curve.missed[i],
                curve.tolerance * curve.missed[i] + 1)
        << "at " << curve.footprints_bytes[i] << " bytes, point " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Wong2010, PaperCurvesTest,
    testing::Values(
        // Textures: lines of 32 bytes in 8 sets of 20 ways; lines of 256 in 128 sets of 8.
        Curve("figure_10_l1", "gtx280", "texture_1d", {64},
              {4 * kib, 5 * kib, 5 * kib + 128, 5 * kib + 256, 64 * kib, 256 * kib},
              {0, 0, 42, 84, 1024, 4096}),
        Curve("figure_10_l2", "gtx280", "texture_1d", {64, 64, 64, 64, 64, 256},
              {64 * kib, 256 * kib, 272 * kib, 288 * kib, 320 * kib, 320 * kib},
              {0, 0, 9 * 64, 9 * 128, 1280, 1280}),
        Curve("figure_11", "gtx280", "texture_1d", {8}, {5120, 5128, 5152, 5160, 5248, 5376, 8192},
              {0, 21, 21, 2 * 21, 4 * 21, 8 * 21, 256}),
        Curve("figure_12", "gtx280", "texture_1d", {64, 64, 64, 64, 64, 256},
              {256 * kib, 256 * kib + 64, 256 * kib + 256, 256 * kib + 320, 260 * kib, 288 * kib},
              {0, 9, 9, 2 * 9, 16 * 9, 128 * 9}),
        // TLBs: 16 entries of 512 KiB in one set; entries of 4 KiB in 1024 sets of 8.
        Curve("figure_13_l1", "gtx280", "ca", {512 * kib},
              {4 * mib, 8 * mib, 8.5 * mib, 12 * mib, 32 * mib}, {0, 0, 17, 24, 64}),
        Curve("figure_13_l2", "gtx280", "ca", {512 * kib},
              {16 * mib, 32 * mib, 32.5 * mib, 34 * mib, 36 * mib, 40 * mib},
              {0, 0, 9, 4 * 9, 8 * 9, 80}),
        Curve("figure_14_l1", "gtx280", "ca",
              {512 * kib, 821 * kib, 128 * kib, 448 * kib, 608 * kib, 821 * kib, 512 * kib},
              {16 * 512 * kib, 16 * 821 * kib, 17 * 128 * kib, 17 * 448 * kib, 17 * 608 * kib,
               17 * 821 * kib, 17 * 512 * kib},
              {0, 0, 0, 0, 17, 17, 17}),
        Curve("figure_14_l2", "gtx280", "ca", {512 * kib, mib, 2 * mib, 4 * mib, 8 * mib},
              {17 * 512 * kib, 17 * mib, 17 * 2 * mib, 17 * 4 * mib, 17 * 8 * mib},
              {0, 0, 9, 17, 17}),
        // As figure 13, with 512 sets; of two addresses in an entry the first misses.
        Curve("figure_16_l1", "gtx280", "texture_1d", {256 * kib},
              {6 * mib, 8 * mib, 8.25 * mib, 12 * mib, 16 * mib}, {0, 0, 17, 24, 32}),
        Curve("figure_16_l2", "gtx280", "texture_1d", {256 * kib},
              {12 * mib, 16 * mib, 16.5 * mib, 18 * mib, 20 * mib}, {0, 0, 9, 4 * 9, 40}),
        // 20 lines of a set hit, whether the 16 entries of the first TLB suffice or not.
        Curve("section_4_i", "gtx280", "texture_1d", {512 * kib},
              {8 * mib, 8.5 * mib, 10 * mib, 10.5 * mib, 16 * mib}, {0, 0, 0, 21, 32}),
        // Constants: 8 sets of 4 lines of 64 bytes; 8 of 4 and 16 of 8 of lines of 256.
        Curve("figure_17_l1", "gtx280", "constant", {256},
              {kib, 2 * kib, 2 * kib + 256, 2.5 * kib, 8 * kib}, {0, 0, 5, 10, 32}),
        Curve("figure_17_l2", "gtx280", "constant", {256},
              {4 * kib, 8 * kib, 8 * kib + 256, 9 * kib, 10 * kib, 32 * kib},
              {0, 0, 5, 4 * 5, 8 * 5, 128}),
        Curve("figure_17_l3", "gtx280", "constant", {256},
              {16 * kib, 32 * kib, 32 * kib + 256, 34 * kib, 36 * kib, 64 * kib},
              {0, 0, 9, 8 * 9, 16 * 9, 256}),
        Curve("figure_18", "gtx280", "constant", {16, 16, 16, 16, 16, 16, 64},
              {2048, 2064, 2112, 2128, 2304, 2560, 4096}, {0, 5, 5, 2 * 5, 4 * 5, 8 * 5, 64})),
    [](const auto& row) { return row.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Meltzer2013, PaperCurvesTest,
    testing::Values(
        // Lines of 32 bytes: from that stride on each access has one of its own.
        Curve("stride_without_l1", "c2070", "cg", {8, 8, 16, 32, 64, 128},
              {512 * kib, 1536 * kib, 1536 * kib, 1536 * kib, 1536 * kib, 1536 * kib},
              {0, 49152, 49152, 49152, 24576, 12288}),
        // With the L1, from its line of 128 bytes on.
        Curve("flat_from_the_line_on", "c2070", "ca", {8, 8, 32, 64, 128, 256, 512},
              {8 * kib, 192 * kib, 192 * kib, 192 * kib, 192 * kib, 192 * kib, 192 * kib},
              {0, 1536, 1536, 1536, 1536, 768, 384}, 0.03, "ascending", "49152"),
        // A translation misses once in 2 MiB.
        Curve("large_strides", "c2070", "ca", {4 * kib, 64 * kib, 512 * kib, mib, 2 * mib, 4 * mib},
              {32 * mib, 512 * mib, 512 * mib, 512 * mib, 512 * mib, 512 * mib},
              {0, 256, 256, 256, 256, 128}),
        // Victims are random: a set with a line too many misses twice in a pass, one with two 3.7
        // times. So stairs of a line are equal for a way of 4096 and of 8192 bytes.
        Curve("l1_of_16_kib", "c2070", "ca", {128},
              {12 * kib, 16 * kib, 17 * kib, 18 * kib, 20 * kib, 24 * kib, 256 * kib},
              {0, 0, 16, 32, 64, 118, 2048}, 0.02, "ascending", "49152"),
        Curve("l1_of_48_kib", "c2070", "ca", {128},
              {40 * kib, 48 * kib, 50 * kib, 52 * kib, 56 * kib, 64 * kib, 512 * kib},
              {0, 0, 32, 64, 128, 242, 4096}, 0.02, "ascending", "16384"),
        // 1280 sets of 14 ways, 512 of 13: stairs over 1792 lines, 57,344 bytes.
        Curve("l2", "c2070", "cg", {32},
              {704 * kib, 768 * kib, 784 * kib, 800 * kib, 816 * kib, 824 * kib, 840 * kib},
              {0, 0, 512 * 14, 512 * (14 + 15), 512 * (14 + 15 + 15), 26368, 26880}, 0.03,
              "random")),
    [](const auto& row) { return row.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Mei, PaperCurvesTest,
    testing::Values(
        // 2014, figure 9: 50 % of the 128 lines miss where each of the 32 sets has one too many.
        Curve("figure_9", "gtx560ti", "ca", {128},
              {12 * kib, 16 * kib, 17 * kib, 18 * kib, 20 * kib, 256 * kib},
              {0, 0, 16, 32, 64, 2048}, 0.06, "ascending", "49152"),
        // 2014, figure 11, and 2016, figure 10: a set of 17 ways, then six of 8. The papers count
        // the entries that leave; the page that is too many misses, too.
        Curve("l2_tlb", "gtx560ti", "cg", {2 * mib},
              {96 * mib, 130 * mib, 132 * mib, 134 * mib, 136 * mib, 142 * mib, 144 * mib,
               160 * mib},
              {0, 0, 18, 18 + 9, 18 + 2 * 9, 18 + 5 * 9, 72, 80}),
        // 2016, figure 5: Saavedra's curve of 48 KB rises up to the line of 32 bytes, and falls
        // where the 384 lines of the cache suffice; Wong's has four stairs of 128 bytes.
        Curve("figure_5_saavedra", "gtx780", "texture_1d", {32, 128, 8, 16, 64, 32},
              {12 * kib, 48 * kib, 48 * kib, 48 * kib, 48 * kib, 48 * kib},
              {0, 0, 1536, 1536, 768, 1536}),
        Curve("figure_5_wong", "gtx780", "texture_1d", {32},
              {12288, 12320, 12416, 12448, 12544, 12672, 12800, 16384},
              {0, 97, 100, 197, 200, 300, 400, 512})),
    [](const auto& row) { return row.param.name; });

/// Wong 2010, figure 22: code that goes straight on is fetched ahead, which hides the L1 of 4 KB.
TEST(PaperCodeTest, straight_code_shows_the_l2_and_the_l3_and_no_l1) {
  Sweep sweep("gtx280", {0});
  const auto cycles = [&](double footprint_bytes) {
    return sweep.cycles(chase("instruction", 128, footprint_bytes));
  };
  const double near = cycles(3 * kib);
  for (const double inside : {4 * kib, 5 * kib, 8 * kib}) EXPECT_NEAR(cycles(inside), near, 2);
  EXPECT_GT(cycles(9 * kib), near + 20);
  const double behind_l2 = cycles(10 * kib);
  EXPECT_GT(behind_l2, cycles(9 * kib) + 20) << "sets of the L2 overflow one by one";
  for (const double inside : {16 * kib, 32 * kib}) {
    EXPECT_NEAR(cycles(inside), behind_l2, 0.03 * behind_l2);
  }
  EXPECT_GT(cycles(34 * kib), behind_l2 + 50);
  EXPECT_GT(cycles(36 * kib), cycles(34 * kib) + 50);
  EXPECT_NEAR(cycles(48 * kib), cycles(36 * kib), 0.03 * cycles(36 * kib));
}

/// Wong 2010, figure 23: four stairs of 256 bytes from 4 KB on where the L2 is full of others'
/// code.
TEST(PaperCodeTest, the_l1_shows_where_two_sms_of_the_tpc_fill_the_l2) {
  Sweep sweep("gtx280", {0, 1, 2});
  const auto cycles = [&](double footprint_bytes) {
    JobSettings settings = chase("instruction", 128, footprint_bytes);
    settings["others_bytes"] = "8192";
    return sweep.cycles(settings);
  };
  EXPECT_NEAR(cycles(4 * kib), 72, 2);
  double before = cycles(4 * kib);
  for (int set = 1; set <= 4; ++set) {
    const double end = 4 * kib + 256 * set;
    const double stair = cycles(end);
    EXPECT_GT(stair, before + 5) << end;
    EXPECT_NEAR(cycles(end - 128), stair, 5) << end;
    before = stair;
  }
  EXPECT_NEAR(cycles(5 * kib + 256), before, 0.03 * before);
  EXPECT_NEAR(cycles(6 * kib), before, 0.03 * before);
}

/// Wong 2010, figure 20: two SMs see half of a cache that they share.
TEST(PaperSharingTest, two_sms_halve_the_constant_caches_that_they_share) {
  const auto cycles = [](int other, double footprint_bytes) {
    JobSettings settings = chase("constant", 256, footprint_bytes);
    settings["others_bytes"] = settings["footprint_bytes"];
    return Sweep("gtx280", {0, other}).cycles(settings);
  };
  EXPECT_NEAR(cycles(1, 2 * kib), 8, 1) << "the L1 is an SM's own";
  EXPECT_NEAR(cycles(1, 4 * kib), 81, 3);
  EXPECT_NEAR(cycles(1, 5 * kib), 220, 7) << "half of the L2, beside an SM of the TPC";
  EXPECT_NEAR(cycles(3, 8 * kib), 81, 3) << "all of it, beside one of another TPC";
  EXPECT_NEAR(cycles(3, 16 * kib), 220, 7);
  EXPECT_NEAR(cycles(3, 18 * kib), 476, 15) << "half of the L3";
}

/// Wong 2010, figures 11, 17 and 23: the caches outside of the TPCs, and the memory behind them as
/// much, take as long as their TPC lies away.
TEST(PaperTpcsTest, latency_of_the_outer_caches_depends_on_the_tpc) {
  struct Outer {
    const char* path;
    double inside_bytes, outside_bytes, memory_bytes;
  };
  for (const Outer& outer : {Outer{"texture_1d", 4 * kib, 64 * kib, 512 * kib},
                             Outer{"constant", 6 * kib, 20 * kib, 48 * kib},
                             Outer{"instruction", 6 * kib, 20 * kib, 48 * kib}}) {
    std::vector<double> inside, outside, behind;
    for (std::size_t sm = 0; sm < 30; ++sm) {
      Sweep sweep("gtx280", {static_cast<int>(sm)});
      inside.push_back(sweep.cycles(chase(outer.path, 256, outer.inside_bytes)));
      outside.push_back(sweep.cycles(chase(outer.path, 256, outer.outside_bytes)));
      behind.push_back(sweep.cycles(chase(outer.path, 256, outer.memory_bytes)) - outside.back());
      EXPECT_NEAR(outside[sm], outside[sm / 3 * 3], 0.5) << outer.path << " on SM " << sm;
    }
    const auto spread = [](const std::vector<double>& cycles) {
      const auto [least, most] = std::ranges::minmax(cycles);
      return most - least;
    };
    EXPECT_LT(spread(inside), 0.5) << outer.path;
    EXPECT_GT(spread(outside), 1.5) << outer.path;
    EXPECT_LT(spread(behind), 0.5) << outer.path << ": no farther from the memory";
  }
}

}  // namespace
}  // namespace sonde::test
