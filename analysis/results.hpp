// Results of inference, as the file keeps them: findings of a job, results of a device, of a run.
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
/// @throws StoreError if the text names no status
Status parse_status(std::string_view text);

using Value = std::variant<std::monostate, double, std::string, std::vector<double>>;

struct Interval {
  double low = 0;
  double high = 0;
  bool operator==(const Interval&) const = default;
};

/// One metric of one device; analysis/metrics.hpp has its unit.
struct Finding {
  std::string metric;
  Value value;
  Status status = Status::ok;
  std::string reason;         // why there is no value, or a remark
  double confidence = 0;      // 0..1, that the value is right (structural) or stable (continuous)
  std::uint64_t samples = 0;  // number of measurements behind the value
  /// Standard deviations in the metric's unit: of the samples of one replicate, and of the values
  /// of replicates (each with another place in memory, SM and order). 0: unknown.
  double repeatability = 0;
  double reproducibility = 0;
  std::uint64_t replicates = 1;
  std::vector<double> modes = {};  // centers in ascending order, if values form several groups
  /// Bounds of a gradual capacity; unset: the value is exact.
  std::optional<Interval> interval = {};
  bool operator==(const Finding&) const = default;
};

Finding found(std::string metric, Value value, double confidence, std::uint64_t samples,
              double repeatability = 0);
/// A finding without a value. Confidence 1 if `not_present`, which is an answer; else 0.
Finding no_answer(std::string metric, Status status, std::string reason);
Finding not_present(std::string metric, std::string reason);
Finding not_resolvable(std::string metric, std::string reason);

struct JobResult {
  std::string job;
  Status status = Status::not_run;
  std::string reason;
  double elapsed_s = 0;
  double device_s = 0;  // the part in which the device worked on probes
  std::vector<Finding> findings;
  std::vector<ProbeRecord> probes;
  std::uint64_t first_probe = 0;  // row of the first probe in the file that it was read from
};

/// `incomplete`: a job failed or was not run. `lost`: the rank did not come back.
enum class DeviceOutcome { complete, incomplete, lost };
std::string_view to_text(DeviceOutcome outcome);
/// @throws StoreError if the text names no outcome
DeviceOutcome parse_device_outcome(std::string_view text);

struct DeviceResult {
  DeviceInfo info;
  std::uint64_t point_index = 0;  // into Provenance::points: the options of the jobs
  std::uint64_t repeats = 1;      // number of repeats whose centre this is (centre_of_repeats)
  std::string node;
  int rank = -1;
  DeviceOutcome status = DeviceOutcome::incomplete;
  std::string reason;
  Health before;
  Health after;
  std::vector<JobResult> jobs;
  /// Jobs that were measured a second time: of a device in doubt, or of a peer measured with it.
  /// The values of `jobs` stay the valid ones.
  std::vector<JobResult> again;
};

/// An option that a sweep varies.
struct Axis {
  std::string option;  // as on the command line; option of a job: "latency.carveout_bytes"
  std::string unit;    // "1" for plain numbers
  bool is_number = false;
};

/// A job of this point that was measured only at an earlier point, with the same options.
struct SharedJob {
  std::string job;
  std::string config_hash;  // of that earlier point
};

/// One choice of all options under which a run measures; a run without a sweep has one point.
struct Point {
  std::string
      config_hash;  // of the options that decide the results: backend, suite, jobs, seed, ...
  std::string config_json;  // resolved
  std::uint64_t seed = 0;
  std::uint64_t repeat_index = 0;      // of a repeated measurement with the same options
  std::vector<std::string> at = {};    // the value of each axis in Provenance::axes
  std::vector<SharedJob> shared = {};  // jobs that are not measured at this point
};

/// Everything that is needed to repeat a run.
struct Provenance {
  std::string command_line;
  std::string config_json;  // resolved
  std::string config_hash;  // of the only point, or of the hashes of all points
  std::string sweep_hash;   // of the names of the axes, and of all options that no axis varies
  std::string sonde_version;
  std::string git_revision;
  std::string library_versions;  // "HDF5 1.10.8, Open MPI 4.1.4, ..."
  std::string started_utc;       // ISO 8601
  std::string slurm_job_id;
  std::uint64_t seed = 0;
  int world_size = 1;
  std::vector<Axis> axes = {};     // without seed and repeat_index
  std::vector<Point> points = {};  // empty: one point, of which nothing more is known
};

/// The points of a provenance; one point if it names none.
std::vector<Point> points_of(const Provenance& provenance);

/// `config_hash` of a run with these points. @pre not empty
std::string hash_points(const std::vector<Point>& points);

/// The provenance of a shard: the run's, as if it had only this point.
Provenance at_point(Provenance provenance, const Point& point);

/// The axes of a point: "latency.carveout_bytes=65536, suite=full"; empty without axes.
std::string describe_setting(const Provenance& provenance, std::uint64_t point_index);

struct RunResult {
  Provenance provenance;
  std::vector<DeviceResult> devices;
  std::vector<UnauditedDevice> unaudited;
};

/// nullptr if there is no job of this name.
const JobResult* find_job(const std::vector<JobResult>& jobs, std::string_view name);

/// nullptr if there is no finding in this metric.
const Finding* find_finding(const DeviceResult& device, std::string_view metric);
const Finding* find_finding(const std::vector<Finding>& findings, std::string_view metric);

}  // namespace sonde
