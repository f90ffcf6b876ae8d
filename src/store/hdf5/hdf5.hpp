// The few HDF5 calls that the store makes, checked, and handles that close themselves. Local things
// only: a parallel file is never closed by a destructor, which would wait for the other ranks.
#pragma once

#include "base/error.hpp"

#include <hdf5.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace sonde::hdf5 {

/// Silences HDF5's own error printing and its work at exit. Every function here that opens a file
/// calls it.
void prepare();

/// @throws StoreError "<what> failed: <HDF5's own reason>" if the id or status is negative
hid_t check(hid_t id, const std::string& what);

/// The innermost message on HDF5's error stack, or the system's error if it holds one.
std::string last_reason();

/// Owns one id of a dataset, group, space, type, attribute or property list.
class Handle {
 public:
  using Closer = herr_t (*)(hid_t);
  Handle(hid_t id, Closer close, const std::string& what) : id_(check(id, what)), close_(close) {}
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Handle& operator=(Handle&&) = delete;
  ~Handle() {
    if (id_ >= 0) close_(id_);
  }
  operator hid_t() const { return id_; }

 private:
  hid_t id_;
  Closer close_;
};

enum class Durability { cached, synced };

/// An open file. Closing is explicit, as it may fail and may be collective; one that is not closed
/// stays open to the end of the process, and keeps on disk what was flushed.
class File {
 public:
  /// Serial; replaces what is there. Metadata reaches the disk at `flush` only, so that a killed
  /// process leaves the file as it was then.
  static File create(const std::filesystem::path& path);
  /// All ranks of `comm` (an MPI_Comm) together.
  static File create_together(const std::filesystem::path& path, MPI_Comm comm);
  static File open_together(const std::filesystem::path& path, MPI_Comm comm);
  static File open_to_write(const std::filesystem::path& path);

  File(File&& other) noexcept : id_(std::exchange(other.id_, -1)) {}
  File& operator=(File&& other) noexcept {
    id_ = std::exchange(other.id_, -1);
    return *this;
  }
  operator hid_t() const { return id_; }

  void flush(Durability durability = Durability::cached);
  void close();

 private:
  explicit File(hid_t id) : id_(id) {}
  hid_t id_ = -1;
};

/// Read-only, also of a file that another process is writing; closes itself.
/// @throws StoreError saying whether it is missing, no HDF5 file, or truncated
Handle open_to_read(const std::filesystem::path& path);

/// Groups of a path, each made if it is missing, remembering the order of their members.
Handle make_groups(hid_t file, const std::string& path);
/// With all that is in it, if it is there.
void remove_group(hid_t file, const std::string& path);
/// @throws StoreError as has_link does, or if there is none
Handle open_group(hid_t file, const std::string& path);
/// @throws StoreError if a part of the path is a soft or external link: those that sonde makes are
/// all hard, and others may lead to any file
bool has_link(hid_t place, const std::string& path);

/// Of variable length: for other readers. sonde reads no such text back, since HDF5 keeps them
/// where it has no checksums, and believes the lengths that it finds there.
void write_attribute(hid_t object, const std::string& name, const std::string& text);
/// Of fixed length, within the header of the object, which has a checksum.
void write_fixed_attribute(hid_t object, const std::string& name, const std::string& text);
void write_attribute(hid_t object, const std::string& name, std::uint64_t number);
/// One text of fixed length, or number. @throws StoreError if the file has anything else there
std::string read_text_attribute(hid_t object, const std::string& name);
std::uint64_t read_number_attribute(hid_t object, const std::string& name);
bool has_attribute(hid_t object, const std::string& name);

/// Names of the members of a group, in the order of their creation; none if it is not there.
/// @throws StoreError if they are more than a run file has
std::vector<std::string> list_groups(hid_t file, const std::string& path);

Handle make_properties(hid_t kind);
Handle utf8_type(std::size_t size);

}  // namespace sonde::hdf5
