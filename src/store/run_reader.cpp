#include "store/run_reader.hpp"

#include "store/hdf5/child.hpp"
#include "store/hdf5/flatten.hpp"
#include "store/hdf5/owned_rows.hpp"
#include "store/run_header.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <set>
#include <utility>

namespace sonde {
namespace {

[[noreturn]] void fail_to_read(const std::filesystem::path& path, std::string_view reason) {
  throw UnreadableError(
      fmt::format("'{}' cannot be read ({}) use a file of this version of sonde, "
                  "copied whole",
                  path.string(), reason));
}

/// Calls `work`, which reads from this file, and reports any error in it as a damaged file.
/// @throws UnreadableError
template <class Work>
auto reading(const std::filesystem::path& path, Work&& work) {
  try {
    return work();
  } catch (const StoreError& error) {
    fail_to_read(path, error.what());
  } catch (const std::bad_alloc&) {
    fail_to_read(path, "there is not enough memory for what it holds");
  }
}

/// @param result its job name is that in the file
void add_job(DeviceResult& device, std::set<std::string>& seen, JobResult result) {
  require_sound(seen.insert(result.job).second, result.job, " occurs twice on one device");
  const auto first = job_of_again(result.job);
  if (first) result.job = *first;
  (first ? device.again : device.jobs).push_back(std::move(result));
}

}  // namespace

/// Devices without their jobs, and the rows of the jobs' outcomes.
struct RunReader::Devices {
  std::vector<DeviceResult> devices;
  std::vector<RowRange> outcomes;
};

void check_readable(const std::filesystem::path& path, Depth depth) {
  reading(path, [&] {
    try_in_child([&] {
      const hdf5::Handle file = hdf5::open_to_read(path);
      const StoredTables root(file);
      read_header(file, root);
      read_all_columns(root, depth);
      for (const std::string& part : list_parts(file)) {
        read_all_columns(StoredTables(file, part), depth);
      }
    });
  });
}

RunReader::RunReader(const std::filesystem::path& path)
    : path_(path), file_(hdf5::open_to_read(path)), inventory_(file_) {
  reading(path_, [this] { open(); });
}

/// A shard stores its device again after each change, so the last one is read.
void RunReader::open() {
  provenance_ = read_header(file_, inventory_);
  for (const std::string& name : list_parts(file_)) {
    const StoredTables part(file_, name);
    const bool has_device = part.rows(keys::devices) > 0;
    if (has_device) inventory_ = part;
    if (!has_device) parts_.push_back(part);
    is_finished_shard_ = has_device && part.rows(keys::outcomes) > 0;
    is_shard_ = true;
  }
  device_count_ = is_shard_ ? 1 : inventory_.rows(keys::devices);
  if (is_shard_) return;
  parts_ = {inventory_};
  check_outcomes(inventory_);
}

RunReader::Devices RunReader::read_rows(RowRange span) const {
  auto rows = read_span(inventory_, device_table(), span).rows;
  const auto carveouts = read_owned(inventory_, carveout_table, rows, &DeviceRow::carveouts);
  Devices read;
  for (DeviceRow& row : rows) {
    DeviceResult& device = read.devices.emplace_back(std::move(row.device));
    device.info.shared_carveouts_bytes = carveouts.take(row.carveouts);
    require_sound(device.point_index < provenance_.points.size(),
                  "a device was measured at no point");
    read.outcomes.push_back(row.outcomes);
  }
  return read;
}

/// In a part of a shard, all rows belong to its one device.
std::vector<std::vector<JobResult>> RunReader::read_jobs(const StoredTables& part,
                                                         std::uint64_t first,
                                                         std::vector<RowRange> outcomes,
                                                         Depth depth,
                                                         const std::string& only) const {
  if (is_shard_) check_outcomes(part);
  if (is_shard_ && !outcomes.empty()) outcomes = {{0, part.rows(keys::outcomes)}};
  return read_results(part, first, outcomes, depth, only);
}

std::vector<DeviceResult> RunReader::read_devices(RowRange span, Depth depth) const {
  return reading(path_, [&] {
    auto [devices, outcomes] = read_rows(span);
    std::vector<std::set<std::string>> seen(devices.size());
    const bool at_once = is_finished_shard_ && depth == Depth::findings;
    for (const StoredTables& part : at_once ? std::vector{inventory_} : parts_) {
      auto jobs = read_jobs(part, span.offset, outcomes, depth);
      for (std::size_t i = 0; i < devices.size(); ++i) {
        for (JobResult& job : jobs[i]) add_job(devices[i], seen[i], std::move(job));
      }
    }
    return std::move(devices);
  });
}

std::vector<UnauditedDevice> RunReader::read_unaudited() const {
  return reading(path_, [this] { return read_whole(inventory_, unaudited_table()); });
}

std::vector<DeviceResult> RunReader::read_inventory() const {
  return reading(path_, [this] { return read_rows({0, device_count_}).devices; });
}

std::uint64_t RunReader::count_findings() const { return count_rows(keys::findings); }

std::uint64_t RunReader::count_probes() const { return count_rows(keys::probes); }

std::uint64_t RunReader::count_rows(const TableKey& table) const {
  return reading(path_, [&] {
    std::uint64_t rows = 0;
    for (const StoredTables& part : parts_) rows += part.rows(table);
    return rows;
  });
}

JobResult RunReader::read_job(std::uint64_t device, const std::string& job) const {
  return reading(path_, [&] {
    const auto outcomes = read_rows({device, 1}).outcomes;
    for (const StoredTables& part : parts_) {
      auto jobs = std::move(read_jobs(part, device, outcomes, Depth::traces, job).front());
      if (!jobs.empty()) return std::move(jobs.front());
    }
    throw StoreError("it does not hold the job " + job);
  });
}

RunResult read_run(const std::filesystem::path& path, Depth depth) {
  const RunReader reader(path);
  return {.provenance = reader.provenance(),
          .devices = reader.read_devices({0, reader.device_count()}, depth),
          .unaudited = reader.read_unaudited()};
}

}  // namespace sonde
