// Reads a run file or shard: whole for analysis and reports, or any span of its devices, so that a
// merge needs one in memory at a time.
#pragma once

#include "analysis/results.hpp"
#include "base/error.hpp"
#include "store/hdf5/bound_table.hpp"
#include "store/hdf5/hdf5.hpp"

#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace sonde {

enum class WithTraces { no, yes };

/// A file that is there, and whose content cannot be used.
class UnreadableError : public StoreError {
 public:
  using StoreError::StoreError;
};

/// An open file of the current schema. Every function throws StoreError, naming the file, if what
/// it should read is missing or contradicts itself.
class RunReader {
 public:
  explicit RunReader(const std::filesystem::path& path);

  const Provenance& provenance() const { return provenance_; }
  std::uint64_t device_count() const { return device_count_; }
  /// Not so files of schema version 4: all their devices were measured at one point.
  bool knows_points() const;
  /// In the order in which they came into the file, by the names that they have there.
  std::vector<std::string> job_names() const;
  std::vector<UnauditedDevice> read_unaudited() const;
  /// Devices without their jobs.
  std::vector<DeviceResult> read_inventory() const;
  std::vector<DeviceResult> read_devices(RowRange span, WithTraces traces) const;
  /// Devices with their findings, and without probes.
  std::vector<DeviceResult> read_findings(RowRange span) const;
  /// Findings of one job, by the name that it has in the file, of each of these devices: those in
  /// these metrics.
  std::vector<std::vector<Finding>> read_findings(RowRange span, const std::string& job,
                                                  const std::set<std::string>& metrics) const;
  /// All devices with how their jobs ended; of second tries the findings, too.
  std::vector<DeviceResult> read_outcomes() const;
  std::uint64_t count_findings(const std::string& job) const;
  std::uint64_t count_findings() const;  // of all jobs
  /// Names of the metrics in these rows of a job's findings.
  std::set<std::string> metric_names(RowRange rows, const std::string& job) const;
  std::uint64_t count_probes() const;
  /// One job of the device in that row, with its traces, by the name that it has in the file
  /// (stored_jobs.hpp). @throws StoreError also if it is not there
  JobResult read_job(std::uint64_t device, const std::string& job) const;

 private:
  std::filesystem::path path_;
  hdf5::Handle file_;
  Provenance provenance_;
  std::uint64_t device_count_ = 0;
};

/// A whole run. Without traces the probes are there, but neither their lanes nor their repeats.
/// @throws StoreError if it is no run file, of another schema version, truncated or damaged
RunResult read_run(const std::filesystem::path& path, WithTraces traces);

/// The devices of a finished shard, without probes: by its digest, or by the shard itself if a run
/// was killed before it wrote that. None if the shard was measured under another configuration.
/// @throws StoreError if the shard cannot be read
std::vector<DeviceResult> read_finished(const std::filesystem::path& shard,
                                        const std::string& config_hash);

}  // namespace sonde
