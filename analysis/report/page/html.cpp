// report.html: one page that contains a run, made from the files of page/.
#include "analysis/report/content.hpp"
#include "analysis/report/page/sections.hpp"
#include "analysis/report/report.hpp"
#include "analysis/report/sweep_answer.hpp"
#include "base/error.hpp"
#include "base/escape.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>

namespace sonde {
namespace {

constexpr std::size_t most_listed_devices = 8;  // with more devices those that pass are folded
constexpr std::size_t most_open_rows = 30;      // of a table
constexpr std::size_t most_narrow_rows = 8;     // on a phone, where each row is a card
constexpr std::size_t longest_open_text = 160;  // bytes; longer cells are folded
constexpr std::size_t shown_of_folded = 90;
// The page's script folds this on narrow screens.
constexpr std::string_view folded_if_narrow = " class=\"narrow\" open";

std::string titled(std::string_view title, const std::string& html) {
  return html.empty() ? "" : fmt::format("<h2>{}</h2>\n{}", title, html);
}

/// @param link to the finding of the problem, if it has one
std::string problem_html(const Problem& problem, const std::string& link) {
  std::string text = fmt::format("<div class=\"problem {0}\"><h3><b>{0}</b> {1}</h3>\n<dl>",
                                 escape_markup(problem.badge), escape_markup(problem.where));
  for (const Problem::Line& line : problem.lines) {
    text += fmt::format("<dt>{}</dt><dd>{}</dd>\n", line.label, escape_markup(line.text));
  }
  if (!link.empty()) {
    text += fmt::format("<dt>see</dt><dd><a href=\"{}\">its values, and their probes</a></dd>\n",
                        escape_markup(link));
  }
  for (const std::string& action : problem.actions) {
    text += fmt::format("<dt>do</dt><dd><code>{}</code></dd>\n", escape_markup(action));
  }
  return text + "</dl></div>\n";
}

std::string paste_html(const RunResult& run, const FleetAnalysis& analysis) {
  std::string text;
  for (const std::string& command : commands_to_paste(run, analysis)) {
    text += (text.empty() ? "" : "\n") + escape_markup(command);
  }
  return text.empty() ? ""
                      : "<h2>To paste (nothing of this was run)</h2>\n<pre>" + text + "</pre>\n";
}

/// Worst first; devices that pass come last, folded in a large fleet.
std::string device_tables(const RunResult& run, const FleetAnalysis& analysis) {
  TextTable table = device_table(run, analysis);
  std::string text;
  TextTable passing{table.columns, {}};
  const auto passes = [](const auto& row) { return row.front() == "pass"; };
  std::ranges::copy_if(table.rows, std::back_inserter(passing.rows), passes);
  std::erase_if(table.rows, passes);
  if (!table.rows.empty()) text += html_table(table, "devices cards");
  if (!passing.rows.empty()) {
    const bool is_small = run.devices.size() <= most_listed_devices;
    text += fmt::format("<details{}><summary>{} that pass</summary>\n{}</details>\n",
                        is_small ? folded_if_narrow : "", passing.rows.size(),
                        html_table(passing, "devices cards"));
  }
  return text;
}

/// The page's script can filter devices by verdict and words, and group them by node.
std::string devices_html(const RunResult& run, const FleetAnalysis& analysis) {
  if (run.devices.size() < 2) return "";
  return fmt::format(
      "<h2>Devices</h2>\n<div class=\"filterable\" data-table=\"devices\" data-rows=\"GPUs\" "
      "data-choice=\"verdict\" data-group=\"node\" data-orders=\"verdict node rank GPU {}likely "
      "reason\" data-hint=\"node, GPU, reason\">\n{}</div>\n",
      run.provenance.axes.empty() ? "" : "setting ", device_tables(run, analysis));
}

/// Folds tables that are longer than a screen.
std::string folded_table(const TextTable& table, std::string_view style, std::string_view what) {
  if (table.rows.empty()) return "";
  const std::string html = html_table(table, fmt::format("{} cards", style));
  if (table.rows.size() <= most_narrow_rows) return html;
  const bool is_short = table.rows.size() <= most_open_rows;
  return fmt::format("<details{}><summary>{} {}</summary>\n{}</details>\n",
                     is_short ? folded_if_narrow : "", table.rows.size(), what, html);
}

/// The results of a sweep, for each GPU model.
std::string sweep_html(const RunResult& run, const FleetAnalysis& analysis) {
  const SweepAnswer answer = answer_sweep(run, analysis);
  std::string text;
  for (const SweptModel& model : answer.models) {
    const std::size_t shown = std::min(model.metrics.size(), most_swept_metrics);
    text += fmt::format("<h3>{}</h3>\n", escape_markup(heading_of(answer, model)));
    if (shown > 0) {
      text += fmt::format("<div class=\"scrolled\" tabindex=\"0\">{}</div>\n",
                          html_table(sweep_table(answer, model, 0, shown), "sweep"));
    }
    if (model.steady.empty()) continue;
    text += fmt::format("<p class=\"note\">The same at all settings: {}</p>\n",
                        folded_html(fmt::format("{}", fmt::join(model.steady, ", "))));
  }
  return titled("Over the sweep", text);
}

/// What the GPUs of each model reach.
std::string key_numbers_html(const RunResult& run, const FleetAnalysis& analysis) {
  if (!run.provenance.axes.empty()) return "";  // sweep_html has them by setting
  std::string text;
  for (const ComparisonGroup& group : analysis.groups) {
    const TextTable table = key_number_table(run, group);
    if (table.rows.empty()) continue;
    const std::size_t n = group.devices.size();
    text +=
        fmt::format("<h3>{}{}</h3>\n<div class=\"scrolled\" tabindex=\"0\">{}</div>\n",
                    escape_markup(group.label), n == 1 ? "" : fmt::format(", median of {} GPUs", n),
                    html_table(table, "key_numbers"));
  }
  if (text.empty()) return "";
  return titled("Key numbers",
                text +
                    "<p class=\"note\">Theoretical: computed from the width and clock of bus and "
                    "links; for the L2, the size that the driver reports. FLOP/s are those of a "
                    "burst of microseconds; the job soak shows what lasts.</p>\n");
}

/// A square for each GPU, node by node. Of very many nodes those in which a GPU did not pass.
std::string fleet_grid(const RunResult& run, const FleetAnalysis& analysis) {
  constexpr std::size_t fewest = 9;  // more than a node has
  constexpr std::size_t most_nodes = 512;
  if (run.devices.size() < fewest || !run.provenance.axes.empty()) return "";
  struct Node {
    std::string squares;
    bool passes = true;
  };
  std::map<std::string, Node> nodes;
  for (std::size_t i = 0; i < run.devices.size(); ++i) {
    const std::string verdict(to_text(analysis.verdicts[i].verdict));
    Node& node = nodes[run.devices[i].node];
    node.passes &= verdict == "pass";
    node.squares += fmt::format("<i class=\"{0}\" title=\"{1}: {0}\"></i>", escape_markup(verdict),
                                escape_markup(place_of(run, run.devices[i])));
  }
  std::string text;
  for (const auto& [name, node] : nodes) {
    if (node.passes && nodes.size() > most_nodes) continue;
    text += fmt::format("<span><b>{}</b>{}</span>\n", escape_markup(name), node.squares);
  }
  return titled("Fleet", "<div class=\"fleet\">\n" + text + "</div>\n");
}

std::string tables_html(const RunResult& run, const FleetAnalysis& analysis) {
  std::string text;
  const bool is_sweep = !run.provenance.axes.empty();  // sweep_html has them
  for (std::size_t group = 0; group < analysis.groups.size() && !is_sweep; ++group) {
    text +=
        fmt::format("<h2>Metrics of {} (n={})</h2>\n", escape_markup(analysis.groups[group].label),
                    analysis.groups[group].devices.size());
    text += folded_table(metric_table(run, analysis, group), "metrics",
                         "numbers: median, scatter, who is furthest out");
    text += folded_table(structure_table(analysis, group), "structure",
                         "values of structure, and how many agree");
  }
  return text + titled("Not answered", folded_table(gap_table(run, analysis), "gaps",
                                                    "kinds of gaps, and their reasons"));
}

std::string matrices_html(const std::vector<PeerMatrix>& matrices) {
  std::string text;
  for (const PeerMatrix& matrix : matrices) {
    text += fmt::format("<h3>{}</h3>\n<div class=\"scrolled\" tabindex=\"0\">{}</div>\n",
                        escape_markup(matrix.title), html_table(matrix.table, "matrix"));
  }
  return titled("GPU to GPU", text);
}

/// Hidden until the page's script runs.
std::string charts_place(const std::string& charts) {
  if (vega_bundle().empty()) {
    return "<p class=\"note\">Charts were left out: Vega was not found when sonde was built.</p>\n";
  }
  if (charts.empty()) return "";
  return "<p class=\"note\" id=\"no_charts\">The charts are drawn by a script inside this page, "
         "and "
         "this browser ran none: the tables below have their figures.</p>\n"
         "<section id=\"all_charts\" hidden></section>\n";
}

std::string notes_html(const std::vector<std::string>& remarks) {
  std::string text;
  for (const std::string& remark : remarks) text += "<li>" + escape_markup(remark) + "</li>\n";
  if (!text.empty()) text = "<ul>\n" + text + "</ul>\n";
  return titled("Notes (no verdict)", text);
}

}  // namespace

std::string folded_html(std::string_view text) {
  if (text.size() <= longest_open_text) return escape_markup(text);
  std::size_t at = text.rfind(' ', shown_of_folded);
  if (at == std::string_view::npos) at = shown_of_folded;
  while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) --at;
  return fmt::format("<details class=\"long\"><summary>{} …</summary>{}</details>",
                     escape_markup(text.substr(0, at)), escape_markup(text.substr(at)));
}

std::string html_table(const TextTable& table, std::string_view style, const RowMarkup& markup) {
  std::string text = fmt::format("<table class=\"{}\">\n<thead><tr>", style);
  for (const TextTable::Column& column : table.columns) {
    text += fmt::format("<th{}>{}</th>", column.align == Align::right ? " class=\"number\"" : "",
                        escape_markup(column.title));
  }
  text += "</tr></thead>\n<tbody>\n";
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    const std::string id = markup.id ? markup.id(row) : "";
    text += id.empty() ? "<tr>" : fmt::format("<tr id=\"{}\">", escape_markup(id));
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      const auto& [title, align] = table.columns[i];
      if (align == Align::right) {
        text += fmt::format("<td class=\"number\" data-title=\"{}\">", escape_markup(title));
      } else {
        text += "<td>";
      }
      const std::string own = markup.cell ? markup.cell(row, i) : "";
      text += (own.empty() ? folded_html(table.rows[row][i]) : own) + "</td>";
    }
    text += "</tr>\n";
  }
  return text + "</tbody>\n</table>\n";
}

std::string_view page_file(std::string_view name) {
  const auto file = std::ranges::find(page_files(), name, &EmbeddedFile::name);
  if (file == page_files().end()) throw Error(fmt::format("report.html has no part '{}'", name));
  return file->text;
}

std::string_view vega_bundle() { return page_file("vega_bundle.js"); }

std::string render_html(const RunResult& run, const FleetAnalysis& analysis,
                        const RawLatencies& raw) {
  const std::string verdict = verdict_line(run, analysis);
  const std::vector<Problem> wrong = problems(run, analysis);
  const std::string charts = charts_section(run, analysis, raw);
  std::string body;
  for (const std::string& scope : scope_lines(run, analysis)) {
    body += fmt::format("<p class=\"note\">{}</p>\n", escape_markup(scope));
  }
  std::string details;
  for (const Problem& problem : wrong) {
    const std::string link =
        problem.device ? finding_link(run, analysis, *problem.device, problem.metric) : "";
    details += problem_html(problem, link);
  }
  body += titled("What is wrong", details) + paste_html(run, analysis) + fleet_grid(run, analysis) +
          sweep_html(run, analysis) + key_numbers_html(run, analysis) +
          drawings_section(run, analysis) + devices_html(run, analysis) + charts_place(charts);
  if (run.devices.size() > 1) body += tables_html(run, analysis);
  body += matrices_html(peer_matrices(run, analysis.registry)) + findings_section(run, analysis);
  body += titled(run.devices.size() > 1 ? "Time (median of the devices)" : "Time",
                 folded_table(time_table(run), "times", "jobs, and how long each took")) +
          notes_html(notes(run, analysis));
  return fmt::format(
      fmt::runtime(page_file("page.html")), fmt::arg("title", escape_markup(verdict)),
      fmt::arg("style", page_file("style.css")), fmt::arg("mood", wrong.empty() ? "well" : "bad"),
      fmt::arg("origin", escape_markup(origin_line(run))), fmt::arg("body", body),
      fmt::arg("tables", page_file("tables.js")), fmt::arg("charts", charts));
}

}  // namespace sonde
