// Findings of a device as tables, with the probes that they come from.
#include "analysis/fleet/value_text.hpp"
#include "analysis/report/charts/charts.hpp"
#include "analysis/report/content.hpp"
#include "analysis/report/page/sections.hpp"
#include "base/escape.hpp"
#include "base/units.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace sonde {
namespace {

constexpr std::size_t most_detailed_devices = 16;
constexpr std::size_t shortest_folded_list = 4;
constexpr std::size_t most_listed_values = 64;

/// "32.1, 33, 40 cycle": a common unit is written once.
std::string listed(std::vector<std::string> texts) {
  const auto unit_of = [](const std::string& text) {
    return text.substr(std::min(text.size(), text.find(' ')));
  };
  const std::string unit = unit_of(texts.back());
  const bool is_common = std::ranges::all_of(
      texts, [&](const std::string& text) { return text == "-" || unit_of(text) == unit; });
  for (std::size_t i = 0; is_common && i + 1 < texts.size(); ++i) {
    if (texts[i] != "-") texts[i].resize(texts[i].size() - unit.size());
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::string list_html(const std::vector<double>& values, const std::string& unit) {
  const std::vector<double> known = known_values(values);
  const auto [least, most] = std::ranges::minmax(known);
  const std::string low = format_quantity(least, unit);
  const std::string high = format_quantity(most, unit);
  const std::string summary = low == high
                                  ? fmt::format("{} values, all {}", values.size(), low)
                                  : fmt::format("{} values, {} to {}", values.size(), low, high);
  if (values.size() > most_listed_values) return escape_markup(summary);
  std::vector<std::string> texts;
  for (const double value : values) {
    texts.push_back(std::isfinite(value) ? format_quantity(value, unit) : "-");
  }
  return fmt::format("<details class=\"long\"><summary>{}</summary>{}</details>",
                     escape_markup(summary), escape_markup(listed(std::move(texts))));
}

std::string value_html(const Finding& finding, const std::string& unit, const std::string& text) {
  const std::vector<double>* values = vector_of(finding);
  const bool is_long =
      values != nullptr && values->size() >= shortest_folded_list && !known_values(*values).empty();
  return is_long ? list_html(*values, unit) : folded_html(text);
}

/// The id of this finding.
std::string finding_anchor(std::size_t device, std::string_view metric) {
  return fmt::format("f{}-{}", device, metric);
}

bool has_findings(const RunResult& run, const FleetAnalysis& analysis, std::size_t device) {
  return run.devices.size() <= most_detailed_devices || is_flagged(analysis.verdicts[device]);
}

/// Number of probes of a job, and their rows in the file.
std::string evidence_html(const JobResult& job) {
  if (job.probes.empty()) return "";
  return fmt::format(
      "<p class=\"evidence\">Evidence: {} {}, rows {} to {} of <code>/probes</code></p>\n",
      job.probes.size(), job.probes.size() == 1 ? "probe" : "probes", job.first_probe,
      job.first_probe + job.probes.size() - 1);
}

/// "cache.l1: 31 findings, 7 not resolvable": the summary of a folded job.
std::string job_summary(const JobResult& job) {
  std::size_t unresolved = 0;
  for (const Finding& finding : job.findings) {
    unresolved += finding.status == Status::not_resolvable ? 1U : 0U;
  }
  std::string text = fmt::format("<b>{}</b> {} {}", escape_markup(job.job), job.findings.size(),
                                 job.findings.size() == 1 ? "finding" : "findings");
  if (unresolved > 0) text += fmt::format(", {} not resolvable", unresolved);
  if (job.status != Status::ok) text += fmt::format(", {}", to_text(job.status));
  return text;
}

std::string job_html(const FleetAnalysis& analysis, std::size_t device, const JobResult& job) {
  const TextTable table = finding_table(job, analysis.registry);
  const auto finding_of = [&](std::size_t row) {
    return find_finding(job.findings, table.rows[row][0]);
  };
  const auto id_of = [&](std::size_t row) {
    return finding_of(row) == nullptr ? "" : finding_anchor(device, table.rows[row][0]);
  };
  const auto cell_of = [&](std::size_t row, std::size_t column) {
    const Finding* finding = column == 1 ? finding_of(row) : nullptr;
    if (finding == nullptr) return std::string();
    return value_html(*finding, unit_of(analysis.registry, finding->metric), table.rows[row][1]);
  };
  return fmt::format(
      "<details class=\"job\" data-job=\"{}\"><summary>{}</summary>\n{}{}</details>\n",
      escape_markup(job.job), job_summary(job),
      html_table(table, "findings cards", {id_of, cell_of}), evidence_html(job));
}

/// True if a finding of the job has a warning, or if the job failed.
bool has_problem(const FleetAnalysis& analysis, std::size_t device, const JobResult& job) {
  const auto is_blamed = [&](std::size_t i) {
    const Charge& finding = analysis.charges[i];
    return finding.weighs() && find_finding(job.findings, finding.base_metric()) != nullptr;
  };
  return is_missing(job.status) ||
         std::ranges::any_of(analysis.verdicts[device].charges, is_blamed);
}

std::string device_html(const RunResult& run, const FleetAnalysis& analysis, std::size_t index) {
  const DeviceResult& device = run.devices[index];
  const bool shows_all = run.devices.size() <= most_detailed_devices;
  std::string text =
      fmt::format("<details class=\"device\" data-device=\"{1}\"{0}><summary>{2} {1}</summary>\n",
                  run.devices.size() == 1 ? " open" : "", escape_markup(chart_label(run, device)),
                  shows_all ? "All findings of" : "Jobs in which something is wrong with");
  for (const JobResult& job : device.jobs) {
    if (!job.findings.empty() && (shows_all || has_problem(analysis, index, job))) {
      text += job_html(analysis, index, job);
    }
  }
  return text + "</details>\n";
}

}  // namespace

std::string finding_link(const RunResult& run, const FleetAnalysis& analysis, std::size_t device,
                         std::string_view metric) {
  const bool is_there =
      has_findings(run, analysis, device) && find_finding(run.devices[device], metric) != nullptr;
  return is_there ? "#" + finding_anchor(device, metric) : "";
}

std::string findings_section(const RunResult& run, const FleetAnalysis& analysis) {
  std::string text;
  for (std::size_t i = 0; i < run.devices.size(); ++i) {
    if (has_findings(run, analysis, i)) text += device_html(run, analysis, i);
  }
  if (text.empty()) return "";
  return "<h2>Findings</h2>\n<div class=\"filterable\" data-table=\"findings\" "
         "data-rows=\"findings\" data-choice=\"job\" data-group=\"device\" "
         "data-orders=\"metric n confidence remark\" data-hint=\"metric, value, remark\">\n" +
         text + "</div>\n";
}

}  // namespace sonde
