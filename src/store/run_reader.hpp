// Reads a run file or shard: whole for analysis and reports, or any span of its devices, so that a
// merge needs few in memory at a time.
#pragma once

#include "analysis/results.hpp"
#include "base/error.hpp"
#include "store/hdf5/job_reader.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace sonde {

/// A file that is there, and whose content cannot be used.
class UnreadableError : public StoreError {
 public:
  using StoreError::StoreError;
};

/// Reads all columns of a file in a process of its own, for what HDF5 cannot withstand: to be
/// called once before a file that somebody else may have written or damaged is opened here.
/// @throws StoreError if reading it ended that process
void check_readable(const std::filesystem::path& path, Depth depth);

/// An open file. Every function throws StoreError, naming the file, if what it should read is
/// missing or contradicts itself.
class RunReader {
 public:
  explicit RunReader(const std::filesystem::path& path);

  const Provenance& provenance() const { return provenance_; }
  std::uint64_t device_count() const { return device_count_; }
  std::vector<UnauditedDevice> read_unaudited() const;
  /// Devices without their jobs.
  std::vector<DeviceResult> read_inventory() const;
  std::vector<DeviceResult> read_devices(RowRange span, Depth depth) const;
  std::uint64_t count_findings() const;
  std::uint64_t count_probes() const;
  /// One job of the device in that row, with its traces, by the name that it has in the file
  /// (hdf5/flatten.hpp). @throws StoreError also if it is not there
  JobResult read_job(std::uint64_t device, const std::string& job) const;

 private:
  struct Devices;
  void open();
  Devices read_rows(RowRange span) const;
  /// Of these devices, what a part has of their jobs.
  std::vector<std::vector<JobResult>> read_jobs(const StoredTables& part, std::uint64_t first,
                                                std::vector<RowRange> outcomes, Depth depth,
                                                const std::string& only = "") const;

  std::filesystem::path path_;
  hdf5::Handle file_;
  Provenance provenance_;
  /// Of a run file one; a shard has one for its device and for each of its jobs.
  std::vector<StoredTables> parts_;
  bool is_shard_ = false;
  std::uint64_t device_count_ = 0;
};

/// A whole run. @throws StoreError if it is no run file, of another schema version, truncated or
/// damaged
RunResult read_run(const std::filesystem::path& path, Depth depth);

}  // namespace sonde
