// What every report says, before it is dressed as text, Markdown, HTML or a table of another
// program.
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
/// Jobs in the order in which the registry first names them.
std::vector<std::string_view> jobs_of(std::span<const Metric> registry);
/// Jobs of the registry that no device ran, in its order: what this run did not look at.
std::vector<std::string> jobs_left_out(const RunResult& run, std::span<const Metric> registry);
/// "ALL WELL: 4 GPUs passed" or "Of 4 GPUs: 1 FAILED, ...", with the jobs that no GPU ran: ". Not
/// looked at: tlb, topology and 3 more".
std::string verdict_line(const RunResult& run, const FleetAnalysis& analysis);
/// What GPUs with too few peers are compared with. Empty if all have peers.
std::vector<std::string> scope_lines(const RunResult& run, const FleetAnalysis& analysis);

/// Verdict, node, rank, GPU, likely cause and reason of each device, worst first; of a sweep the
/// setting, too.
TextTable device_table(const RunResult& run, const FleetAnalysis& analysis);
/// Numbers of one group: metric, unit, n, median, MAD, min, max, CV, furthest out.
TextTable metric_table(const RunResult& run, const FleetAnalysis& analysis, std::size_t group);
/// Structure of one group: metric, value, how many agree.
TextTable structure_table(const FleetAnalysis& analysis, std::size_t group);
/// Findings without an answer and jobs that did not end well: job, metric, status, devices, reason.
TextTable gap_table(const RunResult& run, const FleetAnalysis& analysis);
/// Findings of one device and job: metric, value, deviation (of the values of replicates if there
/// are several, else of the samples), their number, confidence, remark.
TextTable finding_table(const JobResult& job, std::span<const Metric> registry);
/// Jobs in running order: wall time, and the share of it in which the GPU was at work on probes;
/// medians over the devices.
TextTable time_table(const RunResult& run);

/// One thing that is wrong: a device with all its findings, or a node or group finding.
struct Problem {
  struct Line {
    std::string_view label;  // "what" (its cause or worst finding), "shown", "likely" (the
                             // fault), "certainty", "also"
    std::string text;
  };
  std::string badge;                       // "FAIL", "WARN", "LOST", "INCOMPLETE", "NOTE"
  std::string where;                       // node, rank, UUID, setting; or node; or group
  std::vector<Line> lines;                 // none is empty
  std::vector<std::string> actions;        // what to do, most useful first
  std::optional<std::size_t> device = {};  // into RunResult::devices, if it is about one
  std::string metric = "";                 // of its worst finding, if that rests on one
};

/// Everything that is wrong, worst first: lost, failed and incomplete devices, nodes, warnings.
/// What a GPU shows at several settings of a sweep for the same cause is one problem.
std::vector<Problem> problems(const RunResult& run, const FleetAnalysis& analysis);
/// Findings of no weight, one line each.
std::vector<std::string> notes(const RunResult& run, const FleetAnalysis& analysis);

/// What GPUs of a node are to each other: a row for each GPU that measured, a column for each GPU
/// that was asked, both by rank.
struct PeerMatrix {
  std::string title;  // "node03: peer.read_bytes_per_s, GB/s (nvlink)"
  TextTable table;
};

/// Those of the job `peer`, node by node; of many nodes those with a slow link first, and only so
/// many. Empty for a run that measured no peers.
std::vector<PeerMatrix> peer_matrices(const RunResult& run, std::span<const Metric> registry);

/// A column of a finding in JSON and CSV.
struct FindingCell {
  std::string_view column;
  Value value;
};
/// Value, unit, status, confidence, ..., reason. The metric stands before them.
std::array<FindingCell, 11> cells_of(const Finding& finding, std::string_view unit);

/// "structural", "continuous", ...
std::string_view to_text(MetricKind kind);
/// "lower", "higher"; "" where neither is better.
std::string_view to_text(Better better);
/// "" if the registry does not know the metric.
std::string unit_of(std::span<const Metric> registry, std::string_view metric);
/// Four digits in that unit; "-" if it is not finite.
std::string number_text(double value, const DisplayUnit& display);
/// The device's place, in a sweep with the setting: "node03 rank 2, memory-percent=50".
std::string place_of(const RunResult& run, const DeviceResult& device);

}  // namespace sonde
