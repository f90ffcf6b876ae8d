// Launches, folders, and the lines of all checks.
#include "doctor/machine.hpp"
#include "support/temporary_folder.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdlib>
#include <map>

namespace sonde {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using enum CheckVerdict;

/// Variables of a launcher, as long as it lives.
class Variables {
 public:
  explicit Variables(std::map<std::string, std::string> values) : values_(std::move(values)) {
    for (const auto& [name, value] : values_) setenv(name.c_str(), value.c_str(), 1);
  }
  ~Variables() {
    for (const auto& [name, value] : values_) unsetenv(name.c_str());
  }
  Variables(const Variables&) = delete;
  Variables& operator=(const Variables&) = delete;

 private:
  std::map<std::string, std::string> values_;
};

TEST(ReadLaunchTest, task_of_a_step_is_known_by_its_process) {
  const Variables step({{"SLURM_STEP_NUM_TASKS", "12"},
                        {"SLURM_PROCID", "5"},
                        {"SLURM_LOCALID", "1"},
                        {"SLURM_TASK_PID", std::to_string(getpid())}});
  const Launch launch = read_launch();
  EXPECT_EQ(launch.launcher, "srun");
  EXPECT_TRUE(launch.is_task);
  EXPECT_EQ(launch.ranks, 12);
  EXPECT_EQ(launch.local_rank, 1);
  const Variables script({{"SLURM_TASK_PID", std::to_string(getppid())}});  // which a task started
  EXPECT_FALSE(read_launch().is_task);
}

TEST(ReadLaunchTest, batch_script_of_many_tasks_and_no_variables_are_no_launch) {
  EXPECT_EQ(read_launch().launcher, "");
  const Variables batch({{"SLURM_NTASKS", "12"}, {"SLURM_PROCID", "0"}, {"SLURM_JOB_ID", "7"}});
  EXPECT_EQ(read_launch().launcher, "");
  EXPECT_EQ(read_launch().ranks, 1);
}

TEST(ReadLaunchTest, mpirun_goes_before_the_step_it_runs_in) {
  const Variables both({{"SLURM_STEP_NUM_TASKS", "12"},
                        {"SLURM_PROCID", "0"},
                        {"SLURM_TASK_PID", std::to_string(getpid())},
                        {"OMPI_COMM_WORLD_SIZE", "1"}});
  EXPECT_EQ(read_launch().launcher, "mpirun");
  EXPECT_EQ(read_launch().ranks, 1);
}

const Launch step_of_four{.launcher = "srun", .is_task = true, .has_pmi = true, .ranks = 4};

TEST(LaunchCheckTest, srun_without_pmix_fails_and_a_shell_in_its_step_is_only_warned) {
  EXPECT_EQ(check_launch(step_of_four, 4).verdict, ok);
  const Check check = check_launch(step_of_four, 1);
  EXPECT_EQ(check.verdict, fail);
  EXPECT_THAT(check.line, AllOf(HasSubstr("srun started 4 processes, but MPI knows 1"),
                                HasSubstr("--mpi=pmix")));
  Launch shell = step_of_four;
  shell.is_task = false;  // srun -n 4 --pty bash, and there: sonde run
  EXPECT_EQ(check_launch(shell, 1).verdict, warn);
  EXPECT_EQ(check_launch(step_of_four, 2).verdict, warn);
  EXPECT_EQ(check_launch({}, 1).verdict, ok);
  EXPECT_EQ(check_launch({.launcher = "srun", .is_task = true, .ranks = 1}, 1).verdict, ok);
}

TEST(LaunchCheckTest, srun_without_pmi_warns_before_mpi_starts_but_not_a_step_of_one_nor_a_shell) {
  const auto with = [](auto change) {
    Launch launch = step_of_four;
    launch.has_pmi = false;
    change(launch);
    return check_pmi(launch).verdict;
  };
  EXPECT_EQ(with([](Launch&) {}), warn);
  EXPECT_EQ(with([](Launch& launch) { launch.ranks = 1; }), ok);
  EXPECT_EQ(with([](Launch& launch) { launch.is_task = false; }), ok);
  EXPECT_EQ(with([](Launch& launch) { launch.launcher = "mpirun"; }), ok);
}

TEST(FolderCheckTest, folder_is_written_locked_and_left_empty) {
  const test::TemporaryFolder temporary;
  const fs::path& folder = temporary.path();
  EXPECT_EQ(first_failure(check_folder(folder)), "");
  EXPECT_TRUE(fs::is_empty(folder));
  EXPECT_NE(check_space({}, folder, "quick").verdict, skipped);
  EXPECT_EQ(check_space({.ranks = 1'000'000'000}, folder, "quick").verdict, fail);
  fs::remove_all(folder);
  EXPECT_THAT(first_failure(check_folder(folder)),
              AllOf(HasSubstr("cannot write into"), HasSubstr("No such file or directory")));
}

TEST(RenderChecksTest, lines_stand_in_columns_and_cannot_control_a_terminal) {
  EXPECT_EQ(render_checks({{ok, "driver", "550.90"},
                           {warn, "gpu0.persistence", "off -> nvidia-smi -pm 1"},
                           {ok, "hdf5", ""}}),
            "ok       driver               550.90\n"
            "warn     gpu0.persistence     off -> nvidia-smi -pm 1\n"
            "ok       hdf5\n");
  EXPECT_THAT(render_checks({{ok, "gpus", "a\nfail  b\x1b[2J"}}),
              HasSubstr("a\\nfail  b\\x1b[2J\n"));
}

}  // namespace
}  // namespace sonde
