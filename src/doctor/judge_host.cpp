// Verdicts on CPUs, memory, limits, file systems and MPI.
#include "doctor/judge_host.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace sonde {
namespace {

// A rank, its keeper and its worker held 24 files at most, as /proc/[pid]/fd shows for a simulated
// run; Open MPI adds a connection for some of the other ranks.
constexpr std::uint64_t least_open_files = 64;
constexpr std::uint64_t good_open_files = 1024;  // the usual soft limit on Linux
// Rank, keeper and worker, with the threads of MPI and CUDA.
constexpr std::uint64_t processes_per_rank = 16;
// btl_vader_segment_size of Open MPI 4.1 is 4 MiB for each rank; and what else it keeps there.
constexpr std::uint64_t shared_bytes_per_rank = 8_MiB;
// Shards, progress, claims and the run file, for each rank.
constexpr std::uint64_t files_per_rank = 8;
// GPUs of a usual node: a disk with less room is worth a word.
constexpr std::uint64_t gpus_of_a_node = 8;
constexpr double slow_start_s = 5;

std::uint64_t count(int ranks) { return static_cast<std::uint64_t>(std::max(ranks, 1)); }

std::string print_limit(const std::optional<std::uint64_t>& limit) {
  return limit ? format_bytes(*limit) : "unlimited";
}

Check judge_file_size(const LimitFacts& limits, std::uint64_t needed_bytes) {
  Check check{.name = "limits.file_size", .found = print_limit(limits.file_bytes)};
  if (limits.file_bytes && *limits.file_bytes < needed_bytes) {
    check.verdict = CheckVerdict::fail;
    check.found += fmt::format(", a run takes up to {}", format_bytes(needed_bytes));
    check.advice = "ulimit -f unlimited";
  }
  return check;
}

/// CUDA reserves addresses for all memory of all GPUs and of the machine at its start (CUDA
/// programming guide, unified virtual addressing): any limit may be too small.
Check judge_address_space(const LimitFacts& limits, std::uint64_t needed_bytes) {
  Check check{.name = "limits.address_space", .found = print_limit(limits.address_bytes)};
  if (!limits.address_bytes) return check;
  check.verdict = *limits.address_bytes < needed_bytes ? CheckVerdict::fail : CheckVerdict::warn;
  check.found += check.verdict == CheckVerdict::fail
                     ? fmt::format(", a rank needs {}", format_bytes(needed_bytes))
                     : ": CUDA reserves more than the memory of all GPUs";
  check.advice = "ulimit -v unlimited; with Slurm look at VSizeFactor";
  return check;
}

Check judge_open_files(const LimitFacts& limits) {
  Check check{.name = "limits.open_files", .found = "unlimited"};
  if (!limits.open_files) return check;
  check.found = fmt::format("{}", *limits.open_files);
  if (*limits.open_files >= good_open_files) return check;
  check.verdict = *limits.open_files < least_open_files ? CheckVerdict::fail : CheckVerdict::warn;
  check.found +=
      fmt::format(", a rank takes some {} and a connection to other ranks", least_open_files);
  check.advice = fmt::format("ulimit -n {}", good_open_files);
  return check;
}

Check judge_processes(const LimitFacts& limits, std::uint64_t needed) {
  Check check{.name = "limits.processes", .found = "unlimited"};
  if (!limits.processes) return check;
  check.found = fmt::format("{} of this user", *limits.processes);
  if (*limits.processes >= needed) return check;
  check.verdict = CheckVerdict::fail;
  check.found += fmt::format(", the ranks here take some {}, with threads", needed);
  check.advice = fmt::format("ulimit -u {}", 4 * needed);
  return check;
}

Check judge_space(const FolderFacts& folder, const Demand& demand, std::uint64_t ranks) {
  const std::uint64_t needed_bytes = ranks * demand.disk_bytes;
  const std::uint64_t needed_files = ranks * files_per_rank;
  const std::uint64_t room = folder.free_bytes / demand.disk_bytes;
  Check check{
      .name = "output.space",
      .found = fmt::format("{} free, {} a GPU: room for {}", format_bytes(folder.free_bytes),
                           format_bytes(demand.disk_bytes), room)};
  check.found += folder.free_files ? fmt::format("; {} more files", *folder.free_files)
                                   : "; number of files not limited or not known";
  check.found += "; quota not known";
  const bool few_files = folder.free_files && *folder.free_files < needed_files;
  if (folder.free_bytes < needed_bytes || few_files) {
    check.verdict = CheckVerdict::fail;
    check.advice = fmt::format("make room for {} in {} files, or choose another place with -o",
                               format_bytes(needed_bytes), needed_files);
  } else if (room < gpus_of_a_node) {
    check.verdict = CheckVerdict::warn;
    check.advice = "make room if more GPUs are to be measured";
  }
  return check;
}

Check judge_locks(const FolderFacts& folder) {
  Check check{.name = "output.locks"};
  const std::string& setting = folder.file_locking;
  check.found = fmt::format(
      "flock {}; HDF5_USE_FILE_LOCKING {}", folder.flock == Flock::works ? "works" : "is refused",
      setting.empty() ? "is not set (sonde takes no HDF5 locks)" : "is " + setting);
  if (folder.flock == Flock::works) return check;
  check.verdict = CheckVerdict::warn;
  check.advice = "let no two runs write to one output";
  if (!setting.empty() && setting != "FALSE" && setting != "0") {
    check.verdict = CheckVerdict::fail;
    check.advice = "HDF5_USE_FILE_LOCKING=FALSE";
  }
  return check;
}

}  // namespace

Check judge_cpus(const CpuFacts& cpus, const Launch& launch) {
  Check check{.name = "cpus"};
  if (cpus.usable_cpus == 0 || cpus.node_cpus == 0) {
    check.verdict = CheckVerdict::skipped;
    check.found = "the system does not say which CPUs may be used";
    return check;
  }
  check.found = fmt::format(
      "{} for this process, {} for all of this node, {}", cpus.usable_cpus, cpus.node_cpus,
      cpus.quota_cpus ? fmt::format("{:.3g} by quota", *cpus.quota_cpus) : "no quota");
  const double least = std::min(cpus.quota_cpus.value_or(cpus.node_cpus), 1.0 * cpus.node_cpus);
  if (least < launch.local_ranks) {
    check.verdict = CheckVerdict::warn;
    check.found += fmt::format(", for {} rank(s): they disturb each other", launch.local_ranks);
    check.advice = "ask for a CPU for each rank (--cpus-per-task, --cpu-bind=none)";
  }
  return check;
}

Check judge_memory(const MemoryFacts& memory, const Demand& demand, const Launch& launch) {
  Check check{.name = "memory"};
  std::optional<std::uint64_t> left = memory.available_bytes;
  if (memory.cgroup_left_bytes && (!left || *memory.cgroup_left_bytes < *left)) {
    left = memory.cgroup_left_bytes;
  }
  if (!left) {
    check.verdict = CheckVerdict::skipped;
    check.found = "the system does not say how much is free";
    return check;
  }
  const std::uint64_t needed_bytes = count(launch.local_ranks) * demand.memory_bytes;
  check.found = fmt::format("{} left{}, {} rank(s) here need {}", format_bytes(*left),
                            left == memory.cgroup_left_bytes ? " to this cgroup" : "",
                            count(launch.local_ranks), format_bytes(needed_bytes));
  if (*left < needed_bytes) {
    check.verdict = CheckVerdict::fail;
    check.advice = "ask for more (--mem), or end other programs";
  }
  return check;
}

Checks judge_limits(const LimitFacts& limits, const Demand& demand, const Launch& launch) {
  return {judge_file_size(limits, count(launch.ranks) * demand.disk_bytes),
          judge_address_space(limits, demand.memory_bytes), judge_open_files(limits),
          judge_processes(limits, count(launch.local_ranks) * processes_per_rank)};
}

Checks judge_folder(const FolderFacts& folder, const Demand& demand, const Launch& launch) {
  if (!folder.problem.empty()) {
    return {{CheckVerdict::fail, "output",
             fmt::format("cannot write into '{}' ({})", folder.folder, folder.problem),
             "choose another place with -o"}};
  }
  Check place{.name = "output",
              .found = fmt::format("'{}' can be written, {}", folder.folder, folder.file_system)};
  if (folder.file_system == "tmpfs" || folder.file_system == "ramfs") {
    place.verdict = CheckVerdict::warn;
    place.found += ": in memory, gone with the machine, seen by no other node";
    place.advice = "choose a disk with -o";
  }
  return {place, judge_space(folder, demand, count(launch.ranks)), judge_locks(folder)};
}

Check judge_shared_memory(const SharedMemoryFacts& memory, const Launch& launch) {
  const std::uint64_t needed_bytes = count(launch.local_ranks) * shared_bytes_per_rank;
  Check check{.name = "shared_memory"};
  if (!memory.problem.empty()) {
    check.verdict = launch.local_ranks > 1 ? CheckVerdict::fail : CheckVerdict::warn;
    check.found = fmt::format("/dev/shm cannot be used ({})", memory.problem);
    check.advice = "mount a tmpfs there: Open MPI keeps there what ranks of a node share";
    return check;
  }
  check.found = fmt::format("/dev/shm has {} free, the ranks here take {}",
                            format_bytes(memory.free_bytes), format_bytes(needed_bytes));
  if (memory.free_bytes < needed_bytes) {
    check.verdict = CheckVerdict::fail;
    check.advice = "remove what crashed programs left there, or enlarge it (docker --shm-size)";
  }
  return check;
}

Check judge_mpi_settings(const std::vector<MpiOverride>& overrides) {
  if (overrides.empty()) return {CheckVerdict::ok, "mpi.settings", "sonde's own"};
  std::vector<std::string> found;
  std::vector<std::string> wanted;
  for (const MpiOverride& override : overrides) {
    found.push_back(override.name + "=" + override.value);
    wanted.push_back(override.name + "=" + override.wanted);
  }
  return {CheckVerdict::warn, "mpi.settings",
          fmt::format("the environment has {}, sonde would choose {}", fmt::join(found, " "),
                      fmt::join(wanted, " ")),
          "unset them, unless the site needs them (docs/running.md, MPI and HDF5)"};
}

Check judge_mpi_start(const MpiStart& start, const Launch& launch) {
  Check check{.name = "mpi.start"};
  check.found = fmt::format("rank {} of {} in {:.1f} s, {}", start.rank, start.ranks, start.start_s,
                            launch.launcher.empty() ? "no launcher seen" : "by " + launch.launcher);
  if (!launch.launcher.empty() && start.ranks != launch.ranks) {
    check.verdict = CheckVerdict::fail;
    check.found += fmt::format(", which started {}: they do not know each other", launch.ranks);
    check.advice = launch.launcher == "srun"
                       ? "srun --mpi=pmix (srun --mpi=list shows what Slurm has)"
                       : "use the mpirun of the same Open MPI";
  } else if (start.start_s > slow_start_s) {
    check.verdict = CheckVerdict::warn;
    check.advice = "look at the network that MPI chooses (OMPI_MCA_btl_base_verbose=30)";
  }
  return check;
}

}  // namespace sonde
