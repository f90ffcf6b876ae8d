// report.html: one page with a run inside, made of the files of page/.
#include "analysis/report/charts.hpp"
#include "analysis/report/content.hpp"
#include "analysis/report/page.hpp"
#include "analysis/report/peer_matrix.hpp"
#include "analysis/report/problems.hpp"
#include "analysis/report/report.hpp"
#include "base/escape.hpp"

#include <fmt/format.h>

namespace sonde {
namespace {

constexpr std::size_t most_detailed_devices = 16;

/// JSON that may stand inside a script element: no tag or comment begins in it.
std::string script_json(const Json& json) {
  std::string text =
      escape_json_controls(json.dump(-1, ' ', false, Json::error_handler_t::replace));
  for (std::size_t at = text.find('<'); at != std::string::npos; at = text.find('<', at)) {
    text.replace(at, 1, "\\u003c");
  }
  return text;
}

std::string problem_html(const Problem& problem) {
  std::string text = fmt::format("<div class=\"problem {}\"><h3><b>{}</b> {}</h3>\n<dl>",
                                 escape_markup(problem.badge), escape_markup(problem.badge),
                                 escape_markup(problem.where));
  for (const Problem::Line& line : problem.lines) {
    text += fmt::format("<dt>{}</dt><dd>{}</dd>\n", line.label, escape_markup(line.text));
  }
  for (const std::string& action : problem.actions) {
    text += fmt::format("<dt>do</dt><dd><code>{}</code></dd>\n", escape_markup(action));
  }
  return text + "</dl></div>\n";
}

std::string paste_html(const RunResult& run, const FleetAnalysis& analysis) {
  const std::string exclude = render_exclude(run, analysis);
  if (exclude.empty()) return "";
  return fmt::format("<h2>To paste (nothing of this was run)</h2>\n<pre>{}\n{}</pre>\n",
                     escape_markup(exclude), escape_markup(render_drain(run, analysis)));
}

std::string tables_html(const RunResult& run, const FleetAnalysis& analysis) {
  std::string text;
  for (std::size_t group = 0; group < analysis.groups.size(); ++group) {
    text +=
        fmt::format("<h2>Metrics of {} (n={})</h2>\n", escape_markup(analysis.groups[group].label),
                    analysis.groups[group].devices.size());
    const TextTable metrics = metric_table(run, analysis, group);
    const TextTable structure = structure_table(run, analysis, group);
    if (!metrics.rows.empty()) text += html_table(metrics);
    if (!structure.rows.empty()) text += html_table(structure);
  }
  const TextTable gaps = gap_table(run);
  if (!gaps.rows.empty()) text += "<h2>Not answered</h2>\n" + html_table(gaps);
  return text;
}

std::string matrices_html(const std::vector<PeerMatrix>& matrices) {
  std::string text = matrices.empty() ? "" : "<h2>GPU to GPU</h2>\n";
  for (const PeerMatrix& matrix : matrices) {
    text += fmt::format("<h3>{}</h3>\n", escape_markup(matrix.title)) + html_table(matrix.table);
  }
  return text;
}

std::string device_details(const RunResult& run, const FleetAnalysis& analysis) {
  std::string text;
  for (std::size_t i = 0; i < run.devices.size(); ++i) {
    if (run.devices.size() > most_detailed_devices && !is_flagged(analysis.verdicts[i])) continue;
    text += fmt::format("<details{}><summary>All findings of {}</summary>\n",
                        run.devices.size() == 1 ? " open" : "",
                        escape_markup(chart_label(run.devices[i])));
    for (const JobResult& job : run.devices[i].jobs) {
      if (job.findings.empty()) continue;
      text += fmt::format("<h3>{}</h3>\n", escape_markup(job.job)) +
              html_table(finding_table(job, analysis.registry));
    }
    text += "</details>\n";
  }
  return text;
}

std::string notes_html(const std::vector<std::string>& remarks) {
  if (remarks.empty()) return "";
  std::string text = "<h2>Notes (no verdict)</h2>\n<ul>\n";
  for (const std::string& remark : remarks) text += "<li>" + escape_markup(remark) + "</li>\n";
  return text + "</ul>\n";
}

/// Headings and places of the charts, and the data that the page's script draws them from.
std::string charts_html(const RunResult& run, const FleetAnalysis& analysis) {
  if (vega_bundle().empty()) {
    return "<p class=\"note\">Charts were left out: Vega was not found when sonde was built.</p>\n";
  }
  Json charts = Json::object();
  std::string text;
  const auto add = [&](const std::string& name, const Json& spec) {
    charts[name] = spec;
    text += page_file(name + ".html");
  };
  if (const Json specs = sweep_charts(run, analysis); !specs.empty()) add("sweep", specs);
  if (const auto chart = staircase_chart(run, analysis)) add("staircase", *chart);
  if (const auto chart = constants_chart(run, analysis)) add("constants", *chart);
  if (const auto chart = roofline_chart(run)) add("roofline", *chart);
  if (const auto chart = warps_chart(run)) add("warps", *chart);
  if (const Json specs = surface_charts(run); !specs.empty()) add("surfaces", specs);
  if (const Json specs = bypass_charts(run); !specs.empty()) add("bypass", specs);
  if (const auto chart = deviation_chart(run, analysis)) add("deviation", *chart);
  if (const auto chart = timeline_chart(run)) add("timeline", *chart);
  if (const auto chart = nest_chart(run)) add("nest", *chart);
  if (const auto chart = map_chart(run, analysis)) {
    add("map", chart->spec);
    charts["map_devices"] = chart->devices;
  }
  if (text.empty()) return "";
  return fmt::format(
      "{}<script type=\"application/json\" id=\"charts\">{}</script>\n"
      "<script>{}</script>\n<script>\n{}</script>\n",
      text, script_json(charts), vega_bundle(), page_file("charts.js"));
}

}  // namespace

std::string render_html(const RunResult& run, const FleetAnalysis& analysis) {
  const Headline head = headline(run, analysis);
  const std::vector<Problem> wrong = problems(run, analysis);
  std::string body;
  for (const Problem& problem : wrong) body += problem_html(problem);
  body += paste_html(run, analysis);
  if (run.devices.size() > 1) {
    body += "<h2>Devices</h2>\n" + html_table(device_table(run, analysis));
  }
  body += charts_html(run, analysis);
  if (run.devices.size() > 1) body += tables_html(run, analysis);
  body += matrices_html(peer_matrices(run, analysis.registry));
  body += device_details(run, analysis);
  const TextTable times = time_table(run);
  if (!times.rows.empty()) {
    body +=
        fmt::format("<h2>Time{}</h2>\n", run.devices.size() > 1 ? " (median of the devices)" : "") +
        html_table(times);
  }
  body += notes_html(notes(run, analysis));
  return fmt::format(
      fmt::runtime(page_file("page.html")), fmt::arg("title", escape_markup(head.verdict)),
      fmt::arg("style", page_file("style.css")), fmt::arg("mood", wrong.empty() ? "well" : "bad"),
      fmt::arg("counts", escape_markup(head.counts)),
      fmt::arg("origin", escape_markup(origin_line(run))), fmt::arg("body", body));
}

}  // namespace sonde
