// The report as plain text for a log, a pipe or a terminal.
#include "analysis/fleet/value_text.hpp"
#include "analysis/report/content.hpp"
#include "analysis/report/report.hpp"
#include "analysis/report/sweep_answer.hpp"
#include "base/escape.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <utility>

namespace sonde {
namespace {

constexpr std::size_t text_width = 100;  // of sentences
constexpr std::size_t reason_width = 72;
constexpr std::size_t most_listed_devices = 8;  // a node
constexpr std::size_t label_width = 10;         // of the lines of a problem
// Of a summary; the rest stands in the report and the exports.
constexpr std::size_t most_actions = 2;
constexpr std::size_t most_groups = 2;

std::string paint(Colour colour, const char* code, std::string_view text) {
  return colour == Colour::on ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : std::string(text);
}

const char* badge_code(std::string_view badge) {
  return badge == "FAIL" || badge == "LOST" ? "1;31" : "1;33";
}

std::string title(Colour colour, std::string_view text) {
  return "\n" + paint(colour, "1", escape_terminal(text)) + "\n";
}

std::string line(std::string_view indent, std::string_view text) {
  return fmt::format("{}{}\n", indent, escape_terminal(text));
}

/// "  label:   text"; further lines are aligned under the text.
std::string entry(std::string_view label, std::string_view text) {
  constexpr std::size_t indent = 6;
  std::string lines;
  for (const std::string& part : wrap_text(text, text_width - indent - label_width)) {
    lines +=
        line(fmt::format("{:{}}{:<{}}", "", indent, lines.empty() ? label : "", label_width), part);
  }
  return lines;
}

std::string problem_text(const Problem& problem, Colour colour, Detail detail) {
  std::string text =
      line(paint(colour, badge_code(problem.badge), problem.badge) + "  ", problem.where);
  for (const Problem::Line& one : problem.lines) {
    if (detail == Detail::values || one.label != "ground") text += entry(one.label, one.text);
  }
  const std::size_t shown = detail == Detail::values
                                ? problem.actions.size()
                                : std::min(problem.actions.size(), most_actions);
  for (std::size_t i = 0; i < shown; ++i) {
    // Not wrapped: a command is pasted whole.
    text += line(fmt::format("      {:<{}}", i == 0 ? "do" : "", label_width), problem.actions[i]);
  }
  return text;
}

/// At most `most` bytes, without cutting a character.
std::string first_bytes(std::string_view text, std::size_t most) {
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xc0) == 0x80) --most;
  return std::string(text.substr(0, most));
}

std::string devices_text(const RunResult& run, const FleetAnalysis& analysis, std::size_t width) {
  TextTable table = device_table(run, analysis);
  std::size_t left_out = 0;
  if (table.rows.size() > most_listed_devices || !run.provenance.axes.empty()) {
    left_out = std::erase_if(table.rows, [](const auto& row) { return row.front() == "pass"; });
  }
  for (auto& row : table.rows) {
    if (row.back().size() > reason_width) {
      row.back() =
          first_bytes(row.back(), reason_width - 3) + "...";  // the full reason stands above
    }
  }
  std::string text = table.rows.empty() ? "" : plain_table(table, "  ", width);
  if (left_out > 0)
    text += fmt::format("  and {} that pass{}\n", left_out,
                        run.provenance.axes.empty() ? "" : " (each at a setting)");
  return text;
}

/// Blocks of metrics of a model, as many side by side as fit into a line of a log.
std::string swept_metrics_text(const SweepAnswer& answer, const SweptModel& model,
                               std::size_t most_metrics) {
  constexpr std::size_t log_width = 110;
  std::string text;
  for (std::size_t first = 0; first < most_metrics;) {
    std::string block = plain_table(sweep_table(answer, model, first, 1), "  ");
    std::size_t count = 1;
    for (; first + count < most_metrics; ++count) {
      std::string wider = plain_table(sweep_table(answer, model, first, count + 1), "  ");
      if (wider.find('\n') > log_width) break;
      block = std::move(wider);
    }
    text += (first > 0 ? "\n" : "") + block;
    first += count;
  }
  return text;
}

std::string sweep_text(const RunResult& run, const FleetAnalysis& analysis, Colour colour) {
  constexpr std::size_t most_steady = 6;
  const SweepAnswer answer = answer_sweep(run, analysis);
  std::string text;
  for (const SweptModel& model : answer.models) {
    text += title(colour, "OVER THE SWEEP: " + heading_of(answer, model));
    const std::size_t shown = std::min(model.metrics.size(), most_swept_metrics);
    text += swept_metrics_text(answer, model, shown);
    if (const std::size_t more = model.metrics.size() - shown; more > 0)
      text += fmt::format("  and {} metrics that change less\n", more);
    if (model.steady.empty()) continue;
    const std::string all = "the same at all settings: " + join_some(model.steady, most_steady);
    for (const std::string& part : wrap_text(all, text_width)) text += line("  ", part);
  }
  return text;
}

/// The job, its status if it failed, and its reason.
std::string heading_of(const JobResult& job) {
  std::string text = job.job;
  if (job.status != Status::ok) text += fmt::format(": {}", to_text(job.status));
  if (!job.reason.empty()) text += fmt::format("{} {}", text == job.job ? ":" : ",", job.reason);
  return text;
}

std::string single_device(const RunResult& run, const FleetAnalysis& analysis, Colour colour,
                          std::size_t width) {
  const DeviceResult& device = run.devices.front();
  std::string text = title(colour, fmt::format("{}  {}  ({})", device.info.name, device.info.uuid,
                                               place_of(run, device)));
  for (const JobResult& job : device.jobs) {
    text += title(colour, heading_of(job));
    if (!job.findings.empty())
      text += plain_table(finding_table(job, analysis.registry), "  ", width);
  }
  return text;
}

std::string fleet_tables(const RunResult& run, const FleetAnalysis& analysis, Colour colour,
                         std::size_t width) {
  std::string text;
  for (std::size_t group = 0; group < analysis.groups.size(); ++group) {
    const std::size_t n = analysis.groups[group].devices.size();
    text += title(colour, fmt::format("METRICS of {} (n={}{})", analysis.groups[group].label, n,
                                      n == 1 ? ", no peers" : ""));
    const TextTable metrics = metric_table(run, analysis, group);
    const TextTable structure = structure_table(analysis, group);
    if (!metrics.rows.empty()) text += plain_table(metrics, "  ", width);
    if (!structure.rows.empty()) text += "\n" + plain_table(structure, "  ", width);
  }
  const TextTable gaps = gap_table(run, analysis);
  if (!gaps.rows.empty()) text += title(colour, "NOT ANSWERED") + plain_table(gaps, "  ", width);
  return text;
}

std::string paste_text(const RunResult& run, const FleetAnalysis& analysis, Colour colour) {
  std::string text;
  for (const std::string& command : commands_to_paste(run, analysis)) text += line("  ", command);
  return text.empty() ? "" : title(colour, "TO PASTE (nothing of this was run)") + text;
}

std::string problems_text(const std::vector<Problem>& wrong, Colour colour, Detail detail) {
  std::string text = wrong.empty() ? "" : title(colour, "WHAT IS WRONG");
  for (const Problem& problem : wrong) text += problem_text(problem, colour, detail);
  return text;
}

std::string notes_text(const std::vector<std::string>& remarks, Colour colour, std::size_t width) {
  std::string text = remarks.empty() ? "" : title(colour, "NOTES (no verdict)");
  const std::size_t note_width = width > 6 ? width - 6 : std::numeric_limits<std::size_t>::max();
  for (const std::string& remark : remarks) {
    const std::vector<std::string> lines = wrap_text(remark, note_width);
    for (const std::string& part : lines) text += line(&part == &lines[0] ? "  " : "      ", part);
  }
  return text;
}

/// Key numbers of the largest groups and, where nothing is wrong, their structure.
std::string groups_text(const RunResult& run, const FleetAnalysis& analysis, bool with_structure,
                        Colour colour) {
  std::vector<ComparisonGroup> groups = analysis.groups;
  std::ranges::stable_sort(groups, std::ranges::greater{},
                           [](const ComparisonGroup& group) { return group.devices.size(); });
  std::string text;
  for (std::size_t i = 0; i < std::min(groups.size(), most_groups); ++i) {
    const ComparisonGroup& group = groups[i];
    const std::size_t n = group.devices.size();
    const TextTable numbers = key_number_table(run, group);
    if (!numbers.rows.empty()) {
      text +=
          title(colour, n == 1 ? "KEY NUMBERS: " + group.label
                               : fmt::format("KEY NUMBERS: {}, median of {} GPUs", group.label, n));
      text += plain_table(numbers, "  ");
    }
    if (!with_structure) continue;
    const TextTable structure = structure_summary(run, group);
    if (!structure.rows.empty()) text += title(colour, "STRUCTURE") + plain_table(structure, "  ");
  }
  if (groups.size() > most_groups)
    text += fmt::format("and {} smaller groups of GPUs\n", groups.size() - most_groups);
  return text;
}

std::string all_values_text(const RunResult& run, const FleetAnalysis& analysis, Colour colour,
                            std::size_t width) {
  std::string text;
  if (run.devices.size() > 1) text += title(colour, "DEVICES") + devices_text(run, analysis, width);
  if (run.devices.size() == 1) text += single_device(run, analysis, colour, width);
  if (run.devices.size() > 1) text += fleet_tables(run, analysis, colour, width);
  const std::vector<PeerMatrix> matrices = peer_matrices(run, analysis.registry);
  if (!matrices.empty()) text += title(colour, "GPU TO GPU");
  for (const PeerMatrix& matrix : matrices) {
    if (&matrix != &matrices.front()) text += "\n";
    text += line("  ", matrix.title) + plain_table(matrix.table, "    ");
  }
  const TextTable times = time_table(run);
  if (!times.rows.empty()) {
    text += title(colour, run.devices.size() > 1 ? "TIME (median of the devices)" : "TIME") +
            plain_table(times, "  ");
  }
  return text + notes_text(notes(run, analysis), colour, width);
}

}  // namespace

std::string render_terminal(const RunResult& run, const FleetAnalysis& analysis, Colour colour,
                            std::size_t width, Detail detail) {
  const bool well = analysis.counts.passed == analysis.counts.seen && run.unaudited.empty() &&
                    analysis.counts.expected <= analysis.counts.seen;
  std::string text = paint(colour, well ? "1;32" : "1;31", verdict_line(run, analysis)) + "\n" +
                     line("", origin_line(run));
  for (const std::string& scope : scope_lines(run, analysis)) text += line("", scope);
  const std::vector<Problem> wrong = problems(run, analysis);
  text += problems_text(wrong, colour, detail) + paste_text(run, analysis, colour) +
          sweep_text(run, analysis, colour);
  const bool is_sweep = !run.provenance.axes.empty();  // its answer stands above
  if (detail == Detail::values) text += all_values_text(run, analysis, colour, width);
  if (detail == Detail::summary && !is_sweep)
    text += groups_text(run, analysis, wrong.empty(), colour);
  return text;
}

}  // namespace sonde
