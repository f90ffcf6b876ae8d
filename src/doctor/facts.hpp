// Facts of a launch, a machine and its GPUs, as read; the checks judge them. An empty field: the
// system does not say, or sets no limit.
#pragma once

#include "base/units.hpp"
#include "fleet/bind_cpu.hpp"
#include "trace/gpu_survey.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sonde {

/// What a run takes for each GPU. Measured with `sonde run --backend sim:h200` (2026-11-22): quick
/// 5.9 MB on the disk and 83 MB of memory, standard 63 MB and 553 MB. Doubled on the disk, since
/// GPUs with more levels take more probes; 512 MB more memory for CUDA in the worker.
struct Demand {
  std::uint64_t disk_bytes = 0;    // shard and run file together
  std::uint64_t memory_bytes = 0;  // one rank with its worker
};
inline Demand predict_demand(std::string_view suite) {
  if (suite == "quick") return {.disk_bytes = 12_MiB, .memory_bytes = 600_MiB};
  return {.disk_bytes = 128_MiB, .memory_bytes = 1100_MiB};
}

/// Who started this process, by the variables of the launcher.
struct Launch {
  std::string launcher{};  // "mpirun", "srun"; "" if this process was started alone
  bool is_task = false;    // by the launcher itself, not by a shell or script that it started
  bool has_pmi = false;    // variables by which MPI finds the other processes (PMIx, PMI-2)
  int ranks = 1;
  int local_ranks = 1;  // on this node
  int local_rank = 0;
};

struct MpiFacts {
  int rank = 0;
  int ranks = 1;  // that MPI knows
  double start_s = 0;
  std::string hdf5_problem{};  // why the ranks cannot write a file together
};

struct HostFacts {
  std::optional<int> node_cpus{};                   // given to the processes of this node
  std::optional<std::uint64_t> memory_bytes{};      // free here: in the machine, or in the cgroup
  std::optional<std::uint64_t> file_limit_bytes{};  // this and the following: soft limits
  std::optional<std::uint64_t> address_limit_bytes{};
  std::optional<std::uint64_t> open_file_limit{};
  std::optional<std::uint64_t> process_limit{};
  std::optional<std::uint64_t> shared_memory_bytes{};  // free in /dev/shm
  std::string mpi_library{};
  std::vector<std::string> mpi_overrides{};  // "OMPI_MCA_io=romio321 (sonde would set ompio)"
};

/// How a file system takes flock.
enum class Flock { works, refused };

struct FolderFacts {
  std::string folder{};
  std::string problem{};  // why no file can be made there; then the rest is empty
  std::string full{};     // why nothing can be written into that file: a quota, no space
  bool in_memory = false;
  std::optional<std::uint64_t> free_bytes{};
  std::optional<std::uint64_t> free_files{};
  std::optional<Flock> flock{};
  std::string file_locking{};  // HDF5_USE_FILE_LOCKING
};

/// Whether a GPU that others use, too, is measured (--allow-shared-gpu).
enum class Sharing { refused, allowed };

struct Facts {
  Demand demand{};
  Sharing sharing = Sharing::refused;
  Launch launch{};
  HostFacts host{};
  MpiFacts mpi{};
  FolderFacts folder{};
  DriverSurvey driver{};
  std::optional<std::string> visible_devices{};  // CUDA_VISIBLE_DEVICES
  bool mps_runs = false;                         // a control daemon of MPS was seen
  GpuSurvey gpu{};                               // the GPU that is judged now
  std::optional<NearCpus> near_cpus{};           // to that GPU
};

/// By the variables of Open MPI and Slurm.
Launch read_launch();

/// All but `mpi_library` and `mpi_overrides`. @param root stands before /proc and /sys, for tests
HostFacts read_host(const std::filesystem::path& root = "/");

bool is_mps_running(const std::filesystem::path& root = "/");

/// Into which a file of that name goes: "." for "run.h5".
std::filesystem::path folder_of(const std::filesystem::path& file);

/// Writes and removes a small file: read-only mounts, root on NFS and quotas show only so. A sick
/// file system may let it hang.
FolderFacts read_folder(const std::filesystem::path& folder);

}  // namespace sonde
