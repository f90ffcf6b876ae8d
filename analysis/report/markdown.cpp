// The report as Markdown, for a ticket or a merge request.
#include "analysis/report/content.hpp"
#include "analysis/report/peer_matrix.hpp"
#include "analysis/report/problems.hpp"
#include "analysis/report/report.hpp"
#include "base/escape.hpp"

#include <fmt/format.h>

namespace sonde {
namespace {

std::string problem_markdown(const Problem& problem) {
  std::string text = fmt::format("- **{}** {}\n", problem.badge, markdown_code(problem.where));
  for (const Problem::Line& line : problem.lines) {
    text += fmt::format("  - {}: {}\n", line.label, escape_markdown(line.text));
  }
  for (const std::string& action : problem.actions) {
    text += fmt::format("  - do: {}\n", markdown_code(action));
  }
  return text;
}

std::string single_device(const RunResult& run, const FleetAnalysis& analysis) {
  std::string text;
  for (const JobResult& job : run.devices.front().jobs) {
    if (job.findings.empty() && job.status == Status::ok) continue;
    const std::string outcome =
        job.status == Status::ok ? "" : fmt::format(": {}, {}", to_text(job.status), job.reason);
    text += fmt::format("\n## {}\n\n", escape_markdown(job.job + outcome));
    if (!job.findings.empty()) text += markdown_table(finding_table(job, analysis.registry));
  }
  return text;
}

}  // namespace

std::string render_markdown(const RunResult& run, const FleetAnalysis& analysis) {
  const Headline head = headline(run, analysis);
  std::string text = fmt::format("# {}\n\n{}\n\n{}\n", head.verdict, head.counts,
                                 escape_markdown(origin_line(run)));
  for (const std::string& scope : scope_lines(run, analysis)) {
    text += "\n" + escape_markdown(scope) + "\n";
  }
  const std::vector<Problem> wrong = problems(run, analysis);
  if (!wrong.empty()) text += "\n## What is wrong\n\n";
  for (const Problem& problem : wrong) text += problem_markdown(problem);
  if (!run.devices.empty()) {
    text += "\n## Devices\n\n" + markdown_table(device_table(run, analysis));
  }
  if (run.devices.size() == 1) return text + single_device(run, analysis);
  for (std::size_t group = 0; group < analysis.groups.size(); ++group) {
    text += fmt::format("\n## {} (n={})\n\n", escape_markdown(analysis.groups[group].label),
                        analysis.groups[group].devices.size());
    const TextTable metrics = metric_table(run, analysis, group);
    const TextTable structure = structure_table(run, analysis, group);
    if (!metrics.rows.empty()) text += markdown_table(metrics);
    if (!structure.rows.empty()) text += "\n" + markdown_table(structure);
  }
  const TextTable gaps = gap_table(run, analysis);
  if (!gaps.rows.empty()) text += "\n## Not answered\n\n" + markdown_table(gaps);
  const std::vector<PeerMatrix> matrices = peer_matrices(run, analysis.registry);
  if (!matrices.empty()) text += "\n## GPU to GPU\n";
  for (const PeerMatrix& matrix : matrices) {
    text += fmt::format("\n{}\n\n", escape_markdown(matrix.title)) + markdown_table(matrix.table);
  }
  const std::vector<std::string> remarks = notes(run, analysis);
  if (!remarks.empty()) text += "\n## Notes (no verdict)\n\n";
  for (const std::string& remark : remarks) text += "- " + escape_markdown(remark) + "\n";
  return text;
}

}  // namespace sonde
