// What inference produces and the file keeps: findings of a job, results of a device, of a run.
#pragma once

#include "trace/inventory.hpp"
#include "trace/trace.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace sonde {

/// Outcome of one metric or one job. `not_present` and `not_resolvable` are answers.
enum class Status { ok, unstable, not_present, not_resolvable, skipped, failed, not_run };
std::string_view to_text(Status status);
/// @throws StoreError for a text that is no status
Status parse_status(std::string_view text);

using Value = std::variant<std::monostate, double, std::string, std::vector<double>>;

struct Interval {
  double low = 0;
  double high = 0;
  bool operator==(const Interval&) const = default;
};

/// One metric of one device. The unit stands in the registry (analysis/metrics.hpp).
struct Finding {
  std::string metric;
  Value value;
  Status status = Status::ok;
  std::string reason;         // why there is no value, or what to know about it
  double confidence = 0;      // 0..1: that the value is right (structural) or stable (continuous)
  std::uint64_t samples = 0;  // measurements behind the value
  /// Standard deviations in the metric's unit: of the samples of one replicate, and of the values
  /// of replicates, each at another place in memory, on another SM and in another order. 0: not
  /// known.
  double repeatability = 0;
  double reproducibility = 0;
  std::uint64_t replicates = 1;
  std::vector<double> modes = {};  // centers, ascending, where values form several groups
  /// Where the edge of a capacity lies that is gradual; unset: the value is exact.
  std::optional<Interval> interval = {};
  bool operator==(const Finding&) const = default;
};

Finding found(std::string metric, Value value, double confidence, std::uint64_t samples,
              double repeatability = 0);
/// A finding without a value. An absence is an answer (confidence 1), all else is none.
Finding no_answer(std::string metric, Status status, std::string reason);
Finding not_present(std::string metric, std::string reason);
Finding not_resolvable(std::string metric, std::string reason);

struct JobResult {
  std::string job;
  Status status = Status::not_run;
  std::string reason;
  double elapsed_s = 0;
  double device_s = 0;  // of these, the time in which the device was at work on probes
  std::vector<Finding> findings;
  std::vector<ProbeRecord> probes;
};

/// `incomplete`: some job failed or was not run; `lost`: its rank did not come back.
enum class DeviceOutcome { complete, incomplete, lost };
std::string_view to_text(DeviceOutcome outcome);
/// @throws StoreError for a text that is no outcome
DeviceOutcome parse_device_outcome(std::string_view text);

struct DeviceResult {
  DeviceInfo info;
  std::uint64_t point_index = 0;  // into Provenance::points: the options of its jobs
  std::uint64_t repeats = 1;  // of which the findings are the centre (fleet/grounds/repeats.hpp)
  std::string node;
  int rank = -1;
  DeviceOutcome status = DeviceOutcome::incomplete;
  std::string reason;
  Health before;
  Health after;
  std::vector<JobResult> jobs;
  /// Jobs measured a second time, later: of a device whose finding was doubted, or of a peer beside
  /// it. The values that count are those of `jobs`.
  std::vector<JobResult> again;
};

/// An option that a sweep varies.
struct Axis {
  std::string option;  // as on the command line; of a job "latency.carveout_bytes"
  std::string unit;    // "1" where it has none
  bool is_number = false;
};

/// A job that a point has in common with an earlier one, which alone measured it.
struct SharedJob {
  std::string job;
  std::string config_hash;  // of that point
};

/// One choice of all options under which a run measures its devices; a plain run has one.
struct Point {
  std::string config_hash;  // of what decides the results: backend, suite, jobs, seed, ...
  std::string config_json;  // resolved
  std::uint64_t seed = 0;
  std::uint64_t repeat_index = 0;      // of the same options measured again
  std::vector<std::string> at = {};    // the value of each of Provenance::axes
  std::vector<SharedJob> shared = {};  // those of its jobs that are not measured at it
};

/// How a run came about: everything needed to repeat it.
struct Provenance {
  std::string command_line;
  std::string config_json;  // resolved
  std::string config_hash;  // of its point; of several, of their hashes
  std::string sweep_hash;   // of the names of what varies, and of all that varies in no part of it
  std::string sonde_version;
  std::string git_revision;
  std::string library_versions;  // "HDF5 1.10.8, Open MPI 4.1.4, ..."
  std::string started_utc;       // ISO 8601
  std::string slurm_job_id;
  std::uint64_t seed = 0;
  int world_size = 1;
  std::vector<Axis> axes = {};     // without seed and repeat_index
  std::vector<Point> points = {};  // none: one, of which nothing more is known
};

/// Its points; the one of a provenance that names none.
std::vector<Point> points_of(const Provenance& provenance);

/// What `config_hash` is for these points. @pre there is one
std::string hash_points(const std::vector<Point>& points);

/// The provenance of a shard: that of the run, as if it had this point alone.
Provenance at_point(Provenance provenance, const Point& point);

/// "latency.carveout_bytes=65536, suite=full": the axes of a point; empty without axes.
std::string describe_setting(const Provenance& provenance, std::uint64_t point_index);

struct RunResult {
  Provenance provenance;
  std::vector<DeviceResult> devices;
  std::vector<UnauditedDevice> unaudited;
};

/// The job of that name; nullptr if there is none.
const JobResult* find_job(const std::vector<JobResult>& jobs, std::string_view name);

/// The finding of that metric among a device's jobs; nullptr if there is none.
const Finding* find_finding(const DeviceResult& device, std::string_view metric);
const Finding* find_finding(const std::vector<Finding>& findings, std::string_view metric);

}  // namespace sonde
