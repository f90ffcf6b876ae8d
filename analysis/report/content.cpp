// Headline and tables of the reports.
#include "analysis/report/content.hpp"

#include "analysis/fleet/value_text.hpp"
#include "analysis/metric_kind_names.hpp"
#include "analysis/statistics.hpp"
#include "base/units.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <set>

namespace sonde {
namespace {

constexpr EnumName<Better> better_names[] = {
    {Better::neither, ""}, {Better::lower, "lower"}, {Better::higher, "higher"}};

constexpr std::size_t most_named_groups = 4;
constexpr std::size_t most_named_jobs = 6;       // on a line of 100 columns
constexpr double least_shown_fraction = 0.0005;  // smaller ones would read "0.0 %"

std::string furthest_text(const RunResult& run, const MetricStatistics& statistics) {
  if (statistics.n < 2 || statistics.furthest.empty()) return "";
  const Standing& furthest = statistics.furthest.front();
  if (std::abs(furthest.deviation_fraction) < least_shown_fraction) return "";
  const std::string deviation = std::isfinite(furthest.deviation_fraction)
                                    ? signed_percent_text(furthest.deviation_fraction)
                                    : fmt::format("{:+.4g}", furthest.value - statistics.median);
  return fmt::format("{} {}", place_of(run.devices[furthest.device]), deviation);
}

/// Everything without an answer for the same reason is one line.
std::string name_some(const std::vector<std::string>& metrics) { return join_some(metrics, 1); }

std::string status_of(const Finding& finding) {
  if (finding.status == Status::ok) return finding.reason;
  const bool has_value = !std::holds_alternative<std::monostate>(finding.value);
  const std::string status = has_value ? std::string(to_text(finding.status)) : "";
  if (finding.reason.empty()) return status;
  return status.empty() ? finding.reason : status + ": " + finding.reason;
}

/// Modes, interval and status of a finding, as far as it has them.
std::string remark_of(const Finding& finding, const std::string& unit) {
  std::vector<std::string> parts;
  if (finding.modes.size() > 1) {
    std::vector<std::string> modes;
    for (const double mode : finding.modes) modes.push_back(format_quantity(mode, unit));
    parts.push_back(fmt::format("modes {}", fmt::join(modes, " and ")));
  }
  if (finding.interval) {
    parts.push_back(fmt::format("gradual loss from {} to {}",
                                format_quantity(finding.interval->low, unit),
                                format_quantity(finding.interval->high, unit)));
  }
  parts.push_back(status_of(finding));
  if (parts.back().empty()) parts.pop_back();
  return fmt::format("{}", fmt::join(parts, "; "));
}

std::string few_peers_line(const ComparisonGroup& group) {
  const std::string before =
      group.reference == nullptr
          ? "no reference values of this model, memory and settings either: judged by its health "
            "and its own SMs"
          : fmt::format("compared with reference values from {} GPUs of this model",
                        group.reference->gpus);
  return fmt::format(
      "{}: {}, {}", group.label,
      group.devices.size() == 1 ? "no peers in this run" : "two GPUs are too few for a group",
      before);
}

}  // namespace

std::string_view to_text(MetricKind kind) { return name_of(metric_kind_names, kind); }
std::string_view to_text(Better better) { return name_of(better_names, better); }

std::array<FindingCell, 11> cells_of(const Finding& finding, std::string_view unit) {
  Value interval;
  if (finding.interval) interval = std::vector{finding.interval->low, finding.interval->high};
  return {{{"value", finding.value},
           {"unit", std::string(unit)},
           {"status", std::string(to_text(finding.status))},
           {"confidence", finding.confidence},
           {"samples", static_cast<double>(finding.samples)},
           {"repeatability", finding.repeatability},
           {"reproducibility", finding.reproducibility},
           {"replicates", static_cast<double>(finding.replicates)},
           {"modes", finding.modes},
           {"interval", std::move(interval)},
           {"reason", finding.reason}}};
}

std::string number_text(double value, const DisplayUnit& display) {
  return std::isfinite(value) ? fmt::format("{:.4g}", value / display.divisor) : "-";
}

std::string place_of(const RunResult& run, const DeviceResult& device) {
  const std::string setting = describe_setting(run.provenance, device.point_index);
  return place_of(device) + (setting.empty() ? "" : ", " + setting);
}

std::string origin_line(const RunResult& run) {
  const Provenance& from = run.provenance;
  std::string text = "sonde " + from.sonde_version;
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) text += fmt::format(", {}{}", name, value);
  };
  add("", from.started_utc);
  add("Slurm job ", from.slurm_job_id);
  add("seed ", std::to_string(from.seed));
  return text;
}

std::vector<std::string_view> jobs_of(std::span<const Metric> registry) {
  std::vector<std::string_view> jobs;
  for (const Metric& metric : registry) {
    if (std::ranges::find(jobs, metric.job) == jobs.end()) jobs.push_back(metric.job);
  }
  return jobs;
}

std::vector<std::string> jobs_left_out(const RunResult& run, std::span<const Metric> registry) {
  std::set<std::string_view> seen;
  for (const DeviceResult& device : run.devices) {
    for (const JobResult& job : device.jobs) seen.insert(job.job);
  }
  std::vector<std::string> left_out;
  for (const std::string_view job : jobs_of(registry)) {
    if (!seen.contains(job)) left_out.emplace_back(job);
  }
  return left_out;
}

std::vector<std::string> scope_lines(const RunResult& run, const FleetAnalysis& analysis) {
  std::vector<std::string> lines;
  if (run.provenance.axes.empty()) {  // a sweep has a group for each setting
    for (const ComparisonGroup& group : analysis.groups) {
      if (group.devices.size() < least_group) lines.push_back(few_peers_line(group));
    }
  }
  if (lines.size() > most_named_groups) {
    lines = {fmt::format("{} groups have too few GPUs to be compared", lines.size())};
  }
  return lines;
}

std::string verdict_line(const RunResult& run, const FleetAnalysis& analysis) {
  const FleetCounts& counts = analysis.counts;
  const std::size_t absent = counts.expected > counts.seen ? counts.expected - counts.seen : 0;
  std::vector<std::string> bad;
  const auto add = [&](std::size_t count, const char* what) {
    if (count > 0) bad.push_back(fmt::format("{} {}", count, what));
  };
  add(counts.failed, "FAILED");
  add(counts.lost, "LOST");
  add(absent, "MISSING");
  add(counts.incomplete, "INCOMPLETE");
  add(counts.warned, "with a WARNING");
  add(run.unaudited.size(), "NOT MEASURED");
  add(counts.missing, counts.missing == 1 ? "RESULT MISSING" : "RESULTS MISSING");
  const std::size_t all = std::max(counts.expected, counts.seen);
  const auto gpus = [](std::size_t n) { return fmt::format("{} {}", n, n == 1 ? "GPU" : "GPUs"); };
  const std::string verdict = bad.empty()
                                  ? fmt::format("ALL WELL: {} passed", gpus(counts.passed))
                                  : fmt::format("Of {}: {}", gpus(all), fmt::join(bad, ", "));
  const std::vector<std::string> left_out = jobs_left_out(run, analysis.registry);
  if (left_out.empty()) return verdict;
  return fmt::format("{}. Not measured: {}", verdict, join_some(left_out, most_named_jobs));
}

TextTable device_table(const RunResult& run, const FleetAnalysis& analysis) {
  const bool is_sweep = !run.provenance.axes.empty();
  TextTable table{{{"verdict"}, {"node"}, {"rank", Align::right}, {"GPU"}}, {}};
  if (is_sweep) table.columns.push_back({"setting"});
  table.columns.insert(table.columns.end(), {{"likely"}, {"reason"}});
  std::vector<std::size_t> order(run.devices.size());
  std::iota(order.begin(), order.end(), 0);
  const auto verdict_of = [&](std::size_t device) { return analysis.verdicts[device].verdict; };
  std::ranges::stable_sort(order, std::greater{}, verdict_of);
  for (const std::size_t i : order) {
    const DeviceResult& device = run.devices[i];
    const DeviceVerdict& verdict = analysis.verdicts[i];
    std::vector<std::string> cells{std::string(to_text(verdict.verdict)), device.node,
                                   std::to_string(device.rank), device.info.uuid};
    if (is_sweep) cells.push_back(describe_setting(run.provenance, device.point_index));
    cells.emplace_back(verdict.likely == Trouble::unknown ? "" : to_text(verdict.likely));
    cells.push_back(verdict.reason);
    table.rows.push_back(std::move(cells));
  }
  return table;
}

TextTable metric_table(const RunResult& run, const FleetAnalysis& analysis, std::size_t group) {
  TextTable table{{{"metric"}, {"unit"}}, {}};
  for (const char* title : {"n", "median", "MAD", "min", "max", "CV %"}) {
    table.columns.push_back({title, Align::right});
  }
  table.columns.push_back({"furthest out", Align::left});
  for (const MetricStatistics& row : analysis.statistics) {
    if (row.group != group || is_structure(row.kind)) continue;
    const DisplayUnit display = display_unit(row.median, row.unit);
    std::vector<std::string> cells{title_of(row), display.text, std::to_string(row.n)};
    for (const double value : {row.median, row.mad, row.min, row.max}) {
      cells.push_back(number_text(value, display));
    }
    const bool of_fractions = row.unit == "1" && !row.summary.empty();  // their CV means little
    cells.push_back(std::isfinite(row.cv) && row.n > 1 && !of_fractions
                        ? fmt::format("{:.2f}", 100 * row.cv)
                        : "-");
    cells.push_back(furthest_text(run, row));
    table.rows.push_back(std::move(cells));
  }
  return table;
}

TextTable structure_table(const FleetAnalysis& analysis, std::size_t group) {
  TextTable table{{{"structure"}, {"value"}, {"agree", Align::right}}, {}};
  for (const MetricStatistics& row : analysis.statistics) {
    if (row.group != group || !is_structure(row.kind)) continue;
    table.rows.push_back({row.metric, row.ambiguous ? "ambiguous" : row.consensus,
                          fmt::format("{}/{}", row.agreeing, row.n)});
  }
  return table;
}

TextTable gap_table(const RunResult& run, const FleetAnalysis& analysis) {
  TextTable table{{{"job"}, {"metric"}, {"status"}, {"GPUs", Align::right}, {"reason"}}, {}};
  for (const Gap& gap : analysis.gaps) {
    std::set<std::string_view> uuids;  // a GPU may occur at several points
    for (const std::size_t device : gap.devices) uuids.insert(run.devices[device].info.uuid);
    table.rows.push_back(
        {gap.job, name_some(gap.metrics), gap.status, std::to_string(uuids.size()), gap.reason});
  }
  return table;
}

TextTable finding_table(const JobResult& job, std::span<const Metric> registry) {
  TextTable table{{{"metric"},
                   {"value"},
                   {"+-"},
                   {"n", Align::right},
                   {"confidence", Align::right},
                   {"remark"}},
                  {}};
  std::map<std::pair<Status, std::string>, std::vector<std::string>> gaps;  // metrics by reason
  for (const Finding& finding : job.findings) {
    if (finding.status != Status::ok)
      gaps[{finding.status, finding.reason}].push_back(finding.metric);
  }
  for (const Finding& finding : job.findings) {
    const auto gap = gaps.find({finding.status, finding.reason});
    if (gap != gaps.end() && gap->second.size() > 1) continue;
    const std::string unit = unit_of(registry, finding.metric);
    const bool replicated = finding.replicates > 1;
    const double deviation =
        replicated && finding.reproducibility > 0 ? finding.reproducibility : finding.repeatability;
    const std::uint64_t n = replicated ? finding.replicates : finding.samples;
    table.rows.push_back(
        {finding.metric, value_text(finding, unit),
         deviation > 0 ? format_quantity(deviation, unit) : "", n > 0 ? std::to_string(n) : "",
         finding.status == Status::ok ? fmt::format("{:.2f}", finding.confidence) : "",
         remark_of(finding, unit)});
  }
  for (const auto& [gap, metrics] : gaps) {
    if (metrics.size() == 1) continue;
    table.rows.push_back(
        {name_some(metrics), std::string(to_text(gap.first)), "", "", "", gap.second});
  }
  return table;
}

TextTable time_table(const RunResult& run) {
  std::vector<std::string> names;  // in running order
  std::map<std::string, std::pair<std::vector<double>, std::vector<double>>> times;
  for (const DeviceResult& device : run.devices) {
    for (const JobResult& job : device.jobs) {
      if (!(job.elapsed_s > 0)) continue;
      auto& [elapsed_s, device_s] = times[job.job];
      if (elapsed_s.empty()) names.push_back(job.job);
      elapsed_s.push_back(job.elapsed_s);
      device_s.push_back(job.device_s);
    }
  }
  TextTable table{{{"job"}, {"s", Align::right}, {"GPU at work", Align::right}}, {}};
  const auto add_row = [&table](const std::string& name, double elapsed_s, double device_s) {
    const std::string part = fmt::format("{:.0f} %", 100 * std::min(1.0, device_s / elapsed_s));
    table.rows.push_back({name, fmt::format("{:.2f}", elapsed_s), part});
  };
  double all_elapsed_s = 0;
  double all_device_s = 0;
  for (const std::string& name : names) {
    const double elapsed_s = median(times[name].first);
    const double device_s = median(times[name].second);
    all_elapsed_s += elapsed_s;
    all_device_s += device_s;
    add_row(name, elapsed_s, device_s);
  }
  if (names.size() > 1) add_row("all", all_elapsed_s, all_device_s);
  return table;
}

}  // namespace sonde
