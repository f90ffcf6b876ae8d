// What a machine gives to a run: each line of `sonde doctor` as ok, warn and fail.
#include "doctor/judge_host.hpp"

#include "unit/doctor/checks_of.hpp"

#include <gmock/gmock.h>

namespace sonde {
namespace {

using ::testing::HasSubstr;
using enum CheckVerdict;

constexpr Demand demand{.disk_bytes = 100_MiB, .memory_bytes = 1_GiB};
const Launch alone;
const Launch four{.launcher = "srun", .ranks = 4, .local_ranks = 4};

TEST(JudgeCpusTest, fewer_cpus_or_quota_than_ranks_warn) {
  const CpuFacts bound{.usable_cpus = 1, .node_cpus = 8};
  EXPECT_EQ(judge_cpus(bound, four).verdict, ok);  // each rank is bound to one of them
  EXPECT_EQ(judge_cpus({.usable_cpus = 2, .node_cpus = 2}, four).verdict, warn);
  EXPECT_EQ(judge_cpus({.usable_cpus = 8, .node_cpus = 8, .quota_cpus = 2}, four).verdict, warn);
  EXPECT_EQ(judge_cpus({.usable_cpus = 8, .node_cpus = 8, .quota_cpus = 0.5}, alone).verdict, warn);
  EXPECT_EQ(judge_cpus({.usable_cpus = 8, .node_cpus = 8, .quota_cpus = 4}, four).verdict, ok);
  EXPECT_EQ(judge_cpus({}, alone).verdict, skipped);
}

TEST(JudgeMemoryTest, ranks_that_do_not_fit_fail_by_the_machine_or_by_the_cgroup) {
  EXPECT_EQ(judge_memory({.available_bytes = 4_GiB}, demand, four).verdict, ok);
  EXPECT_EQ(judge_memory({.available_bytes = 3_GiB}, demand, four).verdict, fail);
  const MemoryFacts small_group{.available_bytes = 64_GiB, .cgroup_left_bytes = 2_GiB};
  EXPECT_EQ(judge_memory(small_group, demand, four).verdict, fail);
  EXPECT_THAT(judge_memory(small_group, demand, four).found,
              HasSubstr("2 GiB left to this cgroup"));
  EXPECT_EQ(judge_memory({}, demand, four).verdict, skipped);
}

TEST(JudgeLimitsTest, no_limits_are_well) {
  for (const Check& check : judge_limits({}, demand, four)) EXPECT_EQ(check.verdict, ok);
}

TEST(JudgeLimitsTest, file_smaller_than_the_run_fails) {
  EXPECT_EQ(verdict_of(judge_limits({.file_bytes = 400_MiB}, demand, four), "limits.file_size"),
            ok);
  EXPECT_EQ(verdict_of(judge_limits({.file_bytes = 399_MiB}, demand, four), "limits.file_size"),
            fail);
}

TEST(JudgeLimitsTest, any_limit_of_addresses_warns_and_a_small_one_fails) {
  const auto with = [](std::uint64_t limit_bytes) {
    return verdict_of(judge_limits({.address_bytes = limit_bytes}, demand, alone),
                      "limits.address_space");
  };
  EXPECT_EQ(with(64_GiB), warn);
  EXPECT_EQ(with(1_GiB - 1), fail);
}

TEST(JudgeLimitsTest, few_open_files_warn_and_very_few_fail) {
  const auto with = [](std::uint64_t files) {
    return verdict_of(judge_limits({.open_files = files}, demand, alone), "limits.open_files");
  };
  EXPECT_EQ(with(1024), ok);
  EXPECT_EQ(with(256), warn);
  EXPECT_EQ(with(32), fail);
}

TEST(JudgeLimitsTest, few_processes_fail) {
  EXPECT_EQ(verdict_of(judge_limits({.processes = 4096}, demand, four), "limits.processes"), ok);
  EXPECT_EQ(verdict_of(judge_limits({.processes = 20}, demand, four), "limits.processes"), fail);
}

FolderFacts good_folder() {
  return {.folder = "/scratch",
          .file_system = "Lustre",
          .free_bytes = 10_GiB,
          .free_files = 100000,
          .flock = Flock::works};
}

TEST(JudgeFolderTest, good_folder_has_only_good_lines_and_says_what_is_not_known) {
  const Checks checks = judge_folder(good_folder(), demand, four);
  for (const Check& check : checks) EXPECT_EQ(check.verdict, ok) << check.name;
  EXPECT_THAT(check_of(checks, "output").found, HasSubstr("Lustre"));
  EXPECT_THAT(check_of(checks, "output.space").found, HasSubstr("room for 102"));
  EXPECT_THAT(check_of(checks, "output.space").found, HasSubstr("quota not known"));
}

TEST(JudgeFolderTest, folder_that_cannot_be_written_is_one_failure) {
  const Checks checks =
      judge_folder({.folder = "/ro", .problem = "Read-only file system"}, demand, alone);
  ASSERT_EQ(checks.size(), 1u);
  EXPECT_EQ(checks[0].verdict, fail);
  EXPECT_THAT(checks[0].found, HasSubstr("Read-only file system"));
}

TEST(JudgeFolderTest, room_for_less_than_the_ranks_fails_and_for_less_than_a_node_warns) {
  FolderFacts folder = good_folder();
  folder.free_bytes = 399_MiB;
  EXPECT_EQ(verdict_of(judge_folder(folder, demand, four), "output.space"), fail);
  folder.free_bytes = 400_MiB;
  EXPECT_EQ(verdict_of(judge_folder(folder, demand, four), "output.space"), warn);
  folder.free_bytes = 800_MiB;
  EXPECT_EQ(verdict_of(judge_folder(folder, demand, four), "output.space"), ok);
}

TEST(JudgeFolderTest, no_more_files_fail_and_uncounted_ones_do_not) {
  FolderFacts folder = good_folder();
  folder.free_files = 3;
  EXPECT_EQ(verdict_of(judge_folder(folder, demand, alone), "output.space"), fail);
  folder.free_files.reset();
  EXPECT_EQ(verdict_of(judge_folder(folder, demand, alone), "output.space"), ok);
}

TEST(JudgeFolderTest, memory_for_a_disk_warns) {
  FolderFacts folder = good_folder();
  folder.file_system = "tmpfs";
  EXPECT_EQ(verdict_of(judge_folder(folder, demand, alone), "output"), warn);
}

TEST(JudgeFolderTest, refused_flock_warns_and_fails_where_hdf5_is_told_to_lock) {
  FolderFacts folder = good_folder();
  folder.flock = Flock::refused;
  EXPECT_EQ(verdict_of(judge_folder(folder, demand, alone), "output.locks"), warn);
  folder.file_locking = "FALSE";
  EXPECT_EQ(verdict_of(judge_folder(folder, demand, alone), "output.locks"), warn);
  folder.file_locking = "TRUE";
  EXPECT_EQ(verdict_of(judge_folder(folder, demand, alone), "output.locks"), fail);
}

TEST(JudgeSharedMemoryTest, too_little_for_the_ranks_of_the_node_fails) {
  EXPECT_EQ(judge_shared_memory({.free_bytes = 64_MiB}, four).verdict, ok);
  EXPECT_EQ(judge_shared_memory({.free_bytes = 16_MiB}, four).verdict, fail);
  EXPECT_EQ(judge_shared_memory({.problem = "not there"}, four).verdict, fail);
  EXPECT_EQ(judge_shared_memory({.problem = "not there"}, alone).verdict, warn);
}

TEST(JudgeMpiTest, settings_of_the_environment_warn_with_both_values) {
  EXPECT_EQ(judge_mpi_settings({}).verdict, ok);
  const Check check = judge_mpi_settings({{"OMPI_MCA_io", "romio321", "ompio"}});
  EXPECT_EQ(check.verdict, warn);
  EXPECT_THAT(check.found, HasSubstr("OMPI_MCA_io=romio321"));
  EXPECT_THAT(check.found, HasSubstr("OMPI_MCA_io=ompio"));
}

TEST(JudgeMpiTest, ranks_that_do_not_know_each_other_fail_and_name_the_option) {
  EXPECT_EQ(judge_mpi_start({.ranks = 4, .start_s = 0.3}, four).verdict, ok);
  const Check check = judge_mpi_start({.ranks = 1, .start_s = 0.3}, four);
  EXPECT_EQ(check.verdict, fail);
  EXPECT_THAT(check.advice, HasSubstr("--mpi=pmix"));
}

TEST(JudgeMpiTest, launcher_that_sets_no_known_variables_is_taken_by_what_mpi_says) {
  EXPECT_EQ(judge_mpi_start({.ranks = 4, .start_s = 0.3}, alone).verdict, ok);
}

TEST(JudgeMpiTest, slow_start_warns) {
  EXPECT_EQ(judge_mpi_start({.ranks = 1, .start_s = 6}, alone).verdict, warn);
}

}  // namespace
}  // namespace sonde
