// Names of files, checks before a run, the lock of the output, and cleaning up after the run. The
// lock is a flock: the system releases it when the process ends, so a dead run blocks no other run.
#include "store/output.hpp"

#include "base/error.hpp"
#include "base/text_file.hpp"
#include "store/hdf5/hdf5.hpp"
#include "store/points.hpp"
#include "store/run_reader.hpp"
#include "store/shard.hpp"

#include <fmt/format.h>
#include <sys/file.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

namespace sonde {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view finished_suffix = ".h5";
constexpr std::string_view unfinished_suffix = ".h5.part";

/// The type of the file at a path (of a link itself unless `follow`); may be `not_found`.
fs::file_type type_of(const fs::path& path, bool follow) {
  std::error_code error;
  const fs::file_type type =
      (follow ? fs::status(path, error) : fs::symlink_status(path, error)).type();
  if (type != fs::file_type::none) return type;
  throw StoreError(fmt::format("cannot look at '{}' ({}) choose another name with -o",
                               path.string(), error.message()));
}

/// Tries to write instead of reading permissions, which do not show root, quotas or read-only
/// mounts. The name is as long as `<out>.alone.part`, the longest name of this run.
void try_to_write_beside(const fs::path& out) {
  std::string name = out.string() + ".partXXXXXX";
  const Descriptor descriptor(mkstemp(name.data()));
  if (descriptor < 0) {
    const int cause = errno;
    throw StoreError(fmt::format(
        "cannot write into '{}' ({}; the results would be lost) choose "
        "another place with -o",
        out.has_parent_path() ? out.parent_path().string() : ".", std::strerror(cause)));
  }
  unlink(name.c_str());
}

/// If an earlier run left an unfinished file, it must be a regular file that this run can replace.
void check_unfinished(const fs::path& part) {
  const fs::file_type type = type_of(part, false);
  if (type == fs::file_type::not_found || type == fs::file_type::regular) return;
  throw ConfigError(fmt::format(
      "'{}' is no regular file (the output is written under that name first) remove it, "
      "or choose another name with -o",
      part.string()));
}

/// Only regular files are replaced: to replace a device or a pipe would harm other programs. A link
/// to a file is replaced itself; the file that it points to stays as it is.
void check_replaceable(const fs::path& path) {
  const fs::file_type type = type_of(path, true);
  if (type == fs::file_type::regular || type == fs::file_type::not_found) return;
  throw ConfigError(fmt::format("'{}' is {} (the output is a file) name a file with -o",
                                path.string(),
                                type == fs::file_type::directory ? "a folder" : "no regular file"));
}

void make_parts_folder(const fs::path& parts) {
  std::error_code error;
  fs::create_directories(parts, error);
  if (error) {
    throw StoreError(
        fmt::format("cannot make the folder '{}' ({}; each rank keeps its results in "
                    "it) choose another place with -o",
                    parts.string(), error.message()));
  }
  try_to_write_beside(parts / "shard");
}

/// Removes everything in the folder but the lock file, which this process holds.
void clear_parts(const fs::path& parts) {
  std::error_code error;
  std::vector<fs::path> old;
  for (const auto& entry : fs::directory_iterator(parts, error)) {
    if (entry.path() != lock_path(parts)) old.push_back(entry.path());
  }
  for (const fs::path& path : old) fs::remove_all(path, error);
}

}  // namespace

void prepare_store() { hdf5::prepare(); }

std::string store_library_version() {
  unsigned major = 0;
  unsigned minor = 0;
  unsigned release = 0;
  H5get_libversion(&major, &minor, &release);
  return fmt::format("HDF5 {}.{}.{}", major, minor, release);
}

fs::path parts_folder(const fs::path& out) { return out.string() + ".parts"; }

fs::path point_folder(const fs::path& parts, std::size_t points, const std::string& config_hash) {
  return points > 1 ? parts / config_hash : parts;
}

void make_point_folder(const fs::path& folder, std::size_t points) {
  std::error_code failed;  // creating a shard there will report the reason
  if (points > 1) fs::create_directory(folder, failed);
}

std::vector<fs::path> list_shards(const fs::path& parts) {
  using fs::directory_options;
  std::vector<fs::path> shards;
  std::error_code error;
  fs::recursive_directory_iterator entry(
      parts,
      directory_options::follow_directory_symlink | directory_options::skip_permission_denied,
      error);
  for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    if (entry.depth() > 0) entry.disable_recursion_pending();  // only one level of point folders
    const std::string name = entry->path().string();
    if (name.ends_with(finished_suffix)) shards.push_back(entry->path());
    if (!name.ends_with(unfinished_suffix)) continue;
    const fs::path finished = name.substr(0, name.size() - std::strlen(".part"));
    std::error_code absent;
    if (!fs::exists(finished, absent)) shards.push_back(entry->path());
  }
  std::ranges::sort(shards);
  return shards;
}

void refuse_existing(const fs::path& path) {
  check_replaceable(path);  // first, since --force would not help then
  if (type_of(path, false) == fs::file_type::not_found) return;
  throw ConfigError(
      fmt::format("'{}' is there already (it would be overwritten) choose another "
                  "name with -o, or use --force",
                  path.string()));
}

void check_target(const fs::path& path, Existing existing) {
  if (!path.has_filename()) {
    throw ConfigError(
        fmt::format("'{}' names no file (the output is one file) name it with -o", path.string()));
  }
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  if (type_of(folder, true) != fs::file_type::directory) {
    throw StoreError(
        fmt::format("the folder '{}' is not there (the output goes into it) make it or choose "
                    "another place with -o",
                    folder.string()));
  }
  check_replaceable(path);
  if (existing == Existing::refuse) refuse_existing(path);
  check_unfinished(path.string() + ".part");
  try_to_write_beside(path);
}

OutputLock take_output(const fs::path& out, Existing existing, const std::string& holder) {
  const fs::path parts = parts_folder(out);
  check_target(out, existing);
  make_parts_folder(parts);
  OutputLock lock(parts, holder);
  const bool has_shards = !list_shards(parts).empty();
  if (existing == Existing::refuse && has_shards) {
    throw ConfigError(
        fmt::format("'{}' holds results of a run that did not end (they would be "
                    "overwritten) go on with --resume, keep them with 'sonde merge', "
                    "or use --force",
                    parts.string()));
  }
  if (existing == Existing::replace) clear_parts(parts);
  remove_unfinished(out);
  return lock;
}

void remove_unfinished(const fs::path& out) {
  const std::string part = out.filename().string() + ".part";
  const fs::path folder = out.has_parent_path() ? out.parent_path() : fs::path(".");
  std::error_code error;
  std::vector<fs::path> unfinished;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    const bool of_mpi_io = name.starts_with(part + ".data.") ||
                           name.starts_with(part + ".metadata.") || name == part + ".sm";
    const bool alone = name == out.filename().string() + ".alone.part";
    if (name == part || alone || of_mpi_io) unfinished.push_back(entry.path());
  }
  for (const fs::path& path : unfinished) {
    if (!fs::is_directory(path, error)) fs::remove(path, error);
  }
}

fs::path lock_path(const fs::path& parts) { return parts / "lock"; }

OutputLock::OutputLock(const fs::path& parts, const std::string& holder)
    : file_(open(lock_path(parts).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644)) {
  if (file_ >= 0 && flock(file_, LOCK_EX | LOCK_NB) == 0) {
    static_cast<void>(ftruncate(file_, 0));
    static_cast<void>(pwrite(file_, holder.data(), holder.size(), 0));
    return;
  }
  const int error = errno;
  if (file_ >= 0 && error == EWOULDBLOCK) {
    std::ifstream file(lock_path(parts));
    std::string other;
    std::getline(file, other);
    throw ConfigError(
        fmt::format("'{}' is being written by another run ({}) wait for it, or choose another "
                    "name with -o",
                    parts.string(), other.empty() ? "not known where" : other));
  }
  note_ = fmt::format("'{}' cannot be locked ({}): see to it that no other run writes there",
                      parts.string(), std::strerror(error));
}

std::vector<fs::path> remove_joined_parts(const fs::path& parts, const std::vector<Point>& points) {
  std::vector<fs::path> kept;
  std::vector<fs::path> others;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(parts, error)) {
    const fs::path& path = entry.path();
    const bool is_of_other_point = !holds(points, path.filename()) && !list_shards(path).empty();
    (path.extension() == aside_suffix || is_of_other_point ? kept : others).push_back(path);
  }
  for (const fs::path& path : others) fs::remove_all(path, error);
  if (kept.empty()) fs::remove(parts, error);
  return kept;
}

fs::path roster_path(const fs::path& parts) { return parts / "roster.json"; }

void write_roster(const fs::path& parts, const Roster& roster) {
  write_text_file(roster_path(parts), to_json(roster) + '\n');
}

Roster read_roster(const fs::path& parts) {
  const fs::path path = roster_path(parts);
  std::ifstream file(path);
  if (!file) {
    throw StoreError(fmt::format("cannot read '{}' ({}) use 'sonde merge' on the shards",
                                 path.string(), std::strerror(errno)));
  }
  return roster_from_json({std::istreambuf_iterator<char>(file), {}});
}

bool is_file_of(const fs::path& run, const Provenance& provenance) {
  try {
    const Provenance its = RunReader(run).provenance();
    return its.started_utc == provenance.started_utc && its.config_hash == provenance.config_hash &&
           its.command_line == provenance.command_line;
  } catch (const StoreError&) {
    return false;
  }
}

}  // namespace sonde
