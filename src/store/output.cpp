// Names of files, and checks before anything runs.
#include "store/output.hpp"

#include "base/error.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <hdf5.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace sonde {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view finished_suffix = ".h5";
constexpr std::string_view unfinished_suffix = ".h5.part";

/// Writing is tried, not deduced from permissions: root, quotas and read-only mounts differ.
void try_to_write(const fs::path& folder) {
  std::string name = (folder / ".sonde-write-test-XXXXXX").string();
  const int descriptor = mkstemp(name.data());
  if (descriptor < 0) {
    throw StoreError(
        fmt::format("cannot write into '{}' ({}; the results would be lost) choose "
                    "another place with -o",
                    folder.string(), std::strerror(errno)));
  }
  close(descriptor);
  unlink(name.c_str());
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
  try_to_write(parts);
}

}  // namespace

void prepare_store() {
  H5dont_atexit();  // no effect after the first HDF5 call
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

std::string store_library_version() {
  unsigned major = 0;
  unsigned minor = 0;
  unsigned release = 0;
  H5get_libversion(&major, &minor, &release);
  return fmt::format("HDF5 {}.{}.{}", major, minor, release);
}

fs::path parts_folder(const fs::path& out) { return out.string() + ".parts"; }

std::vector<fs::path> list_shards(const fs::path& parts) {
  std::vector<fs::path> shards;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(parts, error)) {
    const std::string name = entry.path().string();
    if (name.ends_with(finished_suffix)) shards.push_back(entry.path());
    if (!name.ends_with(unfinished_suffix)) continue;
    const fs::path finished = name.substr(0, name.size() - std::strlen(".part"));
    if (!fs::exists(finished)) shards.push_back(entry.path());
  }
  std::ranges::sort(shards);
  return shards;
}

void refuse_existing(const fs::path& path) {
  if (!fs::exists(path)) return;
  throw ConfigError(
      fmt::format("'{}' is there already (it would be overwritten) choose another "
                  "name with -o, or use --force",
                  path.string()));
}

void check_output(const fs::path& out, Existing existing) {
  const fs::path parts = parts_folder(out);
  const fs::path folder = out.has_parent_path() ? out.parent_path() : fs::path(".");
  if (fs::is_directory(out)) {
    throw ConfigError(
        fmt::format("'{}' is a folder (the run is one file) name a file with -o", out.string()));
  }
  if (!fs::is_directory(folder)) {
    throw StoreError(
        fmt::format("the folder '{}' is not there (the run file goes into it) make it "
                    "or choose another place with -o",
                    folder.string()));
  }
  const bool has_shards = !list_shards(parts).empty();
  if (existing == Existing::refuse) refuse_existing(out);
  if (existing == Existing::refuse && has_shards) {
    throw ConfigError(
        fmt::format("'{}' holds results of a run that did not end (they would be "
                    "overwritten) go on with --resume, keep them with 'sonde merge', "
                    "or use --force",
                    parts.string()));
  }
  try_to_write(folder);
  if (existing == Existing::replace) remove_parts(out);
  make_parts_folder(parts);
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
    if (name == part || of_mpi_io) unfinished.push_back(entry.path());
  }
  for (const fs::path& path : unfinished) {
    if (!fs::is_directory(path, error)) fs::remove(path, error);
  }
}

void remove_parts(const fs::path& out) {
  std::error_code ignored;  // what is left behind does no harm
  fs::remove_all(parts_folder(out), ignored);
}

}  // namespace sonde
