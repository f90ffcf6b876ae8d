// The places of a run's files, and the checks of them before anything is measured.
#pragma once

#include "base/descriptor.hpp"
#include "store/run_header.hpp"

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace sonde {

/// The file that OutputLock locks.
std::filesystem::path lock_path(const std::filesystem::path& parts);

/// The lock on a parts folder. Rank 0 holds it from before measuring until its process ends.
class OutputLock {
 public:
  /// Locks an existing parts folder.
  /// @param holder text for other runs that want the lock
  /// @throws ConfigError, with the other run's text, if another run holds the lock
  OutputLock(const std::filesystem::path& parts, const std::string& holder);

  /// Why locking failed although no other run holds the lock; empty if it succeeded.
  const std::string& note() const { return note_; }

 private:
  Descriptor file_;
  std::string note_;
};

/// Switches off HDF5's own error printing and its work at exit, which would wait for lost ranks.
/// Every function of the store calls it. With parallel HDF5, call it before MPI starts.
void prepare_store();

/// "HDF5 1.10.8"
std::string store_library_version();

/// `<out>.parts`: the folder for the shards and progress files of the run that writes `<out>`.
std::filesystem::path parts_folder(const std::filesystem::path& out);

/// The folder for the shards of a point: `parts` if there is one point, else a folder in it.
std::filesystem::path point_folder(const std::filesystem::path& parts, std::size_t points,
                                   const std::string& config_hash);

/// Makes the folder of a point before its first shard. Does not make `parts` itself: if that folder
/// disappeared, all results did, too.
void make_point_folder(const std::filesystem::path& folder, std::size_t points);

/// All shards in the folder and in its point folders, finished or not. If a GPU has both, only the
/// finished one. Sorted by name.
std::vector<std::filesystem::path> list_shards(const std::filesystem::path& parts);

/// @throws ConfigError if a file of that name exists, or a link, even one that leads nowhere;
/// StoreError if this cannot be determined
void refuse_existing(const std::filesystem::path& path);

/// What to do with an existing file: throw, overwrite it, or go on from its results.
enum class Existing { refuse, replace, resume };

/// Checks that a file can be written as `<path>.part` and renamed to `path`: the folder exists and
/// is writable, and an existing file of that name is a regular file. A link is replaced by the new
/// file; its target stays as it is. Does not wait for pipes.
/// @param existing `refuse`: no file of that name may exist
/// @throws ConfigError if a file is in the way; StoreError if the folder is not writable
void check_target(const std::filesystem::path& path, Existing existing);

/// Before a run: checks that the run file and its parts can be written, makes the parts folder and
/// locks it, and removes unfinished files of an earlier run beside the output.
/// @param existing `refuse`: no run file or shards may exist; `replace`: removes old shards;
/// `resume`: keeps them and a run file, to go on from them
/// @param holder where this process runs, for other runs that want the lock
/// @throws ConfigError if a file is in the way, or another run has the lock; StoreError if the
/// folder is not writable
OutputLock take_output(const std::filesystem::path& out, Existing existing,
                       const std::string& holder);

/// Removes files that a crash during the writing of a run file may have left: `<out>.part`,
/// `<out>.alone.part`, and files of Open MPI like `<out>.part.data.0`.
void remove_unfinished(const std::filesystem::path& out);

/// Suffix of shards of another configuration that were set aside (extract_shards).
inline constexpr const char* aside_suffix = ".old";

/// Removes the parts folder of a complete run file, except results that are not in the file: shards
/// that were set aside, and folders of points that are not among those of the run.
/// @returns the files that are kept; if there are none, the folder is removed
std::vector<std::filesystem::path> remove_joined_parts(const std::filesystem::path& parts,
                                                       const std::vector<Point>& points);

/// The file of write_roster, in the parts folder.
std::filesystem::path roster_path(const std::filesystem::path& parts);

/// @throws StoreError
void write_roster(const std::filesystem::path& parts, const Roster& roster);

/// @throws StoreError if the file does not exist or is no roster
Roster read_roster(const std::filesystem::path& parts);

/// True if the run file exists and was written by the run with this provenance.
bool is_file_of(const std::filesystem::path& run, const Provenance& provenance);

}  // namespace sonde
