// Each line of `sonde doctor`: when it fails, warns or is skipped, and when `sonde run` refuses.
#include "doctor/checks.hpp"

#include "base/error.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <iterator>

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

/// A node of four GPUs, all well, with four ranks of one srun.
Facts good_facts() {
  return {.demand = {.disk_bytes = 100_MiB, .memory_bytes = 1_GiB},
          .launch =
              {.launcher = "srun", .is_task = true, .has_pmi = true, .ranks = 4, .local_ranks = 4},
          .host = {.node_cpus = 8, .memory_bytes = 64_GiB, .shared_memory_bytes = 1_GiB},
          .mpi = {.ranks = 4, .start_s = 0.3},
          .folder = {.folder = "/scratch",
                     .free_bytes = 10_GiB,
                     .free_files = 100000,
                     .flock = Flock::works},
          .driver = {.needed_version = 12040,
                     .driver_version = 12080,
                     .driver_release = "570.10",
                     .gpus = {good_gpu()}},
          .gpu = good_gpu(),
          .near_cpus = NearCpus{.near = "0-47", .usable = "0-47"}};
}

Checks judge_all(const Facts& facts) {
  Checks checks;
  for (const Subject subject : {Subject::driver, Subject::gpu, Subject::host, Subject::launch,
                                Subject::mpi, Subject::folder}) {
    std::ranges::move(judge(subject, facts), std::back_inserter(checks));
  }
  return checks;
}

/// The check of that name, of which there must be one, where one thing is not well.
template <class Change>
Check check_of(const std::string& name, Change&& change) {
  Facts facts = good_facts();
  change(facts);
  const Checks checks = judge_all(facts);
  EXPECT_EQ(std::ranges::count(checks, name, &Check::name), 1) << name;
  const auto found = std::ranges::find(checks, name, &Check::name);
  return found == checks.end() ? Check{.name = "missing"} : *found;
}
template <class Change>
CheckVerdict verdict_of(const std::string& name, Change&& change) {
  return check_of(name, change).verdict;
}
/// Of a setting of the GPU.
template <class Change>
CheckVerdict verdict_with(const std::string& name, Change&& change) {
  return verdict_of("gpu0." + name, [&change](Facts& facts) { change(*facts.gpu.settings); });
}

TEST(ChecksTest, node_in_order_has_only_good_lines_and_a_run_starts) {
  for (const Check& check : judge_all(good_facts())) {
    EXPECT_EQ(check.verdict, ok) << check.name << " " << check.line;
  }
  EXPECT_EQ(why_run_is_refused(Subject::mpi, good_facts()), "");
  EXPECT_EQ(why_run_is_refused(Subject::folder, good_facts()), "");
}

TEST(ChecksTest, what_the_driver_does_not_say_is_skipped_and_not_guessed) {
  for (const char* name :
       {"persistence", "clocks", "slowdown", "throttling", "power", "temperature", "ecc",
        "memory_errors", "memory_repairs", "memory_pending", "compute_mode", "processes"}) {
    EXPECT_EQ(verdict_with(name, [](GpuSettings& s) { s = GpuSettings{}; }), skipped) << name;
    EXPECT_EQ(verdict_of(std::string("gpu0.") + name, [](Facts& f) { f.gpu.settings.reset(); }),
              skipped)
        << name;
  }
}

// --- the launch

TEST(LaunchCheckTest, srun_without_pmix_is_refused_with_the_line_of_the_doctor) {
  Facts facts = good_facts();
  facts.mpi.ranks = 1;
  const Check check = check_of("mpi.launch", [](Facts& f) { f.mpi.ranks = 1; });
  EXPECT_EQ(check.verdict, fail);
  EXPECT_THAT(check.line, HasSubstr("srun started 4 processes, but MPI knows 1"));
  EXPECT_THAT(check.line, HasSubstr("--mpi=pmix"));
  EXPECT_EQ(why_run_is_refused(Subject::mpi, facts), check.line);
}

TEST(LaunchCheckTest, process_that_a_shell_of_the_step_started_alone_is_only_warned_of) {
  Facts facts = good_facts();
  facts.mpi.ranks = 1;
  facts.launch.is_task = false;  // srun -n 4 --pty bash, and there: sonde run
  EXPECT_EQ(why_run_is_refused(Subject::mpi, facts), "");
  const auto by_shell = [&facts](Facts& f) { f = facts; };
  EXPECT_EQ(verdict_of("mpi.launch", by_shell), ok);
  EXPECT_EQ(verdict_of("mpi.ranks", by_shell), warn);
}

TEST(LaunchCheckTest, process_alone_without_launcher_or_in_a_step_of_one_is_well) {
  for (const Launch& launch : {Launch{}, Launch{.launcher = "srun", .is_task = true, .ranks = 1}}) {
    Facts facts = good_facts();
    facts.launch = launch;
    facts.mpi.ranks = 1;
    EXPECT_EQ(why_run_is_refused(Subject::mpi, facts), "");
  }
}

TEST(LaunchCheckTest, other_number_of_ranks_than_started_is_not_certain_to_be_wrong) {
  Facts facts = good_facts();
  facts.mpi.ranks = 2;
  EXPECT_EQ(why_run_is_refused(Subject::mpi, facts), "");
}

TEST(LaunchCheckTest, srun_without_pmi_warns_before_mpi_starts_but_not_a_step_of_one_nor_a_shell) {
  const auto with = [](auto change) {
    return verdict_of("mpi.pmi", [&change](Facts& f) {
      f.launch.has_pmi = false;
      change(f.launch);
    });
  };
  EXPECT_EQ(with([](Launch&) {}), warn);
  EXPECT_EQ(with([](Launch& launch) { launch.ranks = 1; }), ok);
  EXPECT_EQ(with([](Launch& launch) { launch.is_task = false; }), ok);
  EXPECT_EQ(with([](Launch& launch) { launch.launcher = "mpirun"; }), ok);
}

TEST(LaunchCheckTest, slow_start_and_overridden_settings_warn) {
  EXPECT_EQ(verdict_of("mpi.start", [](Facts& f) { f.mpi.start_s = 6; }), warn);
  const Check check = check_of("mpi.settings", [](Facts& f) {
    f.host.mpi_overrides = {"OMPI_MCA_io=romio321 (sonde would choose ompio)"};
  });
  EXPECT_EQ(check.verdict, warn);
  EXPECT_THAT(check.line, HasSubstr("OMPI_MCA_io=romio321"));
}

// --- the folder

TEST(FolderCheckTest, folder_that_cannot_be_written_is_refused_and_nothing_else_is_said_of_it) {
  Facts facts = good_facts();
  facts.folder = {.folder = "/ro", .problem = "Read-only file system"};
  const std::string line = why_run_is_refused(Subject::folder, facts);
  EXPECT_THAT(line, HasSubstr("cannot write into '/ro' (Read-only file system"));
  const auto same = [&facts](Facts& f) { f = facts; };
  EXPECT_EQ(check_of("output", same).line, line);
  EXPECT_EQ(verdict_of("output", same), fail);
  EXPECT_EQ(verdict_of("output.space", same), skipped);
  EXPECT_EQ(verdict_of("output.locks", same), skipped);
}

TEST(FolderCheckTest, refused_flock_is_refused_only_where_hdf5_is_told_to_lock) {
  for (const char* word : {"", "FALSE", "0", "BEST_EFFORT", "true"}) {
    Facts facts = good_facts();
    facts.folder.flock = Flock::refused;
    facts.folder.file_locking = word;
    EXPECT_EQ(why_run_is_refused(Subject::folder, facts), "") << word;
    EXPECT_EQ(verdict_of("output.flock", [&facts](Facts& f) { f = facts; }), warn) << word;
  }
  for (const char* word : {"TRUE", "1"}) {
    Facts facts = good_facts();
    facts.folder.file_locking = word;
    EXPECT_EQ(why_run_is_refused(Subject::folder, facts), "") << word;
    facts.folder.flock = Flock::refused;
    EXPECT_THAT(why_run_is_refused(Subject::folder, facts),
                HasSubstr(std::string("HDF5_USE_FILE_LOCKING=") + word));
    EXPECT_EQ(verdict_of("output.locks", [&facts](Facts& f) { f = facts; }), fail) << word;
  }
}

TEST(FolderCheckTest, too_little_room_fails_but_refuses_no_run) {
  const auto with = [](auto change) {
    Facts facts = good_facts();
    change(facts.folder);
    EXPECT_EQ(why_run_is_refused(Subject::folder, facts), "");
    return verdict_of("output.space", [&facts](Facts& f) { f = facts; });
  };
  EXPECT_EQ(with([](FolderFacts& f) { f.free_bytes = 400_MiB; }), ok);
  EXPECT_EQ(with([](FolderFacts& f) { f.free_bytes = 399_MiB; }), fail);
  EXPECT_EQ(with([](FolderFacts& f) { f.free_files = 3; }), fail);
  EXPECT_EQ(with([](FolderFacts& f) { f.free_files.reset(); }), ok);
  EXPECT_EQ(with([](FolderFacts& f) { f.full = "Disk quota exceeded"; }), fail);
}

TEST(FolderCheckTest, memory_for_a_disk_warns) {
  EXPECT_EQ(verdict_of("output.disk", [](Facts& f) { f.folder.in_memory = true; }), warn);
}

// --- the machine

TEST(HostCheckTest, too_little_for_the_ranks_of_the_node) {
  EXPECT_EQ(verdict_of("cpus", [](Facts& f) { f.host.node_cpus = 2; }), warn);
  EXPECT_EQ(verdict_of("cpus", [](Facts& f) { f.host.node_cpus.reset(); }), skipped);
  EXPECT_EQ(verdict_of("memory", [](Facts& f) { f.host.memory_bytes = 4_GiB; }), ok);
  EXPECT_EQ(verdict_of("memory", [](Facts& f) { f.host.memory_bytes = 3_GiB; }), fail);
  EXPECT_EQ(verdict_of("memory", [](Facts& f) { f.host.memory_bytes.reset(); }), skipped);
  EXPECT_EQ(verdict_of("shared_memory", [](Facts& f) { f.host.shared_memory_bytes = 16_MiB; }),
            fail);
  EXPECT_EQ(verdict_of("shared_memory", [](Facts& f) { f.host.shared_memory_bytes.reset(); }),
            fail);
}

TEST(HostCheckTest, limits_fail_below_what_the_run_needs) {
  const auto file = [](std::uint64_t bytes) {
    return verdict_of("limits.file_size", [=](Facts& f) { f.host.file_limit_bytes = bytes; });
  };
  EXPECT_EQ(file(400_MiB), ok);
  EXPECT_EQ(file(399_MiB), fail);
  EXPECT_EQ(verdict_of("limits.open_files", [](Facts& f) { f.host.open_file_limit = 32; }), fail);
  EXPECT_EQ(verdict_of("limits.open_files", [](Facts& f) { f.host.open_file_limit = 1024; }), ok);
  EXPECT_EQ(verdict_of("limits.processes", [](Facts& f) { f.host.process_limit = 20; }), fail);
  EXPECT_EQ(verdict_of("limits.processes", [](Facts& f) { f.host.process_limit = 4096; }), ok);
  EXPECT_EQ(
      verdict_of("limits.address_space", [](Facts& f) { f.host.address_limit_bytes = 64_GiB; }),
      warn);
}

TEST(DriverCheckTest, no_driver_an_old_one_and_a_build_without_cuda_fail) {
  EXPECT_EQ(verdict_of("driver", [](Facts& f) { f.driver.driver_version = 11080; }), fail);
  EXPECT_EQ(verdict_of("driver", [](Facts& f) { f.driver = {.needed_version = 12040}; }), fail);
  const Check check = check_of("driver", [](Facts& f) { f.driver = {.cuda_in_build = false}; });
  EXPECT_EQ(check.verdict, fail);
  EXPECT_THAT(check.line, HasSubstr("built without CUDA"));
}

TEST(DriverCheckTest, gpus_that_are_hidden_or_cannot_be_listed_fail_with_the_cause) {
  const Check hidden = check_of("gpus", [](Facts& f) {
    f.driver.gpus.clear();
    f.visible_devices = "7";
  });
  EXPECT_EQ(hidden.verdict, fail);
  EXPECT_THAT(hidden.line, HasSubstr("CUDA_VISIBLE_DEVICES=7"));
  const Check sick = check_of("gpus", [](Facts& f) { f.driver.problem = "unknown error"; });
  EXPECT_EQ(sick.verdict, fail);
  EXPECT_THAT(sick.line, HasSubstr("unknown error"));
}

// --- a GPU

TEST(GpuCheckTest, settings_that_differ_from_the_usual_warn) {
  using S = GpuSettings;
  EXPECT_EQ(verdict_with("persistence", [](S& s) { s.persistence = false; }), warn);
  EXPECT_EQ(verdict_with("clocks", [](S& s) { s.application_clock_hz = 1200e6; }), warn);
  EXPECT_EQ(verdict_with("ecc", [](S& s) { s.ecc = GpuMode{}; }), warn);
  EXPECT_EQ(verdict_with("ecc", [](S& s) { s.ecc->after_reset = false; }), warn);
  const Check power = check_of("gpu0.power", [](Facts& f) { f.gpu.settings->power_limit_w = 500; });
  EXPECT_EQ(power.verdict, warn);
  EXPECT_EQ(power.line, "limit 500 W, default 700 W -> nvidia-smi -i GPU-1 -pl 700");
}

TEST(GpuCheckTest, idle_is_no_throttling_software_warns_and_hardware_fails) {
  const auto with = [](const char* name, std::uint64_t reasons) {
    return verdict_with(name, [=](GpuSettings& s) { s.throttle_reasons = reasons; });
  };
  for (const std::uint64_t hardware : {0x8, 0x40, 0x80})
    EXPECT_EQ(with("slowdown", hardware), fail);
  for (const std::uint64_t software : {0x2, 0x4, 0x20}) {
    EXPECT_EQ(with("throttling", software), warn);
    EXPECT_EQ(with("slowdown", software), ok);
  }
}

TEST(GpuCheckTest, gpu_near_its_slowdown_temperature_warns) {
  EXPECT_EQ(verdict_with("temperature", [](GpuSettings& s) { s.temperature_c = 76; }), ok);
  EXPECT_EQ(verdict_with("temperature", [](GpuSettings& s) { s.temperature_c = 77; }), warn);
}

TEST(GpuCheckTest, memory_errors_warn_but_old_corrected_ones_do_not) {
  using S = GpuSettings;
  EXPECT_EQ(verdict_with("memory_errors", [](S& s) { s.errors_ever->corrected = 3; }), ok);
  EXPECT_EQ(verdict_with("memory_errors", [](S& s) { s.errors_since_load->corrected = 3; }), warn);
  EXPECT_EQ(verdict_with("memory_errors", [](S& s) { s.errors_since_load->uncorrected = 1; }),
            warn);
  EXPECT_EQ(verdict_with("memory_errors", [](S& s) { s.errors_ever->uncorrected = 1; }), warn);
}

TEST(GpuCheckTest, row_that_cannot_be_remapped_fails_and_a_repair_that_waits_warns) {
  using S = GpuSettings;
  EXPECT_EQ(verdict_with("memory_repairs", [](S& s) { s.remaps->failed = true; }), fail);
  EXPECT_EQ(verdict_with("memory_pending", [](S& s) { s.remaps->pending = true; }), warn);
  const auto page = [](S& s) {
    s.remaps.reset();
    s.page_retirement_pending = true;
  };
  EXPECT_EQ(verdict_with("memory_pending", page), warn);
}

TEST(GpuCheckTest, gpu_that_nobody_may_use_fails_and_an_exclusive_one_is_well) {
  using S = GpuSettings;
  EXPECT_EQ(verdict_with("compute_mode", [](S& s) { s.compute_mode = ComputeMode::nobody; }), fail);
  EXPECT_EQ(verdict_with("compute_mode", [](S& s) { s.compute_mode = ComputeMode::one_process; }),
            ok);
}

TEST(GpuCheckTest, shared_gpu_fails_unless_sharing_is_allowed) {
  const auto share = [](Facts& f) {
    f.mps_runs = true;
    f.gpu.mps = true;
    f.gpu.settings->mig->now = true;
    f.gpu.settings->foreign_processes = 2;
  };
  for (const char* name : {"mps", "gpu0.mps", "gpu0.mig", "gpu0.processes"}) {
    const Check check = check_of(name, share);
    EXPECT_EQ(check.verdict, fail) << name;
    EXPECT_THAT(check.line, HasSubstr("--allow-shared-gpu"));
    EXPECT_EQ(verdict_of(name,
                         [&share](Facts& f) {
                           share(f);
                           f.sharing = Sharing::allowed;
                         }),
              warn);
  }
}

TEST(GpuCheckTest, slice_is_known_without_nvml_and_cpus_far_from_the_gpu_warn) {
  EXPECT_EQ(verdict_of("gpu0.mig",
                       [](Facts& f) {
                         f.gpu.settings.reset();
                         f.gpu.uuid = "MIG-1";
                       }),
            fail);
  EXPECT_EQ(verdict_of("gpu0.cpus", [](Facts& f) { f.near_cpus->usable = ""; }), warn);
  EXPECT_EQ(verdict_of("gpu0.cpus", [](Facts& f) { f.near_cpus.reset(); }), skipped);
}

// --- as text and as JSON

const Checks mixed{{ok, "driver", "550.90"},
                   {warn, "gpu0.persistence", "off -> nvidia-smi -pm 1"},
                   {ok, "mps", ""}};

TEST(RenderChecksTest, lines_stand_in_columns_with_a_summary) {
  EXPECT_EQ(render_checks(mixed, ""),
            "ok       driver            550.90\n"
            "warn     gpu0.persistence  off -> nvidia-smi -pm 1\n"
            "ok       mps\n"
            "this machine can measure (2 ok, 1 warn, 0 fail, 0 skipped)\n");
  EXPECT_EQ(render_checks({}, "n1"),
            "n1  this machine can measure (0 ok, 0 warn, 0 fail, 0 skipped)\n");
}

TEST(RenderChecksTest, one_failure_is_enough) {
  EXPECT_FALSE(has_failure(mixed));
  EXPECT_THAT(render_checks({{fail, "output", "full"}}, ""),
              HasSubstr("\nthis machine cannot measure as it is ("));
}

TEST(RenderChecksTest, text_of_others_stays_on_its_line_and_cannot_control_a_terminal) {
  EXPECT_THAT(render_checks({{ok, "gpus", "a\nfail  b\x1b[2J"}}, ""),
              HasSubstr("a\\nfail  b\\x1b[2J\n"));
}

TEST(RenderChecksTest, json_says_whether_it_can_measure_and_why) {
  const auto read = nlohmann::json::parse(render_checks_json(mixed, "n1"));
  EXPECT_EQ(read.at("host"), "n1");
  EXPECT_EQ(read.at("can_measure"), true);
  EXPECT_EQ(read.at("checks").at(1).at("verdict"), "warn");
  EXPECT_EQ(read.at("checks").at(1).at("line"), "off -> nvidia-smi -pm 1");
}

TEST(RenderChecksTest, json_between_processes_comes_back_and_other_text_is_refused) {
  const Checks back = checks_from_json(to_json(mixed));
  ASSERT_EQ(back.size(), 3u);
  EXPECT_EQ(back[1].verdict, warn);
  EXPECT_EQ(back[0].line, "550.90");
  EXPECT_THROW(checks_from_json("{"), Error);
}

}  // namespace
}  // namespace sonde
