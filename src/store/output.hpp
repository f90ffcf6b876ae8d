// Where the files of a run lie, and the questions to ask before anything is measured.
#pragma once

#include "base/descriptor.hpp"
#include "store/run_header.hpp"

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace sonde {

std::filesystem::path lock_path(const std::filesystem::path& parts);

/// Held by rank 0 from before it measures until its process ends, however it ends.
class OutputLock {
 public:
  /// Locks a parts folder that is there.
  /// @throws ConfigError if another run holds it, saying where that runs
  OutputLock(const std::filesystem::path& parts, const std::string& holder);

  /// Why there is no lock although nobody else holds one; empty if there is. For the log.
  const std::string& note() const { return note_; }

 private:
  Descriptor file_;
  std::string note_;
};

/// Silences HDF5's own error printing and its work at exit, which would wait for lost ranks. Every
/// function of the store calls it; a program that uses parallel HDF5 calls it before MPI starts.
void prepare_store();

/// "HDF5 1.10.8"
std::string store_library_version();

/// `<out>.parts`: shards and progress files of the run that ends in `<out>`.
std::filesystem::path parts_folder(const std::filesystem::path& out);

/// Where in it the shards of a point are: of the only point there, else in a folder of its own.
std::filesystem::path point_folder(const std::filesystem::path& parts, std::size_t points,
                                   const std::string& config_hash);

/// Makes that folder, before the first shard of its point. Not `parts` itself: when that is gone,
/// what was measured is.
void make_point_folder(const std::filesystem::path& folder, std::size_t points);

/// Shards in that folder and in those of its points, finished or not; of a GPU with both, the
/// finished one. Sorted by name.
std::vector<std::filesystem::path> list_shards(const std::filesystem::path& parts);

/// @throws ConfigError if something of that name is there, even a link that leads nowhere;
///   StoreError if that cannot be found out
void refuse_existing(const std::filesystem::path& path);

enum class Existing { refuse, replace, resume };

/// Checks that a file can be written at `path`, by way of `<path>.part`: its folder is there and
/// can be written into, and what stands in the way is a regular file. A link to one is replaced by
/// the new file; what it points to stays as it is. Does not wait for pipes.
/// @param existing `refuse`: nothing of the name may be there
/// @throws ConfigError if something is in the way; StoreError if the folder is not writable
void check_target(const std::filesystem::path& path, Existing existing);

/// Checks before anything runs that the run file and its parts can be written, makes the parts
/// folder and locks it. `refuse`: neither a file nor shards of an earlier run may be there;
/// `replace` removes old shards; `resume` keeps them, and a run file, to go on from. What an
/// earlier run left unfinished beside the file is removed.
/// @param holder where this process runs, for others that want the lock
/// @throws ConfigError if something is in the way, or another run holds the lock; StoreError if the
/// folder is not writable
OutputLock take_output(const std::filesystem::path& out, Existing existing,
                       const std::string& holder);

/// Removes what a crash while a run file was written may have left beside it: `<out>.part`,
/// `<out>.alone.part`, and Open MPI's `<out>.part.data.0` and the like.
void remove_unfinished(const std::filesystem::path& out);

/// Shards in the parts folder of a run file that were measured at none of its points. Each shard is
/// opened, which takes a while where there are many. @param on_shard called before each of them
/// @throws StoreError if the run file cannot be read
std::vector<std::filesystem::path> list_foreign_shards(const std::filesystem::path& run,
                                                       const std::function<void()>& on_shard = {});

/// Removes the parts folder of a run file that is whole, but for results that the file does not
/// hold: these shards, and those that were set aside (Shard::resume).
/// @returns them; the folder is gone if there are none
std::vector<std::filesystem::path> remove_joined_parts(
    const std::filesystem::path& run, const std::vector<std::filesystem::path>& foreign);

std::filesystem::path roster_path(const std::filesystem::path& parts);

/// @throws StoreError
void write_roster(const std::filesystem::path& parts, const Roster& roster);

/// @throws StoreError if it is not there, or no roster
Roster read_roster(const std::filesystem::path& parts);

/// Whether that run file is there and was written by the run of this provenance.
bool is_file_of(const std::filesystem::path& run, const Provenance& provenance);

}  // namespace sonde
