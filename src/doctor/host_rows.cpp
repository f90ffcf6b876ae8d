// The checks of driver, machine, launch and folder.
#include "doctor/checks.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sonde {
namespace {

using std::string;

string when(bool bad, const string& line) { return bad ? line : ""; }

string cuda(int version) { return fmt::format("{}.{}", version / 1000, version % 1000 / 10); }

// Of a rank with its keeper and worker, as /proc showed for a simulated run; threads included.
constexpr std::uint64_t open_files = 64;
constexpr std::uint64_t processes_of_rank = 16;
constexpr std::uint64_t files_on_disk = 8;
// btl_vader_segment_size of Open MPI 4.1 is 4 MiB, and it keeps other things there, too.
constexpr std::uint64_t shared_bytes_of_rank = 8_MiB;
constexpr double slow_start_s = 5;

std::uint64_t local_ranks(F f) { return static_cast<std::uint64_t>(f.launch.local_ranks); }
std::uint64_t all_ranks(F f) { return static_cast<std::uint64_t>(f.launch.ranks); }

/// @param limit nothing: there is none
string judge_limit(std::optional<std::uint64_t> limit, std::uint64_t needed, const char* advice) {
  return when(limit.value_or(needed) < needed,
              fmt::format("{}, a run needs some {} -> {}", limit.value_or(0), needed, advice));
}

/// Whether the launcher started other processes than MPI knows.
bool misses_ranks(F f) { return !f.launch.launcher.empty() && f.mpi.ranks != f.launch.ranks; }

/// Certain if the launcher itself started this process, and it is alone. A shell or script that it
/// started (`srun -n 4 --pty bash`) may start one process alone on purpose.
bool misses_ranks_for_certain(F f) {
  return misses_ranks(f) && f.launch.is_task && f.mpi.ranks == 1;
}

string describe_missing_ranks(F f) {
  const bool by_srun = f.launch.launcher == "srun";
  return fmt::format(
      "{} started {} processes, but MPI knows {} (each would measure the same GPU, as a run of its "
      "own) -> {}",
      f.launch.launcher, f.launch.ranks, f.mpi.ranks,
      by_srun ? "srun --mpi=pmix; srun --mpi=list shows what Slurm has"
              : "use the mpirun of the MPI that sonde was built with");
}

string judge_driver(F f) {
  if (!f.driver.cuda_in_build) {
    return "this sonde was built without CUDA -> build it where nvcc is found, or use --backend "
           "sim:h200";
  }
  if (f.driver.driver_version == 0) {
    return "no NVIDIA driver (libcuda.so.1 is not there, or older than CUDA) -> load it, start the "
           "container with its GPUs, or use --backend sim:h200";
  }
  return when(f.driver.driver_version / 1000 < f.driver.needed_version / 1000,
              fmt::format("for CUDA {}, this build has CUDA {} -> update the driver, or build with "
                          "its CUDA version",
                          cuda(f.driver.driver_version), cuda(f.driver.needed_version)));
}

string judge_gpus(F f) {
  if (!f.driver.problem.empty()) return f.driver.problem + " -> look at nvidia-smi and dmesg";
  if (!f.driver.gpus.empty()) return "";
  if (!f.visible_devices) {
    return "the driver shows none -> look at nvidia-smi -L; ask Slurm for GPUs (--gpus-per-node)";
  }
  return fmt::format(
      "CUDA_VISIBLE_DEVICES={} shows none -> set it to GPUs of this machine, or unset it",
      *f.visible_devices);
}

string judge_space(F f) {
  const std::uint64_t free_bytes = f.folder.free_bytes.value();
  const std::uint64_t needed_bytes = all_ranks(f) * f.demand.disk_bytes;
  const std::uint64_t needed_files = all_ranks(f) * files_on_disk;
  const std::uint64_t free_files = f.folder.free_files.value_or(needed_files);
  return when(
      !f.folder.full.empty() || free_bytes < needed_bytes || free_files < needed_files,
      fmt::format("{} free, room for {} files {} -> make room for {} in {} files, or choose "
                  "another place with -o",
                  format_bytes(free_bytes), free_files, f.folder.full, format_bytes(needed_bytes),
                  needed_files));
}

using enum Subject;
using enum CheckSeverity;
constexpr CheckRow rows[]{
    {driver, "driver", fails, judge_driver},
    {driver, "driver.release", informs,
     [](F f) {
       return fmt::format("{} for CUDA {}, this build has CUDA {}", f.driver.driver_release,
                          cuda(f.driver.driver_version), cuda(f.driver.needed_version));
     }},
    {driver, "gpus", fails, judge_gpus},
    {driver, "mps", fails_unless_shared,
     [](F f) {
       return when(f.mps_runs, "its control daemon runs -> echo quit | nvidia-cuda-mps-control");
     }},
    {host, "cpus", warns,
     [](F f) {
       return when(f.host.node_cpus.value() < f.launch.local_ranks,
                   fmt::format("{} for {} ranks (they disturb each other) -> --cpus-per-task, "
                               "--cpu-bind=none",
                               *f.host.node_cpus, f.launch.local_ranks));
     }},
    {host, "memory", fails,
     [](F f) {
       const std::uint64_t left_bytes = f.host.memory_bytes.value();
       const std::uint64_t needed_bytes = local_ranks(f) * f.demand.memory_bytes;
       return when(left_bytes < needed_bytes,
                   fmt::format("{} left, the ranks here need {} -> ask for more (--mem)",
                               format_bytes(left_bytes), format_bytes(needed_bytes)));
     }},
    {host, "limits.file_size", fails,
     [](F f) {
       return judge_limit(f.host.file_limit_bytes, all_ranks(f) * f.demand.disk_bytes,
                          "ulimit -f unlimited");
     }},
    {host, "limits.address_space", warns,
     [](F f) {
       return when(f.host.address_limit_bytes.has_value(),
                   "limited (CUDA reserves more than the memory of all GPUs) -> ulimit -v "
                   "unlimited; with Slurm look at VSizeFactor");
     }},
    {host, "limits.open_files", fails,
     [](F f) { return judge_limit(f.host.open_file_limit, open_files, "ulimit -n 1024"); }},
    {host, "limits.processes", fails,
     [](F f) {
       return judge_limit(f.host.process_limit, local_ranks(f) * processes_of_rank,
                          "ulimit -u unlimited");
     }},
    {host, "shared_memory", fails,
     [](F f) {
       const std::uint64_t free_bytes = f.host.shared_memory_bytes.value_or(0);
       return when(free_bytes < local_ranks(f) * shared_bytes_of_rank,
                   fmt::format("/dev/shm has {} free, a rank takes {} -> remove what crashed "
                               "programs left there, or enlarge it (docker --shm-size)",
                               format_bytes(free_bytes), format_bytes(shared_bytes_of_rank)));
     }},
    {host, "mpi.settings", warns,
     [](F f) {
       return when(!f.host.mpi_overrides.empty(),
                   fmt::format("the environment has {} -> unset them, unless the site needs them "
                               "(docs/running.md, MPI and HDF5)",
                               fmt::join(f.host.mpi_overrides, ", ")));
     }},
    // Not certain: Open MPI that was built with PMI-1 of Slurm needs none of these variables.
    {launch, "mpi.pmi", warns,
     [](F f) {
       return when(
           f.launch.launcher == "srun" && f.launch.is_task && f.launch.ranks > 1 &&
               !f.launch.has_pmi,
           fmt::format("srun started {} processes without PMI (MPI cannot start, or each is "
                       "alone) -> srun --mpi=pmix; srun --mpi=list shows what Slurm has",
                       f.launch.ranks));
     }},
    {mpi, "mpi", informs,
     [](F f) {
       return fmt::format("rank {} of {} in {:.1f} s, {}", f.mpi.rank, f.mpi.ranks, f.mpi.start_s,
                          f.host.mpi_library);
     }},
    {mpi, "mpi.launch", refuses,
     [](F f) { return when(misses_ranks_for_certain(f), describe_missing_ranks(f)); }},
    {mpi, "mpi.ranks", warns,
     [](F f) {
       return when(misses_ranks(f) && !misses_ranks_for_certain(f), describe_missing_ranks(f));
     }},
    {mpi, "mpi.start", warns,
     [](F f) {
       return when(f.mpi.start_s > slow_start_s,
                   "slow -> look at the network that MPI chooses (OMPI_MCA_btl_base_verbose=30)");
     }},
    {mpi, "hdf5", fails,
     [](F f) {
       return when(!f.mpi.hdf5_problem.empty(),
                   f.mpi.hdf5_problem + " -> look at 'output', OMPI_MCA_io, HDF5_USE_FILE_LOCKING");
     }},
    {folder, "output", refuses,
     [](F f) {
       return when(!f.folder.problem.empty(),
                   fmt::format("cannot write into '{}' ({}; the results would be lost) -> choose "
                               "another place with -o",
                               f.folder.folder, f.folder.problem));
     }},
    {folder, "output.disk", warns,
     [](F f) {
       return when(f.folder.in_memory,
                   "a folder in memory (gone with the machine) -> choose a disk with -o");
     }},
    {folder, "output.space", fails, judge_space},
    // HDF5 1.10 takes locks for the words TRUE and 1 alone (H5FDsec2.c).
    {folder, "output.locks", refuses,
     [](F f) {
       const string& word = f.folder.file_locking;
       return when(f.folder.flock.value() == Flock::refused && (word == "TRUE" || word == "1"),
                   fmt::format("HDF5_USE_FILE_LOCKING={}, but '{}' refuses flock (HDF5 could open "
                               "no file there) -> HDF5_USE_FILE_LOCKING=FALSE",
                               word, f.folder.folder));
     }},
    {folder, "output.flock", warns,
     [](F f) {
       return when(f.folder.flock.value() == Flock::refused,
                   "refused -> let no two runs write to one output");
     }},
};

}  // namespace

std::span<const CheckRow> host_rows() { return rows; }

}  // namespace sonde
