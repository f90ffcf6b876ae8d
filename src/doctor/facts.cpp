// Reads variables, /proc, limits and a folder.
#include "doctor/facts.hpp"

#include <sys/file.h>
#include <sys/resource.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <fstream>

namespace sonde {
namespace fs = std::filesystem;
namespace {

/// The number that a variable starts with.
std::optional<int> number_of(const char* variable) {
  const char* text = std::getenv(variable);
  if (text == nullptr) return std::nullopt;
  int number = 0;
  const auto end = std::from_chars(text, text + std::strlen(text), number).ptr;
  return end == text ? std::nullopt : std::optional(number);
}

/// Nothing for "max" and other words.
std::optional<double> read_number(const fs::path& path) {
  std::ifstream file(path);
  double number = 0;
  return file >> number ? std::optional(number) : std::nullopt;
}

std::optional<double> available_memory(const fs::path& root) {
  std::ifstream file(root / "proc/meminfo");
  std::string word;
  while (file >> word && word != "MemAvailable:") continue;
  double kibibytes = 0;
  return file >> kibibytes ? std::optional(kibibytes * 1024) : std::nullopt;
}

/// Lowers `least_bytes` to the room left in each cgroup around this process. Version 2 of cgroups
/// has one tree, "0::/slurm/job_7"; version 1 has one for memory, "4:memory:/job" (cgroups(7)).
void apply_cgroups(const fs::path& root, std::optional<double>& least_bytes) {
  std::ifstream file(root / "proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const bool unified = line.starts_with("0::/");
    if (!unified && line.find(":memory:/") == std::string::npos) continue;
    const fs::path tree = root / "sys/fs/cgroup" / (unified ? "" : "memory");
    fs::path inner = line.substr(line.find('/') + 1);
    for (bool outermost = false; !outermost; inner = inner.parent_path()) {
      outermost = inner.empty();
      const auto limit =
          read_number(tree / inner / (unified ? "memory.max" : "memory.limit_in_bytes"));
      const auto used =
          read_number(tree / inner / (unified ? "memory.current" : "memory.usage_in_bytes"));
      if (!limit || !used) continue;
      const double left_bytes = std::max(0.0, *limit - *used);
      least_bytes = std::min(least_bytes.value_or(left_bytes), left_bytes);
    }
  }
}

std::optional<std::uint64_t> soft_limit(__rlimit_resource resource) {
  rlimit limit{};
  if (getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  return limit.rlim_cur;
}

}  // namespace

Launch read_launch() {
  if (const auto ranks = number_of("OMPI_COMM_WORLD_SIZE")) {
    return {.launcher = "mpirun",
            .is_task = true,
            .ranks = *ranks,
            .local_ranks = number_of("OMPI_COMM_WORLD_LOCAL_SIZE").value_or(*ranks),
            .local_rank = number_of("OMPI_COMM_WORLD_LOCAL_RANK").value_or(0)};
  }
  // A batch script has the SLURM_PROCID of its node, and no step. SLURM_STEP_TASKS_PER_NODE starts
  // with the tasks of the first node: "4(x2),3".
  const auto tasks = number_of("SLURM_STEP_NUM_TASKS");
  if (!tasks || !number_of("SLURM_PROCID")) return {};
  const auto is_set = [](const char* name) { return std::getenv(name) != nullptr; };
  const auto pmi = {"PMIX_NAMESPACE", "PMIX_RANK", "PMI_FD", "PMI_RANK", "PMI_CONTROL_PORT"};
  return {.launcher = "srun",
          .is_task = number_of("SLURM_TASK_PID") == getpid(),
          .has_pmi = std::ranges::any_of(pmi, is_set),
          .ranks = *tasks,
          .local_ranks = number_of("SLURM_STEP_TASKS_PER_NODE").value_or(*tasks),
          .local_rank = number_of("SLURM_LOCALID").value_or(0)};
}

HostFacts read_host(const fs::path& root) {
  HostFacts host{.file_limit_bytes = soft_limit(RLIMIT_FSIZE),
                 .address_limit_bytes = soft_limit(RLIMIT_AS),
                 .open_file_limit = soft_limit(RLIMIT_NOFILE),
                 .process_limit = soft_limit(RLIMIT_NPROC)};
  if (const int cpus = count_allowed_cpus(); cpus > 0) host.node_cpus = cpus;
  auto memory_bytes = available_memory(root);
  apply_cgroups(root, memory_bytes);
  if (memory_bytes) host.memory_bytes = static_cast<std::uint64_t>(*memory_bytes);
  struct statvfs space {};
  if (statvfs("/dev/shm", &space) == 0) {
    host.shared_memory_bytes = std::uint64_t{space.f_bavail} * space.f_frsize;
  }
  return host;
}

bool is_mps_running(const fs::path& root) {
  std::error_code ignored;
  for (const auto& process : fs::directory_iterator(root / "proc", ignored)) {
    std::string name;
    // The kernel keeps 15 letters of nvidia-cuda-mps-control.
    if (std::getline(std::ifstream(process.path() / "comm"), name) && name == "nvidia-cuda-mps") {
      return true;
    }
  }
  return false;
}

fs::path folder_of(const fs::path& file) {
  return file.has_parent_path() ? file.parent_path() : fs::path(".");
}

FolderFacts read_folder(const fs::path& folder) {
  FolderFacts facts{.folder = folder.string()};
  if (const char* locking = std::getenv("HDF5_USE_FILE_LOCKING")) facts.file_locking = locking;
  std::string name = (folder / ".sonde-doctor-XXXXXX").string();
  const int file = mkstemp(name.data());
  struct statfs kind {};
  struct statvfs space {};
  if (file < 0 || fstatfs(file, &kind) != 0 || fstatvfs(file, &space) != 0) {
    facts.problem = std::strerror(errno);
  } else {
    facts.in_memory = kind.f_type == 0x01021994 || kind.f_type == 0x858458f6;  // tmpfs, ramfs
    facts.free_bytes = std::uint64_t{space.f_bavail} * space.f_frsize;
    if (space.f_files > 0) facts.free_files = space.f_favail;
    const std::string block(4096, 's');
    const auto length = static_cast<ssize_t>(block.size());
    // A full disk or quota shows at the latest in fsync.
    if (write(file, block.data(), block.size()) != length || fsync(file) != 0) {
      facts.full = std::strerror(errno);
    }
    facts.flock = flock(file, LOCK_EX | LOCK_NB) == 0 ? Flock::works : Flock::refused;
  }
  if (file >= 0) {
    close(file);
    unlink(name.c_str());
  }
  return facts;
}

}  // namespace sonde
