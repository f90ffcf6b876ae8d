#include "doctor/machine.hpp"

#include "base/descriptor.hpp"
#include "base/units.hpp"

#include <fmt/format.h>
#include <sys/file.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>

namespace sonde {
namespace {

using std::string;
using enum CheckVerdict;

/// The number that an environment variable starts with.
std::optional<int> number_of(const char* variable) {
  const char* text = std::getenv(variable);
  if (text == nullptr || *text == '\0') return std::nullopt;
  return static_cast<int>(std::strtol(text, nullptr, 10));
}

}  // namespace

Launch read_launch() {
  if (const auto ranks = number_of("OMPI_COMM_WORLD_SIZE")) {
    return {.launcher = "mpirun",
            .is_task = true,
            .ranks = *ranks,
            .local_rank = number_of("OMPI_COMM_WORLD_LOCAL_RANK").value_or(0)};
  }
  // A batch script has the SLURM_PROCID of its node but no step.
  const auto tasks = number_of("SLURM_STEP_NUM_TASKS");
  if (!tasks || !number_of("SLURM_PROCID")) return {};
  const auto is_set = [](const char* name) { return std::getenv(name) != nullptr; };
  const auto pmi = {"PMIX_NAMESPACE", "PMIX_RANK", "PMI_FD", "PMI_RANK", "PMI_CONTROL_PORT"};
  return {.launcher = "srun",
          .is_task = number_of("SLURM_TASK_PID") == getpid(),
          .has_pmi = std::ranges::any_of(pmi, is_set),
          .ranks = *tasks,
          .local_rank = number_of("SLURM_LOCALID").value_or(0)};
}

Check check_pmi(const Launch& launch) {
  return check("mpi.pmi",
               launch.launcher == "srun" && launch.is_task && launch.ranks > 1 && !launch.has_pmi,
               warn,
               fmt::format("srun started {} processes without PMI (MPI cannot start, or each is "
                           "alone) -> srun --mpi=pmix; srun --mpi=list shows what Slurm has",
                           launch.ranks));
}

Check check_launch(const Launch& launch, int mpi_ranks) {
  // In a step with a shell or script (`srun -n 4 --pty bash`), a single process may be intended.
  const bool certain = launch.is_task && mpi_ranks == 1;
  return check("mpi.launch", !launch.launcher.empty() && mpi_ranks != launch.ranks,
               certain ? fail : warn,
               fmt::format("{} started {} processes, but MPI knows {} (each would measure the same "
                           "GPU, as a run of its own) -> {}",
                           launch.launcher, launch.ranks, mpi_ranks,
                           launch.launcher == "srun"
                               ? "srun --mpi=pmix; srun --mpi=list shows what Slurm has"
                               : "use the mpirun of the MPI that sonde was built with"));
}

std::filesystem::path folder_of(const std::filesystem::path& file) {
  return file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
}

Checks check_folder(const std::filesystem::path& folder) {
  string name = (folder / ".sonde-doctor-XXXXXX").string();
  const Descriptor file(mkstemp(name.data()));
  if (file < 0) {
    return {{fail, "output",
             fmt::format("cannot write into '{}' ({}; the results would be lost) -> choose another "
                         "place with -o",
                         folder.string(), std::strerror(errno))}};
  }
  const bool locks = flock(file, LOCK_EX | LOCK_NB) == 0;
  unlink(name.c_str());
  // HDF5 1.10 requires locks only for the words TRUE and 1 (H5FDsec2.c).
  const char* variable = std::getenv("HDF5_USE_FILE_LOCKING");
  const string word = variable == nullptr ? "" : variable;
  const string told = fmt::format(
      "HDF5_USE_FILE_LOCKING={}, but '{}' refuses flock (HDF5 could open no file there) -> "
      "HDF5_USE_FILE_LOCKING=FALSE",
      word, folder.string());
  const bool must_lock = word == "TRUE" || word == "1";
  return {{.name = "output"},
          check("output.locks", !locks, must_lock ? fail : warn,
                must_lock ? told : "refused -> let no two runs write to one output")};
}

Check check_space(const Launch& launch, const std::filesystem::path& folder,
                  std::string_view suite) {
  // Shard and run file of one GPU. An H200 needed 7 MB (quick) and 28 MB (standard) on 2026-11-29;
  // doubled, since GPUs with more levels need more probes.
  const std::uint64_t needed_bytes =
      static_cast<std::uint64_t>(launch.ranks) * (suite == "quick" ? 14_MiB : 56_MiB);
  struct statvfs space {};
  if (statvfs(folder.c_str(), &space) != 0) return {skipped, "output.space", std::strerror(errno)};
  const std::uint64_t free_bytes = std::uint64_t{space.f_bavail} * space.f_frsize;
  return check(
      "output.space", free_bytes < needed_bytes, fail,
      fmt::format("{} free, the run needs {} -> make room, or choose another place with -o",
                  format_bytes(free_bytes), format_bytes(needed_bytes)));
}

}  // namespace sonde
