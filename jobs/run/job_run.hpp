// What a job sees: the device, the findings of earlier jobs, and where to report its own. A job
// runs probes, hands their traces to pure inference (analysis/), and reports findings.
#pragma once

#include "analysis/results.hpp"
#include "base/error.hpp"
#include "device/device.hpp"
#include "jobs/run/job_options.hpp"
#include "jobs/run/node_gpus.hpp"

#include <concepts>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sonde {

enum class SuiteLevel { quick, standard, full };

/// Whole numbers as values of findings.
inline Value to_value(Value value) { return value; }
inline Value to_value(std::integral auto number) { return static_cast<double>(number); }
inline Value to_value(const std::vector<int>& numbers) {
  return std::vector<double>(numbers.begin(), numbers.end());
}

/// Thrown by a job, or a part of it, that has no answer although the device refused no probe: for
/// example, the device lacks what an option asks for.
class NoAnswer : public Error {
 public:
  NoAnswer(Status absence, const std::string& why) : Error(why), status(absence) {}
  Status status;  // `not_present`, or `not_resolvable` if it exists and cannot be measured
};

/// One run of a job on a device. A job reaches the device only through this class.
class JobRun {
 public:
  /// @param job its name in the registry of metrics (analysis/metrics.hpp)
  /// @param earlier results of the jobs that ran earlier on this device
  /// @param on_probe called after each probe (for progress); may throw to stop the job
  JobRun(Device& device, std::string_view job, SuiteLevel level, std::uint64_t seed,
         const std::vector<JobResult>& earlier, std::function<void()> on_probe = {});

  /// All GPUs of the node, for a job that runs on them at the same time; else empty.
  const NodeGpus& node() const { return node_; }
  void set_node(NodeGpus node) { node_ = std::move(node); }

  /// Options of this job that the run sets; nullopt for an option that is not set.
  void set_settings(JobSettings settings) { settings_ = std::move(settings); }
  std::optional<std::uint64_t> number_setting(std::string_view option) const;
  std::optional<std::string> text_setting(std::string_view option) const;
  /// The value that the run sets, or the usual values.
  std::vector<int> choices(const JobOption& option, std::vector<int> usual) const;
  /// True if the run sets any option of this job.
  bool has_settings() const { return !settings_.empty(); }

  const DeviceInfo& info() const;
  Device& device() { return device_; }
  SuiteLevel level() const { return level_; }
  /// Seed of the random choices of this job.
  std::uint64_t seed() const { return seed_; }

  /// Runs a probe and keeps its trace under `label` for the file. The reference stays valid.
  /// @throws DeviceError, DeviceLostError
  const Trace& run(std::string label, const ProbeSpec& spec);

  /// The same for one of the many probes of a search. The file keeps the whole trace until the
  /// searches of this job have recorded a million accesses, then only the histogram of its windows.
  /// @throws DeviceError, DeviceLostError
  Trace ask(std::string label, const ProbeSpec& spec);

  /// Seconds that the device has spent on the probes of this job.
  double device_s() const { return device_s_; }

  /// Number of probes of this job that ran while heat or power held clocks down.
  std::uint64_t throttled_probes() const { return throttled_probes_; }

  /// Adds replicates that do not count because the GPU was throttled; the job's result says so.
  void drop_replicates(std::uint64_t count) { dropped_replicates_ += count; }

  /// Reports a value. @param samples number of measurements behind it
  /// @throws Error if the metric is not in the registry, or was reported already
  template <class Of>
  void report(std::string metric, Of&& value, std::integral auto samples, double confidence = 1) {
    report(found(std::move(metric), to_value(std::forward<Of>(value)), confidence,
                 static_cast<std::uint64_t>(samples)));
  }
  void report(Finding finding);
  /// The same with a remark on the value.
  void report(Finding finding, std::string remark);

  /// Reports every metric of this job whose name begins with `prefix` and that has no finding yet.
  /// @param status not `ok`; `not_present` gets confidence 1, all others 0
  void report_rest(std::string_view prefix, Status status, const std::string& reason);
  /// The same with status `not_resolvable`.
  void leave_open(std::string_view prefix, const std::string& reason) {
    report_rest(prefix, Status::not_resolvable, reason);
  }

  /// The same with status `skipped`, for metrics that only the standard suite measures.
  void skip_rest(std::string_view prefix);

  /// What this job or an earlier one reported, with any status; nullptr if nothing.
  const Finding* answer(std::string_view metric) const;
  /// The same if its status is `ok`.
  const Finding* finding(std::string_view metric) const;
  /// Its value if it is a number.
  std::optional<double> number(std::string_view metric) const;
  /// Its value if it is a vector.
  std::optional<std::vector<double>> vector(std::string_view metric) const;

  /// Moves everything out, to be written; ends the run.
  JobResult take_result();

 private:
  void account(const Trace& trace);

  Device& device_;
  std::string_view job_;
  SuiteLevel level_;
  std::uint64_t seed_;
  const std::vector<JobResult>& earlier_;
  std::function<void()> on_probe_;
  NodeGpus node_;
  JobSettings settings_;
  std::deque<ProbeRecord> records_;
  std::uint64_t searched_accesses_ = 0;
  double device_s_ = 0;
  std::uint64_t throttled_probes_ = 0;
  std::uint64_t dropped_replicates_ = 0;
  std::vector<Finding> findings_;
};

}  // namespace sonde
