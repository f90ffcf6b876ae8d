// What every report for people says, before it is dressed as text, Markdown or HTML.
#pragma once

#include "analysis/fleet/fleet.hpp"
#include "analysis/report/table.hpp"
#include "base/units.hpp"

namespace sonde {

/// "sonde 0.1.0, 2025-11-21T02:14:07Z, Slurm job 4711, seed 1, config 3f9ab2c1".
std::string origin_line(const RunResult& run);
/// Jobs of the registry that no device ran, in its order: what this run did not look at.
std::vector<std::string> jobs_left_out(const RunResult& run, std::span<const Metric> registry);
/// How far the verdict goes: whom GPUs were held against that have too few peers, and "Not looked
/// at: tlb, topology and 3 more jobs". Empty if all have peers and each job was run.
std::vector<std::string> scope_lines(const RunResult& run, const FleetAnalysis& analysis);
/// What every report starts with.
struct Headline {
  std::string verdict;  // "Of 4 GPUs: 1 FAILED, ..."
  std::string counts;   // expected, seen, audited, ...
};
Headline headline(const RunResult& run, const FleetAnalysis& analysis);

/// Verdict, node, rank, GPU, likely cause and reason of each device, worst first; of a sweep the
/// setting, too.
TextTable device_table(const RunResult& run, const FleetAnalysis& analysis);
/// Numbers of one group: metric, unit, n, median, MAD, min, max, CV, furthest out.
TextTable metric_table(const RunResult& run, const FleetAnalysis& analysis, std::size_t group);
/// Structure of one group: metric, value, how many agree.
TextTable structure_table(const RunResult& run, const FleetAnalysis& analysis, std::size_t group);
/// Findings without an answer and jobs that did not end well: job, metric, status, devices, reason.
TextTable gap_table(const RunResult& run, const FleetAnalysis& analysis);
/// Findings of one device and job: metric, value, deviation (of the values of replicates if there
/// are several, else of the samples), their number, confidence, remark.
TextTable finding_table(const JobResult& job, std::span<const Metric> registry);
/// Jobs in running order: wall time, and the share of it in which the GPU was at work on probes;
/// medians over the devices.
TextTable time_table(const RunResult& run);

/// "structural", "continuous", ...
std::string_view to_text(MetricKind kind);
/// "lower", "higher"; "" where neither is better.
std::string_view to_text(Better better);
/// "" if the registry does not know the metric.
std::string unit_of(std::span<const Metric> registry, std::string_view metric);
/// Four digits in that unit; "-" if it is not finite.
std::string number_text(double value, const DisplayUnit& display);
/// "node03 rank 2".
std::string place_of(const DeviceResult& device);
/// In a sweep with its setting: "node03 rank 2, memory-percent=50".
std::string place_of(const RunResult& run, const DeviceResult& device);

}  // namespace sonde
