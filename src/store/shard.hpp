// The file of one rank while it measures one device. It is flushed after every job, so a killed
// rank loses only the current job (and the job before, if that is still being written). Each job
// has its own tables, with the names that a run file has; so has the device.
#pragma once

#include "analysis/results.hpp"

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace sonde {

struct ResumedShard;

/// True unless the job failed or was not run; then it need not be measured again.
bool is_final(const JobResult& job);

/// The path of a GPU's shard after `Shard::finish`.
std::filesystem::path finished_shard(const std::filesystem::path& parts, const std::string& uuid);

/// Sources for resuming besides the shard.
struct ResumeFrom {
  std::filesystem::path run{};  // a run file; need not exist
  /// Jobs, by their names in the file, that are kept even if they failed.
  std::vector<std::string> keep{};
  /// The jobs that a job builds on. If one of these is not kept, the job is measured again, too.
  std::function<std::vector<std::string>(const std::string& job)> builds_on{};
};

/// Writes `<parts>/<GPU UUID>.h5.part`; `finish` renames it to `<GPU UUID>.h5`. Until then the file
/// says that the device is `lost`, which is true if the rank is killed. After a StoreError the file
/// keeps its content of the last good flush, and can no longer be written.
class Shard {
 public:
  /// Starts an empty shard and replaces an existing one.
  /// @param device with its inventory, node, rank and health before the first job
  /// @throws StoreError
  static Shard create(const std::filesystem::path& parts, const DeviceResult& device,
                      const Provenance& provenance);

  /// Continues the shard of this GPU, finished or not, or its results in an earlier run file, if
  /// they have the same config hash; else starts an empty one.
  /// @throws StoreError if no shard can be written
  static ResumedShard resume(const std::filesystem::path& parts, const DeviceResult& device,
                             const Provenance& provenance, const ResumeFrom& from = {});

  /// Copies the finished shard of this device, to add second tries of its jobs, or missing jobs.
  /// The copy replaces the shard when it is finished; if it is never finished, the shard stays.
  /// @param device as stored in the shard @throws StoreError
  static Shard extend(const std::filesystem::path& parts, const DeviceResult& device);

  Shard(Shard&&) noexcept;
  Shard& operator=(Shard&&) noexcept;
  ~Shard();

  /// Adds a job and flushes it to the disk. @throws StoreError; Error if the job is already there
  void append(const JobResult& result);

  /// The same for the second try of a job.
  void append_again(const JobResult& result);

  /// Stops the measuring until it is resumed: closes the file, which stays unfinished and says
  /// `incomplete` with this reason. @throws StoreError
  void suspend(const std::string& reason);

  /// Writes the device's status, reason and last health, and the findings of all its jobs once
  /// more: rank 0 judges a fleet by these while all ranks wait, and reading them job by job would
  /// take ten times as long. Closes and renames the file.
  /// @param device with all jobs of the shard; their probes are not used  @throws StoreError
  void finish(const DeviceResult& device);

 private:
  struct State;
  void append_as(const std::string& name, const JobResult& result);
  explicit Shard(std::unique_ptr<State> state);
  static Shard start(const std::filesystem::path& path, const std::filesystem::path& finished,
                     const DeviceResult& device, const Provenance& provenance);
  std::unique_ptr<State> state_;
};

/// A shard to continue, and the jobs that need not run again, without traces: those that ended
/// `ok`, `unstable`, `not_present`, `not_resolvable` or `skipped`, and those of ResumeFrom::keep.
/// These jobs and their second tries are already in the new shard.
struct ResumedShard {
  Shard shard;
  std::vector<JobResult> done;
  std::string note;              // why an earlier shard was not used; empty if it was used
  std::vector<JobResult> again;  // second tries
};

}  // namespace sonde
