// Each line of `sonde doctor` on drivers and GPUs: when it fails, warns or is skipped.
#include "doctor/gpus.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <functional>

namespace sonde {
namespace {

using ::testing::HasSubstr;
using enum CheckVerdict;

/// An H200 in order, as nvidia-smi shows one.
GpuSurvey good_gpu() {
  return {.ordinal = 0,
          .uuid = "GPU-1",
          .name = "NVIDIA H200",
          .pci_bus_id = "00000000:19:00.0",
          .settings = GpuSettings{.persistence = true,
                                  .throttle_reasons = 0x1,  // idle
                                  .power_limit_w = 700,
                                  .default_power_limit_w = 700,
                                  .ecc = GpuMode{.now = true, .after_reset = true},
                                  .errors_since_load = MemoryErrors{},
                                  .errors_ever = MemoryErrors{},
                                  .remaps = RowRemaps{},
                                  .mig = GpuMode{},
                                  .foreign_processes = 0}};
}

/// The check of that name, of which there must be one, where one thing is not well.
template <class Change>
Check check_of(const std::string& name, Change&& change, bool may_share = false) {
  GpuSurvey gpu = good_gpu();
  change(gpu);
  const Checks checks = check_gpu(gpu, may_share);
  EXPECT_EQ(std::ranges::count(checks, "gpu0." + name, &Check::name), 1) << name;
  const auto found = std::ranges::find(checks, "gpu0." + name, &Check::name);
  return found == checks.end() ? Check{.name = "missing"} : *found;
}
TEST(GpuCheckTest, gpu_in_order_and_one_without_nvml_have_no_bad_line) {
  for (const Check& check : check_gpu(good_gpu(), false)) {
    EXPECT_EQ(check.verdict, ok) << check.name << " " << check.line;
  }
  const auto without_nvml = [](GpuSurvey& gpu) { gpu.settings.reset(); };
  EXPECT_EQ(check_of("device", without_nvml).verdict, skipped);
  EXPECT_EQ(check_of("ecc", without_nvml).verdict, ok);
}

TEST(GpuCheckTest, each_setting_and_state_has_its_verdict) {
  using S = GpuSettings;
  struct Case {
    const char* name;
    std::function<void(S&)> change;
    CheckVerdict verdict;
  };
  const auto throttled = [](std::uint64_t reasons) {
    return [reasons](S& s) { s.throttle_reasons = reasons; };
  };
  const Case cases[]{{"persistence", [](S& s) { s.persistence = false; }, warn},
                     {"ecc", [](S& s) { s.ecc = GpuMode{}; }, warn},
                     {"ecc", [](S& s) { s.ecc->after_reset = false; }, warn},
                     {"compute_mode", [](S& s) { s.compute_mode = ComputeMode::nobody; }, fail},
                     {"compute_mode", [](S& s) { s.compute_mode = ComputeMode::one_process; }, ok},
                     {"throttling", throttled(0x8), fail},  // by hardware
                     {"throttling", throttled(0x40), fail},
                     {"throttling", throttled(0x80), fail},
                     {"throttling", throttled(0x4), warn},  // by software
                     {"throttling", throttled(0x20), warn},
                     {"memory_errors", [](S& s) { s.errors_ever->corrected = 3; }, ok},
                     {"memory_errors", [](S& s) { s.errors_since_load->corrected = 3; }, warn},
                     {"memory_errors", [](S& s) { s.errors_ever->uncorrected = 1; }, warn},
                     {"memory_repairs", [](S& s) { s.remaps->failed = true; }, fail},
                     {"memory_pending", [](S& s) { s.remaps->pending = true; }, warn},
                     {"memory_pending", [](S& s) { s.page_retirement_pending = true; }, warn}};
  for (const auto& [name, change, verdict] : cases) {
    const auto with = [&change = change](GpuSurvey& gpu) { change(*gpu.settings); };
    EXPECT_EQ(check_of(name, with).verdict, verdict) << name;
  }
  const Check power = check_of("power", [](GpuSurvey& gpu) { gpu.settings->power_limit_w = 500; });
  EXPECT_EQ(power.verdict, warn);
  EXPECT_EQ(power.line, "limit 500 W, default 700 W -> nvidia-smi -i GPU-1 -pl 700");
}

TEST(GpuCheckTest, shared_gpu_fails_unless_sharing_is_allowed) {
  const auto mps = [](GpuSurvey& gpu) { gpu.mps = true; };
  const auto mig = [](GpuSurvey& gpu) { gpu.settings->mig->now = true; };
  const auto slice = [](GpuSurvey& gpu) {
    gpu.settings.reset();  // NVML does not know it
    gpu.uuid = "MIG-1";
  };
  const auto others = [](GpuSurvey& gpu) { gpu.settings->foreign_processes = 2; };
  EXPECT_EQ(check_of("shared", mps).verdict, fail);
  EXPECT_EQ(check_of("shared", mig).verdict, fail);
  EXPECT_EQ(check_of("shared", slice).verdict, fail);
  EXPECT_EQ(check_of("shared", others).verdict, fail);
  EXPECT_THAT(check_of("shared", others).line, HasSubstr("--allow-shared-gpu"));
  EXPECT_EQ(check_of("shared", others, true).verdict, warn);
}

TEST(DriverCheckTest, no_driver_an_old_one_and_a_build_without_cuda_fail) {
  const auto driver = [](const DriverSurvey& survey) { return check_driver(survey).at(0); };
  EXPECT_EQ(driver({.needed_version = 12040, .driver_version = 12080}).verdict, ok);
  EXPECT_EQ(driver({.needed_version = 12040, .driver_version = 11080}).verdict, fail);
  EXPECT_EQ(driver({.needed_version = 12040}).verdict, fail);
  EXPECT_THAT(driver({.cuda_in_build = false}).line, HasSubstr("built without CUDA"));
}

TEST(DriverCheckTest, gpus_that_are_hidden_or_cannot_be_listed_fail) {
  EXPECT_EQ(check_driver({}).at(1).verdict, fail);
  EXPECT_THAT(check_driver({.problem = "unknown error"}).at(1).line, HasSubstr("unknown error"));
  EXPECT_EQ(check_driver({.gpus = {good_gpu()}}).at(1).verdict, ok);
}

}  // namespace
}  // namespace sonde
