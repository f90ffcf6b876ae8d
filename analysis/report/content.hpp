// Content of every report, before it is formatted as text, Markdown, HTML or JSON.
#pragma once

#include "analysis/fleet/fleet.hpp"
#include "analysis/report/table.hpp"
#include "base/units.hpp"

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sonde {

/// "sonde 0.1.0, 2025-11-21T02:14:07Z, Slurm job 4711, seed 1".
std::string origin_line(const RunResult& run);
/// Jobs in the order of their first metric in the registry.
std::vector<std::string_view> jobs_of(std::span<const Metric> registry);
/// Jobs of the registry that no device ran, in its order.
std::vector<std::string> jobs_left_out(const RunResult& run, std::span<const Metric> registry);
/// "ALL WELL: 4 GPUs passed" or "Of 4 GPUs: 1 FAILED, ...", with the jobs that no GPU ran: ". Not
/// measured: tlb, topology and 3 more".
std::string verdict_line(const RunResult& run, const FleetAnalysis& analysis);
/// What GPUs with too few peers are compared with. Empty if all have peers.
std::vector<std::string> scope_lines(const RunResult& run, const FleetAnalysis& analysis);

/// Verdict, node, rank, GPU, (setting), likely cause and reason of each device, worst first.
TextTable device_table(const RunResult& run, const FleetAnalysis& analysis);
/// Numbers of one group: metric, unit, n, median, MAD, min, max, CV, furthest device.
TextTable metric_table(const RunResult& run, const FleetAnalysis& analysis, std::size_t group);
/// Structure of one group: metric, value, number that agree.
TextTable structure_table(const FleetAnalysis& analysis, std::size_t group);
/// Findings without an answer and failed jobs: job, metric, status, devices, reason.
TextTable gap_table(const RunResult& run, const FleetAnalysis& analysis);
/// Findings of one device and job: metric, value, deviation (between replicates, or of the samples
/// of a single one), number, confidence, remark.
TextTable finding_table(const JobResult& job, std::span<const Metric> registry);
/// Jobs in running order: wall time, and its part with the GPU at work; medians over the devices.
TextTable time_table(const RunResult& run);

/// Floating-point operations per second of all SMs; a multiply-add counts as two. The job measures
/// bursts of microseconds: what a GPU sustains at its power limit is less (job soak).
struct FlopRate {
  std::string name;              // "FP32", "FP16 matrices"
  double per_s = 0;              // at the measured SM clock
  double theoretical_per_s = 0;  // at the highest clock, with the next power of two of lanes
};
std::vector<FlopRate> flop_rates(const DeviceResult& device);

/// The numbers that people ask for first: rates and sizes of the devices of a group: the median,
/// the least and the most of several, what bus, clock or driver promise, the share of it, and the
/// reference values of the model if there are any. A row without a measured value is left out.
TextTable key_number_table(const RunResult& run, const ComparisonGroup& group);
/// Of a group what most of its devices say: a row for each cache, TLB and memory.
TextTable structure_summary(const RunResult& run, const ComparisonGroup& group);

/// One problem: a device with all its charges, or a charge against a node or a group.
struct Problem {
  struct Line {
    std::string_view label;  // "what" (its cause or worst finding), "shown", "likely" (the
                             // fault), "ground", "certainty", "also"
    std::string text;
  };
  std::string badge;                 // "FAIL", "WARN", "LOST", "INCOMPLETE"
  std::string where;                 // node, rank, UUID, setting; or node; or group
  std::vector<Line> lines;           // none is empty
  std::vector<std::string> actions;  // most useful first
  std::optional<std::size_t> device =
      {};                   // into RunResult::devices, if the problem is about one device
  std::string metric = "";  // of the worst charge, if it has one
};

/// All problems, worst first: failed and lost devices, failed nodes, incomplete devices, warnings,
/// GPUs that nobody measured. One cause of a GPU at several settings of a sweep is one problem.
std::vector<Problem> problems(const RunResult& run, const FleetAnalysis& analysis);
/// Charges of Severity::info, one line each.
std::vector<std::string> notes(const RunResult& run, const FleetAnalysis& analysis);

/// Values between GPUs of a node: a row for each measuring GPU, a column for each peer, by rank.
struct PeerMatrix {
  std::string title;  // "node03: peer.read_bytes_per_s, GB/s (nvlink)"
  TextTable table;
};

/// Matrices of the job `peer`, by node; of many nodes only a few, first those with a slow link.
/// Empty if the run measured no peers.
std::vector<PeerMatrix> peer_matrices(const RunResult& run, std::span<const Metric> registry);

/// A column of a finding in JSON and CSV.
struct FindingCell {
  std::string_view column;
  Value value;
};
/// Value, unit, status, confidence, ..., reason; without the metric.
std::array<FindingCell, 11> cells_of(const Finding& finding, std::string_view unit);

/// "structural", "continuous", ...
std::string_view to_text(MetricKind kind);
/// "lower", "higher"; "" if neither is better.
std::string_view to_text(Better better);
/// Four digits in this unit; "-" if the value is not finite.
std::string number_text(double value, const DisplayUnit& display);
/// The device's place, in a sweep with the setting: "node03 rank 2, memory-percent=50".
std::string place_of(const RunResult& run, const DeviceResult& device);

}  // namespace sonde
