// A characterization job: plan, run, infer. It sees a Device and what earlier jobs found, asks
// probes, hands their traces to pure inference (analysis/), and reports findings.
#pragma once

#include "analysis/results.hpp"
#include "device/device.hpp"
#include "jobs/run/job_options.hpp"
#include "jobs/run/node_gpus.hpp"

#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sonde {

enum class SuiteLevel { quick, standard, full };

/// One run of one job on one device: the only way from a job to the device and back.
class JobRun {
 public:
  /// @param job its name, as in the registry of metrics (analysis/metrics.hpp)
  /// @param earlier results of the jobs that ran before on this device
  /// @param on_probe called after each probe (progress); may throw to stop the job
  JobRun(Device& device, std::string_view job, SuiteLevel level, std::uint64_t seed,
         const std::vector<JobResult>& earlier, std::function<void()> on_probe = {});

  /// The GPUs of its node, for a job that runs on all of them at the same time; else empty.
  const NodeGpus& node() const { return node_; }
  void set_node(NodeGpus node) { node_ = std::move(node); }

  /// Its options that the run sets, and the number or text of one; nothing where it is not set.
  void set_settings(JobSettings settings) { settings_ = std::move(settings); }
  std::optional<std::uint64_t> number_setting(std::string_view option) const;
  std::optional<std::string> text_setting(std::string_view option) const;
  /// The one value that the run sets, or else the usual ones.
  std::vector<int> choices(const JobOption& option, std::vector<int> usual) const;
  /// Whether the run sets any of its options.
  bool has_settings() const { return !settings_.empty(); }

  const DeviceInfo& info() const;
  Device& device() { return device_; }
  SuiteLevel level() const { return level_; }
  /// Seed of this job's own random choices.
  std::uint64_t seed() const { return seed_; }

  /// Plays a probe and keeps its trace under `label` for the file. The reference stays valid.
  /// @throws DeviceError, DeviceLostError
  const Trace& run(std::string label, const ProbeSpec& spec);

  /// The same for one of the many probes of a search: the trace is the caller's. What the file
  /// keeps of it is the trace, or, once the searches of this job have recorded a million accesses,
  /// their windows by frequency.
  /// @throws DeviceError, DeviceLostError
  Trace ask(std::string label, const ProbeSpec& spec);

  /// Seconds that the device was at work on probes of this job so far.
  double device_s() const { return device_s_; }

  /// Probes of this job so far that ran while heat or power held clocks down.
  std::uint64_t throttled_probes() const { return throttled_probes_; }

  /// So many replicates do not count, because they met a throttled GPU: the job's result says so.
  void drop_replicates(std::uint64_t count) { dropped_replicates_ += count; }

  /// @throws Error if the metric is not in the registry, or was reported already
  void report(Finding finding);
  /// The same with what to know about the value.
  void report(Finding finding, std::string remark);

  /// Reports every metric of this job whose name begins with `prefix` and that has no finding yet:
  /// the one way to say that there is no answer to several of them.
  /// @param status of each, not `ok`: an absence has confidence 1, all else 0
  void report_rest(std::string_view prefix, Status status, const std::string& reason);
  /// The same for what is not resolvable.
  void leave_open(std::string_view prefix, const std::string& reason) {
    report_rest(prefix, Status::not_resolvable, reason);
  }

  /// The same for what this suite leaves out: skipped, the standard suite has it.
  void skip_rest(std::string_view prefix);

  /// What this job or an earlier one reported, whatever its status; nullptr if there is none.
  const Finding* answer(std::string_view metric) const;
  /// The same if its status is ok.
  const Finding* finding(std::string_view metric) const;
  /// Its number.
  std::optional<double> number(std::string_view metric) const;
  /// Or its vector.
  std::optional<std::vector<double>> vector(std::string_view metric) const;

  /// Everything kept, to be written; the run is over.
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
