// Reads a run file or shard: whole for analysis and reports, or any span of its devices, so that a
// merge needs one in memory at a time.
#pragma once

#include "analysis/results.hpp"
#include "base/error.hpp"
#include "store/hdf5/rows.hpp"
#include "store/hdf5/stored_file.hpp"
#include "store/job_reader.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <vector>

namespace sonde {

enum class WithTraces { no, yes };

/// A file that is there, and whose content cannot be used.
class UnreadableError : public StoreError {
 public:
  using StoreError::StoreError;
};

[[noreturn]] void fail_to_read(const std::filesystem::path& path, std::string_view reason);

/// Calls `work`, which reads from this file. What goes wrong in it means that the content of the
/// file is damaged. @throws UnreadableError
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

/// An open file. Every function throws StoreError, naming the file, if what
/// it should read is missing or contradicts itself.
class RunReader {
 public:
  /// @param keep_bytes as for StoredFile
  explicit RunReader(const std::filesystem::path& path, std::uint64_t keep_bytes = 0);

  const Provenance& provenance() const { return provenance_; }
  std::uint64_t device_count() const { return device_count_; }
  Layout layout() const { return layout_; }
  /// Jobs that have tables of their own, in the order in which they came into the file, by the
  /// names that they have there: of joined tables those with probes.
  const std::vector<std::string>& jobs_with_tables() const { return jobs_with_tables_; }
  std::vector<UnauditedDevice> read_unaudited() const;
  /// Devices without their jobs.
  std::vector<DeviceResult> read_inventory() const;
  std::vector<DeviceResult> read_devices(RowRange span, WithTraces traces) const;
  /// Devices with their findings, and without probes.
  std::vector<DeviceResult> read_findings(RowRange span) const { return load_findings(span)(); }
  /// Puts devices together that were read, once, and calls nothing of HDF5, so that it may run in
  /// another thread.
  using Assembly = std::function<std::vector<DeviceResult>()>;
  /// The same devices, read.
  Assembly load_findings(RowRange span) const;
  std::uint64_t count_findings() const;
  std::uint64_t count_probes() const;
  /// Its tables.
  StoredFile& file() const { return *file_; }
  /// One job of the device in that row, with its traces, by the name that it has in the file
  /// (stored_jobs.hpp). @throws StoreError also if it is not there
  JobResult read_job(std::uint64_t device, const std::string& job) const;

 private:
  Assembly load_jobs(RowRange span, Depth depth) const;

  std::filesystem::path path_;
  std::unique_ptr<StoredFile> file_;
  Provenance provenance_;
  std::uint64_t device_count_ = 0;
  Layout layout_ = Layout::joined;
  std::vector<std::string> jobs_with_tables_;
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
