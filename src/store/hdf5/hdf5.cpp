#include "store/hdf5/hdf5.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sstream>

namespace sonde::hdf5 {
namespace {

// HDF5's maximum (H5AC__MAX_DIRTY_BYTES_THRESHOLD); the metadata of a file of one device is 1 MB.
constexpr std::size_t most_held_bytes = 32 << 20;

/// Keeps the text of the innermost error, which comes first.
herr_t keep_reason(unsigned n, const H5E_error2_t* error, void* reason) {
  if (n == 0 && error->desc) *static_cast<std::string*>(reason) = error->desc;
  return 0;
}

/// The innermost message on HDF5's error stack, or the system's error inside that message.
std::string last_reason() {
  std::string reason;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_reason, &reason);
  const std::string mark = "error message = '";
  if (const auto at = reason.find(mark); at != std::string::npos) {
    const auto from = at + mark.size();
    return reason.substr(from, reason.find('\'', from) - from);
  }
  return reason.empty() ? "no reason given" : reason;
}

Handle file_access() {
  prepare();  // before any other call
  Handle access = make_properties(H5P_FILE_ACCESS);
  // With superblock version 2 a file that was flushed but not closed can be opened: it has no
  // consistency flag. The superblock and all object headers have checksums.
  check(H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_V110), "setting the file version");
  // Locks are not needed: a file gets its final name only when it is complete. And locks fail on
  // Lustre without flock. HDF5_USE_FILE_LOCKING, if set, has priority.
  check(H5Pset_file_locking(access, false, true), "switching locks off");
  return access;
}

/// Keeps all metadata in memory until a flush.
void hold_metadata(hid_t access) {
  H5AC_cache_config_t config{};
  config.version = H5AC__CURR_CACHE_CONFIG_VERSION;
  check(H5Pget_mdc_config(access, &config), "reading the cache configuration");
  config.evictions_enabled = false;
  config.incr_mode = H5C_incr__off;
  config.flash_incr_mode = H5C_flash_incr__off;
  config.decr_mode = H5C_decr__off;
  // For parallel HDF5: otherwise the ranks flush metadata together from time to time, and a rank on
  // which that fails would leave the others waiting in a collective call.
  config.dirty_bytes_threshold = most_held_bytes;
  check(H5Pset_mdc_config(access, &config), "setting the cache configuration");
}

Handle shared_access(MPI_Comm comm) {
  Handle access = file_access();
  check(H5Pset_fapl_mpio(access, comm, MPI_INFO_NULL), "choosing MPI-IO");
  check(H5Pset_coll_metadata_write(access, true), "choosing collective metadata");
  hold_metadata(access);
  return access;
}

/// Properties of a file or group that keeps the order in which its members were created.
Handle ordered_creation(hid_t kind) {
  Handle creation = make_properties(kind);
  check(H5Pset_link_creation_order(creation, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED),
        "tracking the order of groups");
  return creation;
}

/// Objects that are created after this call have the indexes of HDF5 1.10, which have checksums.
/// Asking for them at the creation of the file would also give the superblock of 1.10.
hid_t check_indexes(hid_t file) {
  check(H5Fset_libver_bounds(file, H5F_LIBVER_V110, H5F_LIBVER_V110), "choosing the indexes");
  return file;
}

hid_t create_file(const std::filesystem::path& path, hid_t access) {
  const Handle creation = ordered_creation(H5P_FILE_CREATE);
  return check_indexes(
      check(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, creation, access), "creating the file"));
}

hid_t open_file(const std::filesystem::path& path, hid_t access) {
  return check_indexes(check(H5Fopen(path.c_str(), H5F_ACC_RDWR, access), "opening the file"));
}

void write_attribute(hid_t object, const std::string& name, hid_t file_type, hid_t type,
                     const void* value) {
  const Handle space(H5Screate(H5S_SCALAR), H5Sclose, "making a space");
  const Handle attribute(
      H5Acreate2(object, name.c_str(), file_type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose,
      "creating the attribute " + name);
  check(H5Awrite(attribute, type, value), "writing the attribute " + name);
}

Handle open_attribute(hid_t object, const std::string& name) {
  return Handle(H5Aopen(object, name.c_str(), H5P_DEFAULT), H5Aclose,
                "opening the attribute " + name);
}

/// Reads one value into `value`. Throws for an array or another type, which would not fit.
/// @param type the type in the file and in memory
void read_attribute(hid_t attribute, const std::string& name, hid_t type, void* value) {
  const Handle stored(H5Aget_type(attribute), H5Tclose, "reading the type of " + name);
  const Handle space(H5Aget_space(attribute), H5Sclose, "reading the size of " + name);
  if (H5Sget_simple_extent_type(space) != H5S_SCALAR || H5Tequal(stored, type) <= 0) {
    throw StoreError("the attribute " + name + " is not one value of the expected type");
  }
  check(H5Aread(attribute, type, value), "reading the attribute " + name);
}

}  // namespace

hid_t check(hid_t id, const std::string& what) {
  if (id < 0) throw StoreError(fmt::format("{} failed: {}", what, last_reason()));
  return id;
}

void prepare() {
  H5dont_atexit();  // works only before the first HDF5 call
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

File File::create(const std::filesystem::path& path) {
  Handle access = file_access();
  hold_metadata(access);
  return File(create_file(path, access));
}

File File::create_together(const std::filesystem::path& path, MPI_Comm comm) {
  return File(create_file(path, shared_access(comm)));
}

File File::open_together(const std::filesystem::path& path, MPI_Comm comm) {
  return File(open_file(path, shared_access(comm)));
}

File File::open_to_write(const std::filesystem::path& path) {
  return File(open_file(path, file_access()));
}

void File::flush(Durability durability) {
  check(H5Fflush(id_, H5F_SCOPE_GLOBAL), "writing to the disk");
  if (durability == Durability::cached) return;
  int* descriptor = nullptr;
  check(H5Fget_vfd_handle(id_, H5P_DEFAULT, reinterpret_cast<void**>(&descriptor)),
        "finding the file's descriptor");
  if (fsync(*descriptor) != 0) {
    throw StoreError(fmt::format("writing to the disk failed: {}", std::strerror(errno)));
  }
}

void File::close() {
  const ssize_t left = H5Fget_obj_count(id_, H5F_OBJ_ALL);
  require(left == 1, "objects of the file are still open");
  check(H5Fclose(id_), "closing the file");
  id_ = -1;
}

Handle open_to_read(const std::filesystem::path& path) {
  prepare();
  const auto refuse_if = [&path](bool wrong, std::string_view what) {
    if (wrong) throw StoreError(fmt::format("'{}' is {}", path.string(), what));
  };
  using std::filesystem::file_type;
  std::error_code error;
  const file_type type = std::filesystem::status(path, error).type();
  refuse_if(type == file_type::none,
            fmt::format("not to be read ({}) check its path and permissions", error.message()));
  refuse_if(type == file_type::not_found, "not there (nothing to read) check the path");
  refuse_if(type == file_type::directory, "a folder (a run is one file) name the file in it");
  refuse_if(type != file_type::regular,
            "no regular file (reading a pipe could wait for ever) name a file");
  refuse_if(H5Fis_hdf5(path.c_str()) == 0,
            "no HDF5 file (sonde writes its runs as HDF5) check that it is the right file and was "
            "copied whole");
  const hid_t id = H5Fopen(path.c_str(), H5F_ACC_RDONLY, file_access());
  if (id < 0) {
    const std::string reason = last_reason();
    std::string advice = "check its permissions and that it was copied whole";
    if (reason.find("truncated") != std::string::npos) {
      advice = "copy it again, or rebuild it with 'sonde merge' from its .parts folder";
    } else if (reason.find("lock") != std::string::npos) {
      advice = "set HDF5_USE_FILE_LOCKING=FALSE";
    }
    throw StoreError(fmt::format("'{}' cannot be opened ({}) {}", path.string(), reason, advice));
  }
  return Handle(id, H5Fclose, "opening the file");
}

Handle make_groups(hid_t file, const std::string& path) {
  const Handle creation = ordered_creation(H5P_GROUP_CREATE);
  std::istringstream names(path);
  std::string name;
  std::string so_far;
  while (std::getline(names, name, '/')) {
    so_far += so_far.empty() ? name : "/" + name;
    if (has_link(file, so_far)) continue;
    Handle(H5Gcreate2(file, so_far.c_str(), H5P_DEFAULT, creation, H5P_DEFAULT), H5Gclose,
           "creating the group " + so_far);
  }
  return open_group(file, path);
}

void remove_group(hid_t file, const std::string& path) {
  if (has_link(file, path)) check(H5Ldelete(file, path.c_str(), H5P_DEFAULT), "removing " + path);
}

Handle open_group(hid_t file, const std::string& path) {
  if (!has_link(file, path)) throw StoreError(path + " is missing");
  return Handle(H5Gopen2(file, path.c_str(), H5P_DEFAULT), H5Gclose, "opening the group " + path);
}

bool has_link(hid_t place, const std::string& path) {
  for (std::size_t at = path.find('/');; at = path.find('/', at + 1)) {
    const std::string so_far = path.substr(0, at);
    H5L_info_t link{};
    if (H5Lget_info(place, so_far.c_str(), &link, H5P_DEFAULT) < 0) {
      const std::string reason = last_reason();
      if (H5Lexists(place, so_far.c_str(), H5P_DEFAULT) == 0) return false;
      throw StoreError(fmt::format("reading the link {} failed: {}", so_far, reason));
    }
    if (link.type != H5L_TYPE_HARD) {
      throw StoreError(so_far + " leads to another place or file");
    }
    if (at == path.npos) return true;
  }
}

Handle make_properties(hid_t kind) {
  return Handle(H5Pcreate(kind), H5Pclose, "making a property list");
}

Handle utf8_type(std::size_t size, H5T_str_t padding) {
  Handle type(H5Tcopy(H5T_C_S1), H5Tclose, "making a text type");
  check(H5Tset_size(type, size), "sizing a text type");
  check(H5Tset_cset(type, H5T_CSET_UTF8), "choosing UTF-8");
  check(H5Tset_strpad(type, padding), "choosing the padding");
  return type;
}

bool has_attribute(hid_t object, const std::string& name) {
  return H5Aexists(object, name.c_str()) > 0;
}

void write_attribute(hid_t object, const std::string& name, const std::string& text) {
  const char* pointer = text.c_str();
  const Handle type = utf8_type(H5T_VARIABLE, H5T_STR_NULLTERM);
  write_attribute(object, name, type, type, &pointer);
}

void write_fixed_attribute(hid_t object, const std::string& name, const std::string& text) {
  const Handle type = utf8_type(std::max<std::size_t>(text.size(), 1));
  write_attribute(object, name, type, type, text.c_str());
}

void write_attribute(hid_t object, const std::string& name, std::uint64_t number) {
  write_attribute(object, name, H5T_STD_U64LE, H5T_NATIVE_UINT64, &number);
}

std::string read_text_attribute(hid_t object, const std::string& name) {
  const Handle attribute = open_attribute(object, name);
  const Handle stored(H5Aget_type(attribute), H5Tclose, "reading the type of " + name);
  std::string text(std::min<std::size_t>(H5Tget_size(stored), H5Aget_storage_size(attribute)),
                   '\0');
  read_attribute(attribute, name, utf8_type(std::max<std::size_t>(text.size(), 1)), text.data());
  return text.substr(0, text.find('\0'));
}

std::uint64_t read_number_attribute(hid_t object, const std::string& name) {
  std::uint64_t number = 0;
  read_attribute(open_attribute(object, name), name, H5T_STD_U64LE, &number);
  return number;
}

std::vector<std::string> list_groups(hid_t file, const std::string& path) {
  std::vector<std::string> names;
  if (!has_link(file, path)) return names;
  const Handle group = open_group(file, path);
  H5G_info_t info{};
  check(H5Gget_info(group, &info), "listing the group " + path);
  constexpr hsize_t most_members = 256;  // each is read for every device: thousands take minutes
  if (info.nlinks > most_members) {
    throw StoreError(
        fmt::format("{} has {} members, at most {} are read", path, info.nlinks, most_members));
  }
  // Not H5Literate: in HDF5 1.10 it frees memory it does not own if a link cannot be read.
  const auto name_of = [&](hsize_t i, char* name, std::size_t bytes) {
    const ssize_t size = H5Lget_name_by_idx(group, ".", H5_INDEX_CRT_ORDER, H5_ITER_INC, i, name,
                                            bytes, H5P_DEFAULT);
    return static_cast<std::size_t>(check(size, "listing the group " + path));
  };
  for (hsize_t i = 0; i < info.nlinks; ++i) {
    std::string& name = names.emplace_back(name_of(i, nullptr, 0), '\0');
    name_of(i, name.data(), name.size() + 1);
  }
  return names;
}

}  // namespace sonde::hdf5
