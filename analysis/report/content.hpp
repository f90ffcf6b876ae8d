// What every report for people says, before it is dressed as text, Markdown or HTML.
#pragma once

#include "analysis/report/report.hpp"
#include "analysis/report/table.hpp"

namespace sonde {

/// One thing that is wrong: a device with all its findings, or a node or group finding.
struct Problem {
  struct Line {
    std::string_view label;  // "what" (the worst finding), "likely" (the fault), "sure", "also"
    std::string text;
  };
  std::string badge;                 // "FAIL", "WARN", "LOST", "INCOMPLETE", "NOTE"
  std::string where;                 // node, rank, UUID; or node; or group
  std::vector<Line> lines;           // none is empty
  std::vector<std::string> actions;  // what to do, most useful first
};

/// "sonde 0.1.0, 2025-11-21T02:14:07Z, Slurm job 4711, seed 1, config 3f9ab2c1".
std::string origin_line(const RunResult& run);
/// "1 of 4 GPUs FAILED: 3 pass, ..." with expected, seen, audited and flagged.
std::string headline(const RunResult& run, const FleetAnalysis& analysis);

/// Everything that is wrong, worst first: lost, failed and incomplete devices, nodes, warnings.
std::vector<Problem> problems(const RunResult& run, const FleetAnalysis& analysis);
/// Findings of no weight, one line each.
std::vector<std::string> notes(const RunResult& run, const FleetAnalysis& analysis);

Table device_table(const RunResult& run, const FleetAnalysis& analysis);
/// Numbers of one group: metric, unit, n, median, MAD, min, max, CV, furthest out.
Table metric_table(const RunResult& run, const FleetAnalysis& analysis, std::size_t group);
/// Structure of one group: metric, value, how many agree.
Table structure_table(const RunResult& run, const FleetAnalysis& analysis, std::size_t group);
/// Findings without an answer and jobs that did not end well: job, metric, status, devices, reason.
Table gap_table(const RunResult& run);
/// Findings of one device and job: metric, value, spread, samples, confidence, remark.
Table finding_table(const JobResult& job, std::span<const Metric> registry);

/// "structural", "continuous", ...
std::string_view to_text(MetricKind kind);
/// "lower", "higher"; "" where neither is better.
std::string_view to_text(Better better);
/// "" if the registry does not know the metric.
std::string unit_of(std::span<const Metric> registry, std::string_view metric);
/// "node03 rank 2".
std::string place_of(const DeviceResult& device);

}  // namespace sonde
