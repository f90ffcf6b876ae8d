// Tables back to results, job by job.
#include "store/run_reader.hpp"

#include "store/hdf5/digest.hpp"
#include "store/hdf5/owned_rows.hpp"
#include "store/hdf5/rows.hpp"
#include "store/run_header.hpp"
#include "store/stored_jobs.hpp"

#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace sonde {
namespace {

/// @param points of the run
std::vector<DeviceRow> read_device_rows(StoredFile& file, Layout layout, RowRange span,
                                        std::size_t points) {
  auto rows = read_span(file, device_table(layout), span).rows;
  const auto carveouts = read_owned(file, carveout_table(), rows, &DeviceRow::carveouts);
  for (DeviceRow& row : rows) {
    row.device.info.shared_carveouts_bytes = carveouts.take(row.carveouts);
    require_sound(row.device.point_index < points, "a device was measured at no point");
  }
  return rows;
}

/// @param result under the name that it has in the file
void add_job(DeviceResult& device, JobResult result) {
  const auto first = job_of_again(result.job);
  if (first) result.job = *first;
  (first ? device.again : device.jobs).push_back(std::move(result));
}

}  // namespace

[[noreturn]] void fail_to_read(const std::filesystem::path& path, std::string_view reason) {
  throw UnreadableError(
      fmt::format("'{}' cannot be read ({}) use a file of this version of sonde, "
                  "copied whole",
                  path.string(), reason));
}

RunReader::RunReader(const std::filesystem::path& path, std::uint64_t keep_bytes)
    : path_(path), file_(std::make_unique<StoredFile>(path, keep_bytes)) {
  reading(path_, [this] {
    layout_ = read_layout(file_->id());
    provenance_ = read_header(*file_);
    device_count_ = file_->table(keys::devices).rows();
    jobs_with_tables_ = hdf5::list_groups(file_->id(), "jobs");
    if (layout_ == Layout::joined) check_jobs_with_tables(*file_, jobs_with_tables_);
  });
}

RunReader::Assembly RunReader::load_jobs(RowRange span, Depth depth) const {
  return reading(path_, [&]() -> Assembly {
    auto rows = read_device_rows(*file_, layout_, span, provenance_.points.size());
    JobsAssembly assemble =
        layout_ == Layout::joined
            ? read_joined_jobs(*file_, span.offset, rows, depth)
            : [jobs = read_jobs_by_job(*file_, span, jobs_with_tables_, depth)] { return jobs; };
    return [path = path_, rows = std::move(rows), assemble = std::move(assemble)]() mutable {
      auto jobs = reading(path, assemble);
      std::vector<DeviceResult> devices;
      for (std::size_t i = 0; i < rows.size(); ++i) {
        DeviceResult& device = devices.emplace_back(std::move(rows[i].device));
        for (JobResult& result : jobs[i]) add_job(device, std::move(result));
      }
      return devices;
    };
  });
}

std::vector<UnauditedDevice> RunReader::read_unaudited() const {
  return reading(path_, [this] {
    const auto table = unaudited_table();
    return read_span(*file_, table, {0, file_->table(table.key()).rows()}).rows;
  });
}

std::vector<DeviceResult> RunReader::read_inventory() const {
  return reading(path_, [this] {
    std::vector<DeviceResult> devices;
    for (DeviceRow& row :
         read_device_rows(*file_, layout_, {0, device_count_}, provenance_.points.size())) {
      devices.push_back(std::move(row.device));
    }
    return devices;
  });
}

std::vector<DeviceResult> RunReader::read_devices(RowRange span, WithTraces traces) const {
  const Depth depth = traces == WithTraces::yes ? Depth::traces : Depth::probes;
  return load_jobs(span, depth)();
}

RunReader::Assembly RunReader::load_findings(RowRange span) const {
  return load_jobs(span, Depth::findings);
}

std::uint64_t RunReader::count_findings() const {
  return reading(path_, [this] {
    if (layout_ == Layout::joined) return file_->table(keys::findings()).rows();
    std::uint64_t findings = 0;
    for (const std::string& job : jobs_with_tables_) {
      findings += file_->table(keys::findings(job)).rows();
    }
    return findings;
  });
}

std::uint64_t RunReader::count_probes() const {
  return reading(path_, [this] {
    std::uint64_t probes = 0;
    for (const std::string& job : jobs_with_tables_) {
      probes += file_->table(keys::probes(job)).rows();
    }
    return probes;
  });
}

JobResult RunReader::read_job(std::uint64_t device, const std::string& job) const {
  return reading(path_, [&] {
    const RowRange span{device, 1};
    if (layout_ == Layout::joined) {
      const auto rows = read_device_rows(*file_, layout_, span, provenance_.points.size());
      if (auto found = read_joined_job(*file_, device, rows.front(), job)) return *found;
    } else {
      const auto jobs = read_jobs_by_job(*file_, span, {job}, Depth::traces);
      if (!jobs.front().empty()) return jobs.front().front();
    }
    throw StoreError("it does not hold the job " + job);
  });
}

RunResult read_run(const std::filesystem::path& path, WithTraces traces) {
  const RunReader reader(path);
  return {.provenance = reader.provenance(),
          .devices = reader.read_devices({0, reader.device_count()}, traces),
          .unaudited = reader.read_unaudited()};
}

std::vector<DeviceResult> read_finished(const std::filesystem::path& shard,
                                        const std::string& config_hash) {
  if (auto device = read_digest(shard, config_hash)) return {std::move(*device)};
  RunResult run = read_run(shard, WithTraces::no);
  if (run.provenance.config_hash != config_hash) return {};
  return std::move(run.devices);
}

}  // namespace sonde
