// The experiments of Dai 2016, short, on the simulated Fermi of that paper: one program that
// thrashes its L1 and one that hardly uses it.
#include "bench/paper_study.hpp"

#include "device/backends/open_device.hpp"
#include "device/device_error.hpp"

#include <gmock/gmock.h>

#include <algorithm>

namespace sonde {
namespace {

constexpr std::uint64_t accesses = 1000;  // of each SM

std::unique_ptr<Device> open_model(const char* model) {
  const BackendChoice backend = parse_backend(std::string("sim:") + model);
  return open_device(backend, list_visible_devices(backend, 0, 1).at(0), 1);
}

PaperProgram paper_program(std::string_view name) {
  const std::vector<PaperProgram> programs = paper_programs();
  return *std::ranges::find(
      programs, name, [](const PaperProgram& one) { return std::string_view(one.program.name); });
}

ProgramStudy study_on(const char* model, std::string_view name) {
  const auto device = open_model(model);
  return study_program(
      paper_program(name), accesses,
      [&device](const std::string&, const ProgramProbe& probe) { return device->run(probe); });
}

/// Blocks of sr2 are half a line wide: neighbours, which different SMs have, find their lines in
/// the L2 only if they come soon after each other.
TEST(BypassStudyTest, blocks_that_share_lines_stay_together_whoever_uses_the_l1) {
  const auto device = open_model("fermi_dac16");
  const PaperProgram sr2 = paper_program("sr2");
  const auto rate = [&](int cached) {
    return read_outcome(device->run(ProgramProbe{.program = sr2.program,
                                                 .resident_blocks = sr2.resident_blocks,
                                                 .level = sr2.level,
                                                 .cached = cached,
                                                 .sm_accesses = 40000}))
        .accesses_per_cycle();
  };
  EXPECT_GT(rate(1), 0.95 * rate(0));
}

TEST(BypassStudyTest, a_program_that_thrashes_gains_by_what_relieves_its_l1) {
  const ProgramStudy kms = study_on("fermi_dac16", "kms");
  ASSERT_EQ(kms.cached.size(), 9u);
  EXPECT_GT(speedup_of(kms, kms.l1_8mb), 1.5) << "what the paper calls high contention";
  EXPECT_GT(speedup_of(kms, kms.mdb_local), 1.5);
  EXPECT_GT(speedup_of(kms, kms.mdb_global), 1.5);
  EXPECT_GT(speedup_of(kms, kms.swl_best), 1.2);
  EXPECT_LT(kms.swl_warps, 8);
  EXPECT_GT(kms.cached[4].l1_hits, kms.cached[3].l1_hits) << "figure 3b: 4 and 5 of 8 bypass";
  EXPECT_GT(kms.cached[4].failures, kms.cached[3].failures) << "figure 3c";
  EXPECT_EQ(kms.cached.front().l1_hits, 0) << "nobody uses the L1";
  EXPECT_EQ(kms.cached.front().failures, 0);
  EXPECT_LT(kms.mdb_global.failures, kms.base.failures);
  EXPECT_EQ(kms.no_l1.l1_hits, 0);
  EXPECT_GT(kms.mdb_global.mean_cached, 0);
  EXPECT_LT(kms.mdb_global.mean_cached, 8);
  EXPECT_GE(kms.l1_8mb.l1_hits, kms.base.l1_hits);
}

TEST(BypassStudyTest, a_program_that_does_not_thrash_loses_nothing) {
  const ProgramStudy lud = study_on("fermi_dac16", "lud");
  EXPECT_LT(speedup_of(lud, lud.l1_8mb), 1.5);
  EXPECT_GT(speedup_of(lud, lud.mdb_local), 0.98);
  EXPECT_GT(speedup_of(lud, lud.mdb_global), 0.98);
}

TEST(BypassStudyTest, a_gpu_that_cannot_be_another_machine_says_so) {
  EXPECT_THAT([] { study_on("h200", "kms"); },
              testing::ThrowsMessage<DeviceError>(testing::HasSubstr("cannot be another machine")));
}

}  // namespace
}  // namespace sonde
