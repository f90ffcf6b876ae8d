// Files that one process writes alone, and the code that both ways of writing share.
#include "store/write_run.hpp"

#include "base/error.hpp"
#include "mpi/collectives.hpp"
#include "store/hdf5/flatten.hpp"
#include "store/hdf5/table_file.hpp"
#include "store/output.hpp"
#include "store/points.hpp"
#include "store/run_header.hpp"
#include "store/run_reader.hpp"

#include <fmt/format.h>

#include <span>
#include <utility>

namespace sonde {
namespace fs = std::filesystem;
namespace {

/// The name of the file while all ranks write it.
fs::path part_of(const fs::path& path) { return path.string() + ".part"; }

/// The name of the file while one process writes it. It differs from part_of, since a rank that was
/// stopped during the common writing may continue at any time and write or rename that file.
fs::path lone_part_of(const fs::path& path) { return path.string() + ".alone.part"; }

fs::path digest_path(const fs::path& shard) { return shard.string() + ".findings"; }

/// Removes the unfinished file and returns the text of the error with advice.
std::string give_up(const fs::path& path, const fs::path& part, const std::exception& error) {
  std::error_code ignored;
  fs::remove(part, ignored);
  return fmt::format(
      "cannot write '{}' ({}) free space or choose another place, then run 'sonde "
      "merge {} -o {}'",
      path.string(), error.what(), parts_folder(path).string(), path.string());
}

void move_into_place(const fs::path& part, const fs::path& path) {
  std::error_code error;
  fs::rename(part, path, error);
  if (error) throw StoreError(error.message());
}

/// Writes a run file, one part after the other.
class RunWriter {
 public:
  RunWriter(const fs::path& path, const Provenance& provenance, Captions captions)
      : file_(hdf5::File::create(path)), tables_(file_, captions) {
    write_header(file_, provenance);
    tables_.append(point_tables(provenance, names_));
  }

  void add(std::span<const DeviceResult> devices, const std::vector<UnauditedDevice>& unaudited) {
    tables_.append(flatten(devices, unaudited, names_));
  }

  void finish(hdf5::Durability durability) {
    tables_.append(names_.tables());
    tables_.finish();
    file_.flush(durability);
    file_.close();
  }

 private:
  hdf5::File file_;
  Names names_;
  TableAppender tables_;
};

void write_parts(const fs::path& part_path, const Provenance& provenance,
                 const std::vector<UnauditedDevice>& unaudited, std::size_t count,
                 const std::function<std::vector<DeviceResult>(std::size_t)>& load) {
  RunWriter writer(part_path, provenance, Captions::written);
  std::uint64_t devices = 0;
  writer.add({}, unaudited);
  for (std::size_t i = 0; i < count; ++i) {
    const std::vector<DeviceResult> part = load(i);
    writer.add(part, {});
    devices += part.size();
  }
  writer.finish(hdf5::Durability::synced);
  check_whole(part_path, devices);
}

/// Empty if the file has another configuration.
std::vector<DeviceResult> read_findings_of(const fs::path& path, const std::string& config_hash) {
  const RunReader reader(path);
  if (reader.provenance().config_hash != config_hash) return {};
  return reader.read_devices({0, reader.device_count()}, Depth::findings);
}

}  // namespace

void write_run_together(MPI_Comm comm, const fs::path& path, const Provenance& provenance,
                        const RunPart& mine, const std::function<void()>& on_step,
                        std::uint64_t gathered_bytes) {
  prepare_store();
  const StepRunner run_step = [&](const auto& step) {
    if (on_step) on_step();
    run_step_together(comm, step);
  };
  const Provenance shared =
      roster_from_json(broadcast_text(comm, to_json(Roster{.provenance = provenance}))).provenance;
  try {
    write_together(comm, part_of(path), shared, mine, run_step, gathered_bytes);
    run_step([&] {
      if (rank_of(comm) == 0) move_into_place(part_of(path), path);
    });
  } catch (const StoreError& error) {
    throw StoreError(give_up(path, part_of(path), error));
  } catch (const CommError& error) {
    throw CommError(give_up(path, part_of(path), error));
  }
}

void write_run_alone(const fs::path& path, const Provenance& provenance,
                     const std::vector<UnauditedDevice>& unaudited, std::size_t count,
                     const std::function<std::vector<DeviceResult>(std::size_t)>& load) {
  const fs::path part = lone_part_of(path);
  std::error_code none;
  fs::remove(part, none);  // so that the new file is an inode that no other process has open
  try {
    write_parts(part, provenance, unaudited, count, load);
    move_into_place(part, path);
  } catch (const std::exception& error) {
    const std::string why = give_up(path, part, error);
    const bool is_source = dynamic_cast<const UnreadableError*>(&error) != nullptr;
    if (is_source || dynamic_cast<const StoreError*>(&error) == nullptr) throw;
    throw StoreError(why);
  }
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

void write_digest(const fs::path& shard, const DeviceResult& device,
                  const std::string& config_hash) {
  const fs::path part = part_of(digest_path(shard));
  Provenance provenance;
  provenance.config_hash = config_hash;
  DeviceResult found = device;
  for (JobResult& job : found.jobs) job.probes.clear();
  for (JobResult& job : found.again) job.probes.clear();
  try {
    RunWriter writer(part, provenance, Captions::left_out);
    writer.add({&found, 1}, {});
    writer.finish(hdf5::Durability::cached);
    move_into_place(part, digest_path(shard));
  } catch (const StoreError&) {
    // Without a digest, readers use the shard, which is only slower.
  }
}

void remove_digest(const fs::path& shard) {
  std::error_code ignored;
  fs::remove(digest_path(shard), ignored);
}

std::optional<DeviceResult> read_digest(const fs::path& shard, const std::string& config_hash) {
  try {
    std::vector<DeviceResult> devices = read_findings_of(digest_path(shard), config_hash);
    if (!devices.empty()) return std::move(devices.front());
  } catch (const StoreError&) {
    // The caller reads the shard instead, which is only slower.
  }
  return std::nullopt;
}

std::vector<DeviceResult> read_finished(const fs::path& shard, const std::string& config_hash) {
  if (auto device = read_digest(shard, config_hash)) return {std::move(*device)};
  return read_findings_of(shard, config_hash);
}

}  // namespace sonde
