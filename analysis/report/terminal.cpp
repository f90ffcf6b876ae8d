// The report as plain text for a log, a pipe or a terminal.
#include "analysis/fleet/value_text.hpp"
#include "analysis/report/content.hpp"
#include "analysis/report/drawing/consensus.hpp"
#include "analysis/report/report.hpp"
#include "analysis/report/sweep_answer.hpp"
#include "base/escape.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace sonde {
namespace {

constexpr std::size_t text_width = 100;  // of sentences
constexpr std::size_t reason_width = 72;
constexpr std::size_t most_listed_devices = 8;  // the GPUs of a node
constexpr double sure = 0.95;                   // confidence is shown only below this

std::string paint(Colour colour, const char* code, std::string_view text) {
  return colour == Colour::on ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : std::string(text);
}

const char* badge_code(std::string_view badge) {
  if (badge == "FAIL" || badge == "LOST") return "1;31";
  return badge == "PASS" ? "1;32" : "1;33";
}

std::string title(Colour colour, std::string_view text) {
  return "\n" + paint(colour, "1", escape_terminal(text)) + "\n";
}

std::string line(std::string_view indent, std::string_view text) {
  return fmt::format("{}{}\n", indent, escape_terminal(text));
}

/// "  label:   text"; further lines are aligned under the text.
std::string entry(std::string_view label, std::string_view text) {
  std::string lines;
  for (const std::string& part : wrap_text(text, text_width - 14)) {
    lines += line(fmt::format("      {:<8}", lines.empty() ? label : ""), part);
  }
  return lines;
}

std::string problem_text(const Problem& problem, Colour colour) {
  std::string text =
      line(paint(colour, badge_code(problem.badge), problem.badge) + "  ", problem.where);
  for (const Problem::Line& detail : problem.lines) text += entry(detail.label, detail.text);
  for (std::size_t i = 0; i < problem.actions.size(); ++i) {
    text += line(fmt::format("      {:<8}", i == 0 ? "do" : ""), problem.actions[i]);
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

std::string value_of(const DrawnFact& fact) {
  if (!fact.answered || fact.confidence >= sure) return fact.text;
  return fmt::format("{} (sure to {:.2f})", fact.text, fact.confidence);
}

void add_unit(const DrawnUnit& unit, TextTable& table) {
  std::string name = unit.name;
  std::string size = unit.size;
  if (unit.facts.empty()) table.rows.push_back({name, size, "", ""});
  for (const DrawnFact& fact : unit.facts) {
    table.rows.push_back(
        {std::exchange(name, ""), std::exchange(size, ""), fact.label, value_of(fact)});
  }
}

/// A title for each frame, outermost first, and below it a line for each fact of its units: unit
/// and size, label, value, and the confidence if it is less than `sure`.
std::string drawing_text(const DeviceDrawing& drawing, std::size_t width) {
  TextTable table{.columns = {{"unit"}, {"size"}, {"what"}, {"value"}}, .rows = {}};
  for (const DrawnFrame& frame : drawing.frames) {
    if (frame.units.empty()) continue;
    // The first part is enough; the device's frame has more in its title.
    table.rows.push_back({frame.name.substr(0, frame.name.find(',')), "", "", ""});
    for (DrawnUnit unit : frame.units) {
      unit.name = "  " + unit.name;
      add_unit(unit, table);
    }
  }
  std::string text = plain_table(table, "  ", width);
  if (!drawing.unresolved.empty()) {
    text += fmt::format("  not known whether there: {}\n", fmt::join(drawing.unresolved, ", "));
  }
  return text;
}

/// The drawing of each group, largest group first.
std::string drawings_text(const RunResult& run, const FleetAnalysis& analysis, Colour colour,
                          std::size_t width) {
  std::string text;
  for (const auto& [group, drawing] : draw_groups(run, analysis)) {
    const std::size_t n = group->devices.size();
    text += title(colour,
                  n == 1 ? group->label : fmt::format("{}: what most of {} say", group->label, n));
    text += drawing_text(drawing, width);
  }
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

}  // namespace

std::string render_terminal(const RunResult& run, const FleetAnalysis& analysis, Colour colour,
                            std::size_t width, Detail detail) {
  const bool well = analysis.counts.passed == analysis.counts.seen && run.unaudited.empty() &&
                    analysis.counts.expected <= analysis.counts.seen;
  const Headline head = headline(run, analysis);
  std::string text = fmt::format("{}\n{}\n{}", paint(colour, well ? "1;32" : "1;31", head.verdict),
                                 head.counts, line("", origin_line(run)));
  for (const std::string& scope : scope_lines(run, analysis)) text += line("", scope);
  const std::vector<Problem> wrong = problems(run, analysis);
  if (!wrong.empty()) text += title(colour, "WHAT IS WRONG");
  for (const Problem& problem : wrong) text += problem_text(problem, colour);
  text += paste_text(run, analysis, colour);
  text += sweep_text(run, analysis, colour);
  if (run.devices.size() > 1) text += title(colour, "DEVICES") + devices_text(run, analysis, width);
  const bool is_sweep = !run.provenance.axes.empty();  // the sweep's results stand above
  if (detail == Detail::summary) {
    if (!is_sweep) text += drawings_text(run, analysis, colour, width);
  } else if (run.devices.size() == 1) {
    text += single_device(run, analysis, colour, width);
  } else if (!run.devices.empty()) {
    text += fleet_tables(run, analysis, colour, width);
  }
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
  const std::vector<std::string> remarks = notes(run, analysis);
  if (!remarks.empty()) text += title(colour, "NOTES (no verdict)");
  const std::size_t note_width = width > 6 ? width - 6 : std::numeric_limits<std::size_t>::max();
  for (const std::string& remark : remarks) {
    const std::vector<std::string> lines = wrap_text(remark, note_width);
    for (const std::string& part : lines) text += line(&part == &lines[0] ? "  " : "      ", part);
  }
  return text;
}

}  // namespace sonde
