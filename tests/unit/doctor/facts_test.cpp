// What is read of a machine, from folders that stand for it.
#include "doctor/facts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <map>

namespace sonde {
namespace {

namespace fs = std::filesystem;

class FactsTest : public ::testing::Test {
 protected:
  ~FactsTest() override { fs::remove_all(root_); }
  void write(const fs::path& path, const std::string& text) const {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  fs::path root_ = fs::temp_directory_path() / ("sonde-doctor-test-" + std::to_string(getpid()));
};

TEST_F(FactsTest, least_limit_of_the_cgroups_around_counts) {
  write("proc/self/cgroup", "0::/slurm/job_7/step_0\n");
  write("sys/fs/cgroup/slurm/job_7/memory.max", "4000\n");
  write("sys/fs/cgroup/slurm/job_7/memory.current", "1000\n");
  write("sys/fs/cgroup/slurm/job_7/step_0/memory.max", "max\n");
  write("sys/fs/cgroup/slurm/job_7/step_0/memory.current", "900\n");

  EXPECT_EQ(read_host(root_).memory_bytes, 3000u);
}

TEST_F(FactsTest, version_1_of_cgroups_is_read_and_its_no_limit_known) {
  write("proc/self/cgroup", "4:memory:/job\n3:cpu,cpuacct:/job\n1:name=systemd:/user\n");
  write("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "9223372036854771712\n");
  write("sys/fs/cgroup/memory/job/memory.usage_in_bytes", "1000\n");
  write("proc/meminfo", "MemAvailable: 50 kB\n");
  EXPECT_EQ(read_host(root_).memory_bytes, 50u * 1024);

  write("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "4000\n");
  EXPECT_EQ(read_host(root_).memory_bytes, 3000u);
}

TEST_F(FactsTest, available_memory_is_read_in_bytes) {
  write("proc/meminfo", "MemTotal:  100 kB\nMemFree: 5 kB\nMemAvailable:     50 kB\n");
  EXPECT_EQ(read_host(root_).memory_bytes, 50u * 1024);
}

TEST_F(FactsTest, mps_daemon_is_known_by_its_process) {
  write("proc/17/comm", "bash\n");
  EXPECT_FALSE(is_mps_running(root_));
  write("proc/18/comm", "nvidia-cuda-mps\n");
  EXPECT_TRUE(is_mps_running(root_));
}

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
                        {"SLURM_STEP_TASKS_PER_NODE", "4(x3)"},
                        {"SLURM_PROCID", "5"},
                        {"SLURM_LOCALID", "1"},
                        {"SLURM_TASK_PID", std::to_string(getpid())}});
  const Launch launch = read_launch();
  EXPECT_EQ(launch.launcher, "srun");
  EXPECT_TRUE(launch.is_task);
  EXPECT_EQ(launch.ranks, 12);
  EXPECT_EQ(launch.local_ranks, 4);
  EXPECT_EQ(launch.local_rank, 1);
}

TEST(ReadLaunchTest, process_that_a_task_started_is_no_task) {
  const Variables step({{"SLURM_STEP_NUM_TASKS", "12"},
                        {"SLURM_PROCID", "0"},
                        {"SLURM_TASK_PID", std::to_string(getppid())}});
  EXPECT_EQ(read_launch().launcher, "srun");
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

TEST_F(FactsTest, folder_is_written_locked_and_left_empty) {
  fs::create_directories(root_);
  const FolderFacts facts = read_folder(root_);
  EXPECT_EQ(facts.problem, "");
  EXPECT_EQ(facts.full, "");
  EXPECT_EQ(facts.flock, Flock::works);
  EXPECT_GT(facts.free_bytes, 0u);
  EXPECT_TRUE(fs::is_empty(root_));
}

TEST_F(FactsTest, folder_that_is_not_there_says_so) {
  EXPECT_EQ(read_folder(root_ / "nowhere").problem, "No such file or directory");
}

}  // namespace
}  // namespace sonde
