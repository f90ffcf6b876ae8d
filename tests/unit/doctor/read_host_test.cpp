// What is read of a machine, from folders that stand for it.
#include "doctor/read_host.hpp"

#include "doctor/read_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

namespace sonde {
namespace {

namespace fs = std::filesystem;

class ReadHostTest : public ::testing::Test {
 protected:
  ~ReadHostTest() override { fs::remove_all(root_); }
  void write(const fs::path& path, const std::string& text) const {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  fs::path root_ = fs::temp_directory_path() / ("sonde-doctor-test-" + std::to_string(getpid()));
};

TEST_F(ReadHostTest, least_limit_of_the_cgroups_around_counts) {
  write("proc/self/cgroup", "0::/slurm/job_7/step_0\n");
  write("sys/fs/cgroup/slurm/job_7/cpu.max", "400000 100000\n");
  write("sys/fs/cgroup/slurm/job_7/step_0/cpu.max", "max 100000\n");
  write("sys/fs/cgroup/slurm/cpu.max", "6400000 100000\n");
  write("sys/fs/cgroup/slurm/job_7/memory.max", "4000\n");
  write("sys/fs/cgroup/slurm/job_7/memory.current", "1000\n");
  write("sys/fs/cgroup/slurm/job_7/step_0/memory.max", "max\n");
  write("sys/fs/cgroup/slurm/job_7/step_0/memory.current", "900\n");

  EXPECT_EQ(read_cpus(root_).quota_cpus, 4.0);
  EXPECT_EQ(read_memory(root_).cgroup_left_bytes, 3000u);
}

TEST_F(ReadHostTest, version_1_of_cgroups_is_read_and_its_no_limit_known) {
  write("proc/self/cgroup", "4:memory:/job\n3:cpu,cpuacct:/job\n1:name=systemd:/user\n");
  write("sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "150000\n");
  write("sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "100000\n");
  write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
  write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  write("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "9223372036854771712\n");
  write("sys/fs/cgroup/memory/job/memory.usage_in_bytes", "1000\n");

  EXPECT_EQ(read_cpus(root_).quota_cpus, 1.5);
  EXPECT_EQ(read_memory(root_).cgroup_left_bytes, std::nullopt);
}

TEST_F(ReadHostTest, available_memory_is_read_in_bytes) {
  write("proc/meminfo", "MemTotal:  100 kB\nMemFree: 5 kB\nMemAvailable:     50 kB\n");
  EXPECT_EQ(read_memory(root_).available_bytes, 50u * 1024);
}

TEST_F(ReadHostTest, mps_daemon_is_known_by_its_process_and_its_pipe) {
  unsetenv("CUDA_MPS_PIPE_DIRECTORY");
  write("proc/17/comm", "bash\n");
  EXPECT_FALSE(read_mps(root_).daemon_runs);
  EXPECT_FALSE(read_mps(root_).pipe_is_there);
  write("proc/18/comm", "nvidia-cuda-mps\n");
  write("tmp/nvidia-mps/control", "");
  EXPECT_TRUE(read_mps(root_).daemon_runs);
  EXPECT_TRUE(read_mps(root_).pipe_is_there);
}

TEST_F(ReadHostTest, launcher_is_known_by_its_variables) {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS"}) unsetenv(name);
  EXPECT_EQ(read_launch().launcher, "");
  EXPECT_EQ(read_launch().ranks, 1);
  setenv("SLURM_STEP_NUM_TASKS", "12", 1);
  setenv("SLURM_STEP_TASKS_PER_NODE", "4(x3)", 1);
  setenv("SLURM_PROCID", "5", 1);
  setenv("SLURM_LOCALID", "1", 1);
  const Launch launch = read_launch();
  EXPECT_EQ(launch.launcher, "srun");
  EXPECT_EQ(launch.ranks, 12);
  EXPECT_EQ(launch.local_ranks, 4);
  EXPECT_EQ(launch.local_rank, 1);
  for (const char* name :
       {"SLURM_STEP_NUM_TASKS", "SLURM_STEP_TASKS_PER_NODE", "SLURM_PROCID", "SLURM_LOCALID"}) {
    unsetenv(name);
  }
}

TEST_F(ReadHostTest, folder_is_written_locked_and_left_empty) {
  fs::create_directories(root_);
  const FolderFacts facts = read_folder(root_);
  EXPECT_EQ(facts.problem, "");
  EXPECT_EQ(facts.flock, Flock::works);
  EXPECT_GT(facts.free_bytes, 0u);
  EXPECT_TRUE(fs::is_empty(root_));
}

TEST_F(ReadHostTest, folder_that_is_not_there_says_so) {
  EXPECT_EQ(read_folder(root_ / "nowhere").problem, "No such file or directory");
}

TEST(NameFileSystemTest, knows_the_usual_ones_and_prints_the_number_of_others) {
  EXPECT_EQ(name_file_system(0x6969), "NFS");
  EXPECT_EQ(name_file_system(0x0bd00bd0), "Lustre");
  EXPECT_EQ(name_file_system(0x1234), "type 0x1234");
}

}  // namespace
}  // namespace sonde
