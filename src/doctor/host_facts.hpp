// What a machine gives to the processes of a run, as read. An empty field: it could not be read, or
// there is no limit, as the field says.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace sonde {

/// Who started this process, by the variables of the launcher.
struct Launch {
  std::string launcher{};  // "mpirun", "srun"; "" if it was started alone
  int ranks = 1;
  int local_ranks = 1;  // on this node; as many as all ranks if the launcher does not say
  int local_rank = 0;
};

struct CpuFacts {
  int usable_cpus = 0;                 // given to this process
  int node_cpus = 0;                   // for all processes of its cgroup on this node
  std::optional<double> quota_cpus{};  // of its cgroup; nothing: no quota
};

struct MemoryFacts {
  std::optional<std::uint64_t> available_bytes{};    // of the machine, without swapping
  std::optional<std::uint64_t> cgroup_left_bytes{};  // nothing: no limit
};

/// Soft limits; nothing: unlimited.
struct LimitFacts {
  std::optional<std::uint64_t> file_bytes{};
  std::optional<std::uint64_t> address_bytes{};
  std::optional<std::uint64_t> open_files{};
  std::optional<std::uint64_t> processes{};  // of this user
};

/// How a file system takes flock.
enum class Flock { works, refused };

struct FolderFacts {
  std::string folder{};
  std::string problem{};      // why no file can be written there; then the rest is empty
  std::string file_system{};  // "xfs", "NFS", "type 0x1234"
  std::uint64_t free_bytes = 0;
  std::optional<std::uint64_t> free_files{};  // nothing: the file system does not count them
  Flock flock = Flock::works;
  std::string file_locking{};  // HDF5_USE_FILE_LOCKING; "" if it is not set
};

/// /dev/shm, where Open MPI keeps what ranks of a node share.
struct SharedMemoryFacts {
  std::string problem{};
  std::uint64_t free_bytes = 0;
};

/// A setting of Open MPI that sonde would choose otherwise.
struct MpiOverride {
  std::string name{};  // "OMPI_MCA_io"
  std::string value{};
  std::string wanted{};
};

struct MpiStart {
  int rank = 0;
  int ranks = 0;  // that MPI knows of
  double start_s = 0;
};

}  // namespace sonde
