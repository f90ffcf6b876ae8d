// A table for spreadsheets and change-point tools (RFC 4180).
#include "analysis/fleet/value_text.hpp"
#include "analysis/report/content.hpp"
#include "analysis/report/report.hpp"
#include "base/escape.hpp"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <ostream>
#include <string>
#include <vector>

namespace sonde {
namespace {

/// Numbers are not quoted; those that are not finite stay empty. Several numbers are a text,
/// separated by blanks, which must not begin like a formula.
void add_cell(std::string& row, const Value& value) {
  if (const auto* number = std::get_if<double>(&value)) {
    if (std::isfinite(*number)) fmt::format_to(std::back_inserter(row), FMT_COMPILE("{}"), *number);
  } else if (const auto* text = std::get_if<std::string>(&value)) {
    row += escape_csv(*text);
  } else if (const auto* numbers = std::get_if<std::vector<double>>(&value)) {
    std::string joined;
    for (const double one : *numbers) {
      if (!joined.empty()) joined += ' ';
      fmt::format_to(std::back_inserter(joined), FMT_COMPILE("{}"), one);
    }
    row += escape_csv(joined);
  }
}

}  // namespace

void write_csv(std::ostream& out, const RunResult& run, const FleetAnalysis& analysis) {
  out << "started_utc,uuid,name,node,rank,verdict,";
  for (const Axis& axis : run.provenance.axes) out << escape_csv(axis.option) << ",";
  out << "metric";
  for (const FindingCell& cell : cells_of({}, "")) out << "," << cell.column;
  out << "\n";
  const std::vector<Point> points = points_of(run.provenance);
  for (std::size_t i = 0; i < run.devices.size(); ++i) {
    const DeviceResult& device = run.devices[i];
    std::vector<std::string> cells{run.provenance.started_utc,
                                   device.info.uuid,
                                   device.info.name,
                                   device.node,
                                   std::to_string(device.rank),
                                   std::string(to_text(analysis.verdicts[i].verdict))};
    std::ranges::copy(points.at(device.point_index).at, std::back_inserter(cells));
    std::string own;
    for (const std::string& cell : cells) own += escape_csv(cell) + ",";
    std::string rows;
    for (const JobResult& job : device.jobs) {
      for (const Finding& finding : job.findings) {
        rows += own + escape_csv(finding.metric);
        const std::string unit = unit_of(analysis.registry, finding.metric);
        for (const FindingCell& cell : cells_of(finding, unit)) {
          rows += ',';
          add_cell(rows, cell.value);
        }
        rows += '\n';
      }
    }
    out << rows;
  }
}

}  // namespace sonde
