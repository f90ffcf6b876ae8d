// Reads a run file or shard, as a whole or any span of its devices (to save memory).
#pragma once

#include "analysis/results.hpp"
#include "base/error.hpp"
#include "store/hdf5/job_reader.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace sonde {

/// Thrown if a file exists but its content cannot be used.
class UnreadableError : public StoreError {
 public:
  using StoreError::StoreError;
};

/// Reads all columns of a file in a child process, since some damaged files crash HDF5. Call it
/// once before you open a file here that somebody else may have written or damaged.
/// @throws StoreError if a signal ended the child
void check_readable(const std::filesystem::path& path, Depth depth);

/// An open file. All functions throw StoreError, with the file's name, if data is missing or
/// contradictory.
class RunReader {
 public:
  explicit RunReader(const std::filesystem::path& path);

  const Provenance& provenance() const { return provenance_; }
  std::uint64_t device_count() const { return device_count_; }
  std::vector<UnauditedDevice> read_unaudited() const;
  /// All devices without their jobs.
  std::vector<DeviceResult> read_inventory() const;
  std::vector<DeviceResult> read_devices(RowRange span, Depth depth) const;
  std::uint64_t count_findings() const;
  std::uint64_t count_probes() const;
  /// One job of the device in that row, with its traces. The job has its name in the file
  /// (hdf5/flatten.hpp). @throws StoreError also if the job is not there
  JobResult read_job(std::uint64_t device, const std::string& job) const;

 private:
  struct Devices;
  void open();
  std::uint64_t count_rows(const TableKey& table) const;
  Devices read_rows(RowRange span) const;
  /// The results that a part has for these devices.
  std::vector<std::vector<JobResult>> read_jobs(const StoredTables& part, std::uint64_t first,
                                                std::vector<RowRange> outcomes, Depth depth,
                                                const std::string& only = "") const;

  std::filesystem::path path_;
  hdf5::Handle file_;
  Provenance provenance_;
  /// The tables of devices: of the file itself, or of the last part of a shard that has its device.
  StoredTables inventory_;
  /// The tables of jobs: of the file itself, or of each part of a shard that has a job.
  std::vector<StoredTables> parts_;
  bool is_shard_ = false;
  bool is_finished_shard_ = false;  // then `inventory_` has all findings, too
  std::uint64_t device_count_ = 0;
};

/// Reads a whole run file or shard. @throws StoreError if it is no such file, has another schema
/// version, or is truncated or damaged
RunResult read_run(const std::filesystem::path& path, Depth depth);

}  // namespace sonde
