// A rank's own file while it measures: one device, flushed after every job, so that a killed rank
// costs only the job under way (and the one before, while that is being written). Each job comes
// with tables of its own, those that a run file has; so does the device, when it begins and when it
// ends.
#pragma once

#include "analysis/results.hpp"

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace sonde {

/// Of the names of shards that were measured under another configuration, and set aside.
inline constexpr const char* aside_suffix = ".old";

struct ResumedShard;

/// Whether a job need not be measured again: it ended with answers, or knows that there are none.
bool is_final(const JobResult& job);

/// Where `Shard::finish` leaves the shard of a GPU.
std::filesystem::path finished_shard(const std::filesystem::path& parts, const std::string& uuid);

/// What there is to go on from, besides the shard.
struct ResumeFrom {
  std::filesystem::path run{};  // a run file; need not be there
  /// Jobs, by their names in the file, that are not measured again although they failed.
  std::vector<std::string> keep{};
  /// What a job builds on. One that ran without it, since that was lost, is measured again, too.
  std::function<std::vector<std::string>(const std::string& job)> builds_on{};
};

/// Writes `<parts>/<GPU UUID>.h5.part`; `finish` renames it to `<GPU UUID>.h5`. Until then the file
/// says that the device is `lost`, which is what a killed rank leaves behind. After a StoreError
/// the file keeps what it had at the last good flush, and takes nothing more.
class Shard {
 public:
  /// Starts an empty shard, which replaces one that was left there.
  /// @param device its inventory, node, rank and health before
  /// @throws StoreError
  static Shard create(const std::filesystem::path& parts, const DeviceResult& device,
                      const Provenance& provenance);

  /// Continues the shard of this GPU, finished or not, or what an earlier run file has of it, if it
  /// was measured under the same config hash; else starts an empty one.
  /// @throws StoreError if no shard can be written
  static ResumedShard resume(const std::filesystem::path& parts, const DeviceResult& device,
                             const Provenance& provenance, const ResumeFrom& from = {});

  /// A copy of the finished shard of this device, to which second tries of its jobs are added, or
  /// jobs that it lacks; it takes the shard's place when it is finished, and none if it never is.
  /// @param device as the shard has it @throws StoreError
  static Shard extend(const std::filesystem::path& parts, const DeviceResult& device);

  Shard(Shard&&) noexcept;
  Shard& operator=(Shard&&) noexcept;
  ~Shard();

  /// Adds a job and flushes it to the disk. @throws StoreError; Error if the job is there already
  void append(const JobResult& result);

  /// The same for the second try of a job.
  void append_again(const JobResult& result);

  /// The measuring stops here, to be resumed: closes the file, which stays unfinished and says
  /// `incomplete` with this reason. @throws StoreError
  void suspend(const std::string& reason);

  /// Writes the device's status, reason and health after, closes and renames. @throws StoreError
  void finish(const DeviceResult& device);

 private:
  struct State;
  void append_as(const std::string& name, const JobResult& result);
  explicit Shard(std::unique_ptr<State> state);
  static Shard start(const std::filesystem::path& path, const std::filesystem::path& finished,
                     const DeviceResult& device, const Provenance& provenance);
  std::unique_ptr<State> state_;
};

/// A shard to go on with, and the jobs that need not run again, without their traces: those that
/// ended `ok`, `unstable`, `not_present`, `not_resolvable` or `skipped`, and those to be kept. They
/// are in the new shard already, and so are their second tries that ended in such a way.
struct ResumedShard {
  Shard shard;
  std::vector<JobResult> done;
  std::string note;              // for the log: why an earlier shard was not used; empty if it was
  std::vector<JobResult> again;  // second tries
};

}  // namespace sonde
