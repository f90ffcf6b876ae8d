#include "store/write_run.hpp"

#include "base/error.hpp"
#include "store/hdf5/flatten.hpp"
#include "store/hdf5/table_file.hpp"
#include "store/output.hpp"
#include "store/points.hpp"
#include "store/run_header.hpp"
#include "store/run_reader.hpp"

#include <fmt/format.h>

#include <utility>

namespace sonde {
namespace fs = std::filesystem;
namespace {

void write_parts(const fs::path& path, const Provenance& provenance,
                 const std::vector<UnauditedDevice>& unaudited, std::size_t count,
                 const std::function<DeviceResult(std::size_t)>& load) {
  hdf5::File file = hdf5::File::create(path);
  write_header(file, provenance);
  Names names;
  TableAppender tables(file);
  tables.append(point_tables(provenance, names));
  tables.append(flatten({}, unaudited, names));
  for (std::size_t i = 0; i < count; ++i) {
    const DeviceResult device = load(i);
    tables.append(flatten({&device, 1}, {}, names));
  }
  tables.append(names.tables());
  tables.finish();
  file.flush(hdf5::Durability::synced);
  file.close();
  check_whole(path, count);
}

}  // namespace

void write_run_alone(const fs::path& path, const Provenance& provenance,
                     const std::vector<UnauditedDevice>& unaudited, std::size_t count,
                     const std::function<DeviceResult(std::size_t)>& load) {
  // Not `<path>.part`: a rank that was stopped during the common writing may continue at any time
  // and write or rename that file.
  const fs::path part = path.string() + ".alone.part";
  std::error_code none;
  fs::remove(part, none);  // so that the new file is an inode that no other process has open
  try {
    write_parts(part, provenance, unaudited, count, load);
    move_into_place(part, path);
  } catch (const std::exception& error) {
    const std::string why = give_up_file(path, part, error);
    const bool is_source = dynamic_cast<const UnreadableError*>(&error) != nullptr;
    if (is_source || dynamic_cast<const StoreError*>(&error) == nullptr) throw;
    throw StoreError(why);
  }
}

void check_whole(const fs::path& path, std::uint64_t devices) {
  const RunReader reader(path);
  if (reader.device_count() != devices) {
    throw StoreError(
        fmt::format("it came out with {} of {} devices", reader.device_count(), devices));
  }
}

void move_into_place(const fs::path& part, const fs::path& path) {
  std::error_code error;
  fs::rename(part, path, error);
  if (error) throw StoreError(error.message());
}

std::string give_up_file(const fs::path& path, const fs::path& part, const std::exception& error) {
  std::error_code ignored;
  fs::remove(part, ignored);
  return fmt::format(
      "cannot write '{}' ({}) free space or choose another place, then run 'sonde "
      "merge {} -o {}'",
      path.string(), error.what(), parts_folder(path).string(), path.string());
}

DeviceResult read_own_shard(const fs::path& shard) {
  const RunReader reader(shard);
  if (reader.device_count() != 1) {
    throw StoreError(
        fmt::format("'{}' holds {} devices (a shard holds one) remove it and start "
                    "again with --resume",
                    shard.string(), reader.device_count()));
  }
  return std::move(reader.read_devices({0, 1}, Depth::traces).front());
}

std::vector<DeviceResult> read_finished(const fs::path& shard, const std::string& config_hash) {
  const RunReader reader(shard);
  if (reader.provenance().config_hash != config_hash) return {};
  return reader.read_devices({0, reader.device_count()}, Depth::findings);
}

}  // namespace sonde
