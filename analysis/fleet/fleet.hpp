// From the results of a run to its analysis: which devices may be compared, how each metric is
// distributed, which devices deviate, and a verdict for each. Pure; rank 0 calls it.
#pragma once

#include "analysis/fleet/charge.hpp"
#include "analysis/metrics.hpp"
#include "analysis/results.hpp"

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace sonde {

struct DeviceConditions {
  double sm_clock_hz = 0;    // median over the probes, else after the run; 0: unknown
  double temperature_c = 0;  // highest; 0: unknown
  std::size_t probes = 0;
  std::size_t throttled_probes = 0;
  std::uint64_t throttle_reasons = 0;  // harmful ones, of all probes
  double start_unix_s = 0;             // median over the probes; 0: unknown
};

/// Cost of a job: medians of standard runs.
struct JobCost {
  double seconds = 0;
  double file_bytes = 0;
};

/// Values of GPUs of one model that were measured before.
struct ModelReference {
  std::string name;  // as the driver reports it
  std::uint64_t memory_bytes = 0;
  std::size_t gpus = 0;
  std::vector<std::string> sources = {};        // pages of docs/results
  std::map<std::string, Interval> values = {};  // by metric: smallest and largest median of a GPU
  std::map<std::string, JobCost, std::less<>> jobs = {};  // by name; empty: unknown
};

/// The built-in references, from the files in references/ (made by docs/results/references.py).
std::span<const ModelReference> shipped_references();

struct ReduceOptions {
  std::span<const Metric> registry = all_metrics();
  /// Of each device, if the run has no probes; else they are computed from the probes.
  std::vector<DeviceConditions> conditions = {};
  /// If the run is a centre of repeats: the drifts over the repeats (drift_charges).
  std::span<const Charge> drifts = {};
  /// Reference values of GPU models (judge_by_references).
  std::span<const ModelReference> references = shipped_references();
};

/// True if there should be a result, but there is none.
constexpr bool is_missing(Status status) {
  return status == Status::failed || status == Status::not_run;
}

/// A smaller group has no usual value: if two GPUs differ, either may be wrong.
inline constexpr std::size_t least_group = 3;

/// Devices that may be compared with each other; indices into RunResult::devices.
struct ComparisonGroup {
  std::string model;                          // "NVIDIA H200, 140 GiB, ECC on"
  std::string label;                          // the same, in a sweep with the setting
  std::vector<std::size_t> devices;           // ascending
  const ModelReference* reference = nullptr;  // of the model, if there is one for these settings
};

/// A device's place in its group.
struct Standing {
  std::size_t device = 0;
  double value = 0;
  double deviation_fraction = 0;  // from the group's median
  double score = 0;               // (value - median) / robust scale
};

/// One metric in one group. Structural metrics have a consensus, and median..cv of values that are
/// numbers; the others have everything but the consensus.
struct MetricStatistics {
  std::string metric;
  std::string unit;
  std::string summary;  // of a per-SM map: the summary, "median" or "profile distance"
  MetricKind kind = MetricKind::continuous;
  std::size_t group = 0;
  std::size_t n = 0;  // devices with a value
  double median = 0;
  double mad = 0;
  double min = 0;
  double max = 0;
  double cv = 0;      // standard deviation / mean; NaN if the mean is 0
  double center = 0;  // median of the devices that agree (series.hpp); of all if ambiguous
  double scale = 0;   // their robust standard deviation, the divisor of scores
  double threshold =
      0;  // largest score of a healthy group of this size; 0: fewer than 9 agree, no score verdict
  std::vector<Standing> furthest;  // at most 3, largest distance first; empty if no device deviates
  std::string consensus;           // structural: the value of the majority; "" without a majority
  std::size_t agreeing = 0;        // devices of the majority
  bool ambiguous = false;          // no majority
};

/// "placement.l2_latency_cycles (median)" for a summary of a map.
std::string title_of(const MetricStatistics& statistics);

struct DeviceVerdict {
  Verdict verdict = Verdict::pass;
  std::string reason;
  Trouble likely = Trouble::unknown;
  std::vector<std::size_t> charges;  // into FleetAnalysis::charges, the leading one first
};

/// Findings without a value, and jobs that are not ok, grouped by job, status and reason.
struct Gap {
  std::string job;
  std::string status;
  std::string reason;
  std::vector<std::string> metrics;  // ascending; "(the job)" is the job itself
  std::vector<std::size_t> devices;  // of the run, ascending
};

struct FleetCounts {
  std::size_t expected = 0;
  std::size_t seen = 0;     // on any node, measured or not
  std::size_t audited = 0;  // measured to the end, by more than the job `device`
  std::size_t passed = 0;
  std::size_t warned = 0;
  std::size_t failed = 0;
  std::size_t incomplete = 0;
  std::size_t lost = 0;
  std::size_t flagged = 0;  // verdict warn or fail
  std::size_t missing = 0;  // findings and jobs that failed or were not run
};

/// `verdicts` has one entry per device, in the order of the run.
struct FleetAnalysis {
  std::span<const Metric> registry;
  FleetCounts counts;
  std::vector<ComparisonGroup> groups;
  std::vector<MetricStatistics> statistics;  // by group, then in the registry's order
  std::vector<Charge> charges;               // worst first
  std::vector<DeviceVerdict> verdicts;
  std::vector<Gap> gaps;
};

/// The group of the device; the number of groups if it belongs to none.
std::size_t group_of(const FleetAnalysis& analysis, std::size_t device);

}  // namespace sonde
