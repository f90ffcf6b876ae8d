// Tables back to results, job by job.
#include "store/run_reader.hpp"

#include "store/hdf5/digest.hpp"
#include "store/hdf5/owned_rows.hpp"
#include "store/hdf5/rows.hpp"
#include "store/hdf5/stored_file.hpp"
#include "store/job_reader.hpp"
#include "store/run_header.hpp"
#include "store/stored_jobs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <unordered_set>
#include <utility>

namespace sonde {
namespace {

/// @param points of the run
std::vector<DeviceResult> read_device_rows(StoredFile& file, WithPoints with_points, RowRange span,
                                           std::size_t points) {
  auto rows = read_span(file, device_table(with_points), span);
  const auto carveouts = read_owned(file, carveout_table(), rows.rows, &DeviceRow::carveouts);
  std::vector<DeviceResult> devices;
  for (DeviceRow& row : rows.rows) {
    row.device.info.shared_carveouts_bytes = carveouts.take(row.carveouts);
    require_sound(row.device.point_index < points, "a device was measured at no point");
    devices.push_back(std::move(row.device));
  }
  return devices;
}

/// @param result under the name that it has in the file
void add_job(DeviceResult& device, JobResult result) {
  const auto first = job_of_again(result.job);
  if (first) result.job = *first;
  (first ? device.again : device.jobs).push_back(std::move(result));
}

/// @param devices without their jobs
/// @param depth_of how much is read of a job
std::vector<DeviceResult> add_jobs(StoredFile& file, RowRange span,
                                   const std::vector<std::string>& job_names, const auto& depth_of,
                                   std::vector<DeviceResult> devices) {
  JobsByPosition jobs(devices.size());
  for (const std::string& job : job_names) collect_job(file, job, span, depth_of(job), jobs);
  for (std::size_t i = 0; i < devices.size(); ++i) {
    for (auto& [position, result] : jobs[i]) add_job(devices[i], std::move(result));
  }
  return devices;
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
    knows_points_ = read_schema_version(file_->id()) >= first_schema_version_with_points;
    provenance_ = read_header(*file_);
    device_count_ = file_->table(keys::devices).rows();
    job_names_ = hdf5::list_groups(file_->id(), "jobs");
  });
}

std::vector<DeviceResult> RunReader::read_rows(RowRange span) const {
  const WithPoints with_points = knows_points_ ? WithPoints::yes : WithPoints::no;
  return read_device_rows(*file_, with_points, span, provenance_.points.size());
}

std::vector<UnauditedDevice> RunReader::read_unaudited() const {
  return reading(path_, [this] {
    const auto table = unaudited_table();
    return read_span(*file_, table, {0, file_->table(table.key()).rows()}).rows;
  });
}

std::vector<DeviceResult> RunReader::read_inventory() const {
  return reading(path_, [this] { return read_rows({0, device_count_}); });
}

std::vector<DeviceResult> RunReader::read_devices(RowRange span, WithTraces traces) const {
  const Depth depth = traces == WithTraces::yes ? Depth::traces : Depth::probes;
  return reading(path_, [&] {
    return add_jobs(
        *file_, span, job_names_, [depth](const auto&) { return depth; }, read_rows(span));
  });
}

std::vector<DeviceResult> RunReader::read_findings(RowRange span) const {
  const auto depth = [](const std::string&) { return Depth::findings; };
  return reading(path_, [&] { return add_jobs(*file_, span, job_names_, depth, read_rows(span)); });
}

std::vector<DeviceResult> RunReader::read_outcomes() const {
  const auto depth = [](const std::string& job) {
    return job_of_again(job) ? Depth::findings : Depth::outcome;
  };
  return reading(path_, [&] {
    const RowRange all{0, device_count_};
    return add_jobs(*file_, all, job_names_, depth, read_rows(all));
  });
}

std::vector<std::vector<Finding>> RunReader::read_findings(
    RowRange span, const std::string& job, const std::set<std::string>& metrics) const {
  return reading(path_, [&] {
    JobsByPosition jobs(span.length);
    collect_job(*file_, job, span, Depth::findings, jobs, &metrics);
    std::vector<std::vector<Finding>> findings(span.length);
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      if (!jobs[i].empty()) findings[i] = std::move(jobs[i].begin()->second.findings);
    }
    return findings;
  });
}

std::set<std::string> RunReader::metric_names(RowRange rows, const std::string& job) const {
  return reading(path_, [&] {
    const auto table = finding_table(job);
    const auto metric = std::ranges::find(table.columns(), "metric", &ColumnSpec::name);
    const PackedColumn names = file_->table(table.key()).read(*metric, rows);
    std::unordered_set<std::string_view> different;
    for (std::uint64_t row = 0; row < names.rows(); ++row) different.insert(text_at(names, row));
    return std::set<std::string>(different.begin(), different.end());
  });
}

std::uint64_t RunReader::count_findings(const std::string& job) const {
  return reading(path_, [&] { return file_->table(keys::findings(job)).rows(); });
}

std::uint64_t RunReader::count_findings() const {
  std::uint64_t findings = 0;
  for (const std::string& job : job_names_) findings += count_findings(job);
  return findings;
}

std::uint64_t RunReader::count_probes() const {
  return reading(path_, [&] {
    std::uint64_t probes = 0;
    for (const std::string& job : job_names_) {
      probes += file_->table(keys::probes(job)).rows();
    }
    return probes;
  });
}

JobResult RunReader::read_job(std::uint64_t device, const std::string& job) const {
  return reading(path_, [&] {
    JobsByPosition jobs(1);
    collect_job(*file_, job, {device, 1}, Depth::traces, jobs);
    if (jobs.front().empty()) throw StoreError("it does not hold the job " + job);
    return std::move(jobs.front().begin()->second);
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
