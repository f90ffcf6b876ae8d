// What the settings of a GPU mean: each line of `sonde doctor` as ok, warn and fail.
#include "doctor/judge_gpu.hpp"

#include "unit/doctor/checks_of.hpp"

#include <gmock/gmock.h>

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
                                  .sm_clock_hz = 345e6,
                                  .highest_sm_clock_hz = 1980e6,
                                  .application_clock_hz = 1980e6,
                                  .default_application_clock_hz = 1980e6,
                                  .throttle_reasons = 0x1,  // idle
                                  .power_limit_w = 700,
                                  .default_power_limit_w = 700,
                                  .temperature_c = 30,
                                  .slowdown_temperature_c = 87,
                                  .ecc = GpuMode{.now = true, .after_reset = true},
                                  .errors_since_load = MemoryErrors{},
                                  .errors_ever = MemoryErrors{},
                                  .remaps = RowRemaps{},
                                  .mig = GpuMode{},
                                  .compute_mode = ComputeMode::shared,
                                  .foreign_processes = 0}};
}

const NearCpus near_cpus{.near = "0-47", .usable = "0-47"};

Checks judge(const GpuSurvey& gpu) { return judge_gpu(gpu, near_cpus, Sharing::refused); }

/// The line `part` of a GPU that is good but for one setting.
template <class Change>
Check judge_changed(const char* part, Change&& change, Sharing sharing = Sharing::refused) {
  GpuSurvey gpu = good_gpu();
  change(*gpu.settings);
  return check_of(judge_gpu(gpu, near_cpus, sharing), std::string("gpu0.") + part);
}

DriverSurvey good_driver() {
  return {.needed_version = 12040,
          .driver_version = 12080,
          .driver_release = "570.10",
          .gpus = {good_gpu()}};
}

TEST(JudgeDriverTest, driver_of_the_version_or_newer_is_well) {
  const Checks checks = judge_driver(good_driver(), std::nullopt);
  EXPECT_EQ(verdict_of(checks, "driver"), ok);
  EXPECT_THAT(check_of(checks, "driver").found, HasSubstr("570.10 for CUDA 12.8"));
  EXPECT_THAT(check_of(checks, "gpus").found, HasSubstr("1; CUDA_VISIBLE_DEVICES is not set"));
}

TEST(JudgeDriverTest, older_driver_of_the_same_major_version_warns_and_of_another_fails) {
  DriverSurvey survey = good_driver();
  survey.driver_version = 12020;
  EXPECT_EQ(verdict_of(judge_driver(survey, std::nullopt), "driver"), warn);
  survey.driver_version = 11080;
  EXPECT_EQ(verdict_of(judge_driver(survey, std::nullopt), "driver"), fail);
}

TEST(JudgeDriverTest, no_driver_fails_and_its_gpus_are_not_guessed) {
  const Checks checks = judge_driver({.needed_version = 12040}, std::nullopt);
  EXPECT_EQ(verdict_of(checks, "driver"), fail);
  EXPECT_EQ(verdict_of(checks, "gpus"), skipped);
}

TEST(JudgeDriverTest, build_without_cuda_fails) {
  const Checks checks = judge_driver({.cuda_in_build = false}, std::nullopt);
  EXPECT_THAT(check_of(checks, "driver").found, HasSubstr("built without CUDA"));
  EXPECT_EQ(verdict_of(checks, "driver"), fail);
}

TEST(JudgeDriverTest, gpus_hidden_by_the_environment_fail_with_its_value) {
  DriverSurvey survey = good_driver();
  survey.gpus.clear();
  const Check gpus = check_of(judge_driver(survey, "7"), "gpus");
  EXPECT_EQ(gpus.verdict, fail);
  EXPECT_THAT(gpus.found, HasSubstr("CUDA_VISIBLE_DEVICES=7"));
  EXPECT_THAT(gpus.advice, HasSubstr("unset"));
}

TEST(JudgeDriverTest, driver_that_cannot_list_its_gpus_fails_with_its_words) {
  DriverSurvey survey = good_driver();
  survey.problem = "unknown error";
  EXPECT_THAT(check_of(judge_driver(survey, std::nullopt), "gpus").found,
              HasSubstr("unknown error"));
  EXPECT_EQ(verdict_of(judge_driver(survey, std::nullopt), "gpus"), fail);
}

TEST(JudgeGpuTest, good_gpu_has_only_good_lines) {
  for (const Check& check : judge(good_gpu())) EXPECT_EQ(check.verdict, ok) << check.name;
}

TEST(JudgeGpuTest, without_nvml_settings_are_skipped_and_none_is_guessed) {
  GpuSurvey gpu = good_gpu();
  gpu.settings.reset();
  const Checks checks = judge(gpu);
  EXPECT_EQ(verdict_of(checks, "gpu0.settings"), skipped);
  EXPECT_EQ(std::ranges::count(checks, "gpu0.power", &Check::name), 0);
}

TEST(JudgeGpuTest, what_nvml_does_not_say_is_skipped) {
  GpuSurvey gpu = good_gpu();
  gpu.settings = GpuSettings{};
  for (const char* part : {"persistence", "clocks", "throttling", "power", "temperature", "ecc",
                           "memory_errors", "memory_repairs", "compute_mode", "processes"}) {
    EXPECT_EQ(verdict_of(judge(gpu), std::string("gpu0.") + part), skipped) << part;
  }
}

TEST(JudgeGpuTest, settings_that_differ_from_the_usual_warn) {
  using S = GpuSettings;
  EXPECT_EQ(judge_changed("persistence", [](S& s) { s.persistence = false; }).verdict, warn);
  EXPECT_EQ(judge_changed("clocks", [](S& s) { s.application_clock_hz = 1200e6; }).verdict, warn);
  EXPECT_EQ(judge_changed("power", [](S& s) { s.power_limit_w = 500; }).verdict, warn);
  EXPECT_EQ(judge_changed("ecc", [](S& s) { s.ecc = GpuMode{}; }).verdict, warn);
  EXPECT_EQ(judge_changed("ecc", [](S& s) { s.ecc->after_reset = false; }).verdict, warn);
  EXPECT_EQ(judge_changed("mig", [](S& s) { s.mig->after_reset = true; }).verdict, warn);
}

TEST(JudgeGpuTest, advice_names_the_gpu_and_the_usual_value) {
  const Check power = judge_changed("power", [](GpuSettings& s) { s.power_limit_w = 500; });
  EXPECT_EQ(power.found, "limit 500 W, default 700 W");
  EXPECT_EQ(power.advice, "nvidia-smi -i GPU-1 -pl 700");
}

TEST(JudgeGpuTest, idle_is_no_throttling_software_warns_and_hardware_fails) {
  const auto with = [](std::uint64_t reasons) {
    return judge_changed("throttling", [=](GpuSettings& s) { s.throttle_reasons = reasons; })
        .verdict;
  };
  EXPECT_EQ(with(0x1), ok);
  EXPECT_EQ(with(0x2), warn);   // clocks set by somebody
  EXPECT_EQ(with(0x4), warn);   // power cap
  EXPECT_EQ(with(0x20), warn);  // software thermal
  EXPECT_EQ(with(0x8), fail);   // hardware slowdown
  EXPECT_EQ(with(0x40), fail);  // hardware thermal
  EXPECT_EQ(with(0x80), fail);  // power brake
}

TEST(JudgeGpuTest, gpu_near_its_slowdown_temperature_warns) {
  EXPECT_EQ(judge_changed("temperature", [](GpuSettings& s) { s.temperature_c = 76; }).verdict, ok);
  EXPECT_EQ(judge_changed("temperature", [](GpuSettings& s) { s.temperature_c = 77; }).verdict,
            warn);
}

TEST(JudgeGpuTest, temperature_is_told_but_not_judged_without_its_threshold) {
  const Check check =
      judge_changed("temperature", [](GpuSettings& s) { s.slowdown_temperature_c.reset(); });
  EXPECT_EQ(check.verdict, skipped);
  EXPECT_THAT(check.found, HasSubstr("30 C"));
}

TEST(JudgeGpuTest, memory_errors_warn_but_old_corrected_ones_do_not) {
  using S = GpuSettings;
  const auto errors = [](auto change) { return judge_changed("memory_errors", change).verdict; };
  EXPECT_EQ(errors([](S& s) { s.errors_ever->corrected = 3; }), ok);
  EXPECT_EQ(errors([](S& s) { s.errors_since_load->corrected = 3; }), warn);
  EXPECT_EQ(errors([](S& s) { s.errors_since_load->uncorrected = 1; }), warn);
  EXPECT_EQ(errors([](S& s) { s.errors_ever->uncorrected = 1; }), warn);
}

TEST(JudgeGpuTest, row_that_cannot_be_remapped_fails_and_one_that_waits_warns) {
  using S = GpuSettings;
  EXPECT_EQ(judge_changed("memory_repairs", [](S& s) { s.remaps->failed = true; }).verdict, fail);
  EXPECT_EQ(judge_changed("memory_repairs", [](S& s) { s.remaps->pending = true; }).verdict, warn);
  EXPECT_EQ(judge_changed("memory_repairs", [](S& s) { s.remaps->corrected = 2; }).verdict, ok);
  EXPECT_EQ(judge_changed("memory_repairs",
                          [](S& s) {
                            s.remaps.reset();
                            s.page_retirement_pending = true;
                          })
                .verdict,
            warn);
}

TEST(JudgeGpuTest, gpu_that_nobody_may_use_fails_and_an_exclusive_one_is_well) {
  using S = GpuSettings;
  EXPECT_EQ(
      judge_changed("compute_mode", [](S& s) { s.compute_mode = ComputeMode::nobody; }).verdict,
      fail);
  EXPECT_EQ(judge_changed("compute_mode", [](S& s) { s.compute_mode = ComputeMode::one_process; })
                .verdict,
            ok);
}

TEST(JudgeGpuTest, shared_gpu_fails_unless_sharing_is_allowed) {
  const auto mig = [](GpuSettings& s) { s.mig->now = true; };
  const auto busy = [](GpuSettings& s) { s.foreign_processes = 2; };
  EXPECT_EQ(judge_changed("mig", mig).verdict, fail);
  EXPECT_EQ(judge_changed("mig", mig, Sharing::allowed).verdict, warn);
  EXPECT_EQ(judge_changed("processes", busy).verdict, fail);
  EXPECT_EQ(judge_changed("processes", busy, Sharing::allowed).verdict, warn);
  EXPECT_THAT(judge_changed("processes", busy).advice, HasSubstr("--allow-shared-gpu"));
}

TEST(JudgeGpuTest, slice_and_mps_are_known_without_nvml) {
  GpuSurvey gpu = good_gpu();
  gpu.settings.reset();
  gpu.uuid = "MIG-1";
  gpu.mps = true;
  EXPECT_EQ(verdict_of(judge(gpu), "gpu0.mig"), fail);
  EXPECT_EQ(verdict_of(judge(gpu), "gpu0.mps"), fail);
}

TEST(JudgeGpuTest, cpus_near_the_gpu_that_may_not_be_used_warn) {
  const auto cpus = [](const NearCpus& near) {
    return verdict_of(judge_gpu(good_gpu(), near, Sharing::refused), "gpu0.cpus");
  };
  EXPECT_EQ(cpus({.near = "0-47", .usable = "3"}), ok);
  EXPECT_EQ(cpus({.near = "0-47", .usable = ""}), warn);
  EXPECT_EQ(cpus({.problem = "no PCI device"}), skipped);
}

TEST(JudgeMpsTest, daemon_fails_unless_sharing_is_allowed_and_a_lone_pipe_warns) {
  const MpsFacts runs{.pipe_folder = "/tmp/nvidia-mps", .pipe_is_there = true, .daemon_runs = true};
  EXPECT_EQ(judge_mps({}, Sharing::refused).verdict, ok);
  EXPECT_EQ(judge_mps(runs, Sharing::refused).verdict, fail);
  EXPECT_EQ(judge_mps(runs, Sharing::allowed).verdict, warn);
  EXPECT_EQ(judge_mps({.pipe_is_there = true}, Sharing::refused).verdict, warn);
}

}  // namespace
}  // namespace sonde
