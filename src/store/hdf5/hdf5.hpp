// The HDF5 calls of the store, with checks, and handles that close themselves. No destructor closes
// a parallel file, since that would wait for the other ranks.
#pragma once

#include "base/error.hpp"

#include <hdf5.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace sonde::hdf5 {

/// Switches off HDF5's error printing and its work at exit. Functions that open a file call it.
void prepare();

/// @throws StoreError "<what> failed: <HDF5's own reason>" if the id or status is negative
hid_t check(hid_t id, const std::string& what);

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

/// Whether a flush stops at the system's cache or waits for the disk.
enum class Durability { cached, synced };

/// An open file. Closing is explicit, since it may fail and may be collective. A file that is not
/// closed stays open until the process ends, and the disk keeps what was flushed.
class File {
 public:
  /// Serial; replaces an existing file. Metadata reaches the disk only at `flush`, so a killed
  /// process leaves the file as it was then.
  static File create(const std::filesystem::path& path);
  /// Collective over `comm`.
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

/// Opens a file to read, even one that another process is writing.
/// @throws StoreError with the cause: no such file, a file of another kind, or a truncated file
Handle open_to_read(const std::filesystem::path& path);

/// Creates the missing groups of a path; they keep the order of their members.
Handle make_groups(hid_t file, const std::string& path);
/// Removes a group with its members if it exists.
void remove_group(hid_t file, const std::string& path);
/// @throws StoreError if it does not exist, or as has_link
Handle open_group(hid_t file, const std::string& path);
/// @throws StoreError if a part of the path is a soft or external link: sonde writes only hard
/// links, and others may lead to any file
bool has_link(hid_t place, const std::string& path);

/// Writes a text of variable length, for other programs. sonde does not read such texts, since HDF5
/// stores them without checksums and trusts their stored lengths.
void write_attribute(hid_t object, const std::string& name, const std::string& text);
/// Writes a text of fixed length into the object's header, which has a checksum.
void write_fixed_attribute(hid_t object, const std::string& name, const std::string& text);
void write_attribute(hid_t object, const std::string& name, std::uint64_t number);
/// Reads a text of fixed length, or a number. @throws StoreError if the attribute is another type
std::string read_text_attribute(hid_t object, const std::string& name);
std::uint64_t read_number_attribute(hid_t object, const std::string& name);
bool has_attribute(hid_t object, const std::string& name);

/// The names of the members of a group in the order of their creation; none if there is no group.
/// @throws StoreError if there are more than 256
std::vector<std::string> list_groups(hid_t file, const std::string& path);

/// A property list of this kind with default values. @throws StoreError
Handle make_properties(hid_t kind);
/// The type of a UTF-8 text of `size` bytes, or H5T_VARIABLE. @throws StoreError
Handle utf8_type(std::size_t size, H5T_str_t padding = H5T_STR_NULLPAD);

}  // namespace sonde::hdf5
