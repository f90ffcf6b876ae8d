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
    : path_(path), file_(hdf5::open_to_read(path)) {
  reading(path_, [this] { open(); });
}

void RunReader::open() {
  const StoredTables root(file_);
  provenance_ = read_header(file_, root);
  for (const std::string& part : list_parts(file_)) parts_.emplace_back(file_, part);
  is_shard_ = !parts_.empty();
  if (!is_shard_) parts_.push_back(root);
  std::ranges::for_each(parts_, check_outcomes);
  device_count_ = is_shard_ ? 1 : root.rows(keys::devices);
}

/// A shard stores its device again after each change, so the last one is read.
RunReader::Devices RunReader::read_rows(RowRange span) const {
  auto part = parts_.rbegin();
  while (is_shard_ && part + 1 != parts_.rend() && part->rows(keys::devices) == 0) ++part;
  const StoredTables& tables = *part;
  auto rows = read_span(tables, device_table(), span).rows;
  const auto carveouts = read_owned(tables, carveout_table, rows, &DeviceRow::carveouts);
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
  if (is_shard_ && !outcomes.empty()) outcomes = {{0, part.rows(keys::outcomes)}};
  return read_results(part, first, outcomes, depth, only);
}

std::vector<DeviceResult> RunReader::read_devices(RowRange span, Depth depth) const {
  return reading(path_, [&] {
    auto [devices, outcomes] = read_rows(span);
    std::vector<std::set<std::string>> seen(devices.size());
    for (const StoredTables& part : parts_) {
      auto jobs = read_jobs(part, span.offset, outcomes, depth);
      for (std::size_t i = 0; i < devices.size(); ++i) {
        for (JobResult& job : jobs[i]) add_job(devices[i], seen[i], std::move(job));
      }
    }
    return std::move(devices);
  });
}

std::vector<UnauditedDevice> RunReader::read_unaudited() const {
  return reading(path_, [this] { return read_whole(parts_.front(), unaudited_table()); });
}

std::vector<DeviceResult> RunReader::read_inventory() const {
  return reading(path_, [this] { return read_rows({0, device_count_}).devices; });
}

std::uint64_t RunReader::count_findings() const {
  return reading(path_, [this] {
    std::uint64_t findings = 0;
    for (const StoredTables& part : parts_) findings += part.rows(keys::findings);
    return findings;
  });
}

std::uint64_t RunReader::count_probes() const {
  return reading(path_, [this] {
    std::uint64_t probes = 0;
    for (const StoredTables& part : parts_) probes += part.rows(keys::probes);
    return probes;
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
