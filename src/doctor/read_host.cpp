// Launcher, CPUs, memory, limits and MPS.
#include "doctor/read_host.hpp"

#include "fleet/bind_cpu.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace sonde {
namespace fs = std::filesystem;
namespace {

std::optional<int> number_of(const char* variable) {
  const char* text = std::getenv(variable);
  if (text == nullptr) return std::nullopt;
  const std::string_view digits = text;
  int number = 0;
  const auto end = std::from_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  return end == digits.data() ? std::nullopt : std::optional(number);
}

std::optional<std::string> read_line(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  if (std::getline(file, line)) return line;
  return std::nullopt;
}

/// Nothing for "max" and for what is no number.
std::optional<double> read_count(const fs::path& path) {
  std::ifstream file(path);
  double number = 0;
  if (file >> number) return number;
  return std::nullopt;
}

template <class Value>
void take_smaller(std::optional<Value>& least, std::optional<Value> other) {
  if (other) least = least ? std::min(*least, *other) : *other;
}

/// Folders of the cgroup of this process and of those around it, of one controller: version 2 has
/// all in one tree, version 1 a tree each (cgroups(7), /proc/[pid]/cgroup).
std::vector<fs::path> cgroup_folders(const fs::path& root, const std::string& controller) {
  std::vector<fs::path> folders;
  std::ifstream file(root / "proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    std::istringstream parts(line);
    std::string hierarchy;
    std::string controllers;
    std::string path;
    if (!std::getline(parts, hierarchy, ':') || !std::getline(parts, controllers, ':') ||
        !std::getline(parts, path)) {
      continue;
    }
    const bool named = ("," + controllers + ",").find("," + controller + ",") != std::string::npos;
    if (!controllers.empty() && !named) continue;
    const fs::path tree = root / "sys/fs/cgroup" / (named ? controller : "");
    for (fs::path inner = fs::path(path).relative_path();; inner = inner.parent_path()) {
      folders.push_back(tree / inner);
      if (inner.empty()) break;
    }
  }
  return folders;
}

/// "200000 100000" of cpu.max: so many microseconds in each period of so many.
std::optional<double> read_cpu_max(const fs::path& path) {
  std::ifstream file(path);
  double quota_us = 0;
  double period_us = 0;
  if (file >> quota_us >> period_us && quota_us > 0 && period_us > 0) return quota_us / period_us;
  return std::nullopt;
}

std::optional<double> read_cfs_quota(const fs::path& folder) {
  const auto quota_us = read_count(folder / "cpu.cfs_quota_us");
  const auto period_us = read_count(folder / "cpu.cfs_period_us");
  if (!quota_us || !period_us || *quota_us <= 0 || *period_us <= 0) return std::nullopt;
  return *quota_us / *period_us;
}

std::optional<std::uint64_t> memory_left(const fs::path& limit, const fs::path& usage) {
  const auto limit_bytes = read_count(limit);
  const auto used_bytes = read_count(usage);
  // Version 1 says "no limit" by a number near 2^63.
  if (!limit_bytes || !used_bytes || *limit_bytes > 0x1p62) return std::nullopt;
  return static_cast<std::uint64_t>(std::max(0.0, *limit_bytes - *used_bytes));
}

std::optional<std::uint64_t> soft_limit(__rlimit_resource resource) {
  rlimit limit{};
  if (getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  return limit.rlim_cur;
}

}  // namespace

Launch read_launch() {
  Launch launch;
  if (const auto ranks = number_of("OMPI_COMM_WORLD_SIZE")) {
    launch = {.launcher = "mpirun",
              .ranks = *ranks,
              .local_ranks = number_of("OMPI_COMM_WORLD_LOCAL_SIZE").value_or(*ranks),
              .local_rank = number_of("OMPI_COMM_WORLD_LOCAL_RANK").value_or(0)};
  } else if (const auto tasks = number_of("SLURM_STEP_NUM_TASKS");
             tasks && number_of("SLURM_PROCID")) {
    // SLURM_STEP_TASKS_PER_NODE starts with the tasks of the first node, "4(x2),3".
    launch = {.launcher = "srun",
              .ranks = *tasks,
              .local_ranks = number_of("SLURM_STEP_TASKS_PER_NODE").value_or(*tasks),
              .local_rank = number_of("SLURM_LOCALID").value_or(0)};
  }
  return launch;
}

CpuFacts read_cpus(const fs::path& root) {
  CpuFacts cpus;
  cpus.usable_cpus = count_given_cpus();
  cpus.node_cpus = count_allowed_cpus();
  for (const fs::path& folder : cgroup_folders(root, "cpu")) {
    take_smaller(cpus.quota_cpus, read_cpu_max(folder / "cpu.max"));
    take_smaller(cpus.quota_cpus, read_cfs_quota(folder));
  }
  return cpus;
}

MemoryFacts read_memory(const fs::path& root) {
  MemoryFacts memory;
  std::ifstream file(root / "proc/meminfo");
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string name;
    std::uint64_t kibibytes = 0;
    if (words >> name >> kibibytes && name == "MemAvailable:") {
      memory.available_bytes = kibibytes * 1024;
    }
  }
  for (const fs::path& folder : cgroup_folders(root, "memory")) {
    take_smaller(memory.cgroup_left_bytes,
                 memory_left(folder / "memory.max", folder / "memory.current"));
    take_smaller(memory.cgroup_left_bytes,
                 memory_left(folder / "memory.limit_in_bytes", folder / "memory.usage_in_bytes"));
  }
  return memory;
}

LimitFacts read_limits() {
  return {.file_bytes = soft_limit(RLIMIT_FSIZE),
          .address_bytes = soft_limit(RLIMIT_AS),
          .open_files = soft_limit(RLIMIT_NOFILE),
          .processes = soft_limit(RLIMIT_NPROC)};
}

MpsFacts read_mps(const fs::path& root) {
  const char* folder = std::getenv("CUDA_MPS_PIPE_DIRECTORY");
  MpsFacts mps{.pipe_folder = folder != nullptr ? folder : "/tmp/nvidia-mps"};
  std::error_code ignored;
  mps.pipe_is_there =
      fs::exists(root / fs::path(mps.pipe_folder).relative_path() / "control", ignored);
  for (const auto& process : fs::directory_iterator(root / "proc", ignored)) {
    // The kernel keeps 15 letters of nvidia-cuda-mps-control.
    mps.daemon_runs |= read_line(process.path() / "comm") == "nvidia-cuda-mps";
  }
  return mps;
}

}  // namespace sonde
