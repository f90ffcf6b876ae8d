// Tables for spreadsheets and change-point tools (RFC 4180).
#include "analysis/report/content.hpp"
#include "analysis/report/report.hpp"
#include "base/escape.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <ostream>

namespace sonde {
namespace {

std::string line(const std::vector<std::string>& cells) {
  std::vector<std::string> quoted;
  for (const std::string& cell : cells) quoted.push_back(escape_csv(cell));
  return fmt::format("{}\n", fmt::join(quoted, ","));
}

std::string number(double value) { return std::isfinite(value) ? fmt::format("{}", value) : ""; }

/// Separated by blanks.
std::string modes_text(const Finding& finding) {
  std::vector<std::string> modes;
  for (const double mode : finding.modes) modes.push_back(number(mode));
  return fmt::format("{}", fmt::join(modes, " "));
}

/// One row; a row for each element if the value is a vector.
std::string finding_rows(const std::vector<std::string>& device, const Finding& finding,
                         const std::string& unit) {
  const auto row = [&](const std::string& index, const std::string& value) {
    std::vector<std::string> cells = device;
    cells.insert(
        cells.end(),
        {finding.metric, index, value, unit, std::string(to_text(finding.status)),
         number(finding.confidence), std::to_string(finding.samples), number(finding.repeatability),
         number(finding.reproducibility), std::to_string(finding.replicates), modes_text(finding),
         finding.interval ? number(finding.interval->low) : "",
         finding.interval ? number(finding.interval->high) : "", finding.reason});
    return line(cells);
  };
  if (const auto* values = std::get_if<std::vector<double>>(&finding.value)) {
    std::string text;
    for (std::size_t i = 0; i < values->size(); ++i) {
      text += row(std::to_string(i), number((*values)[i]));
    }
    return text;
  }
  if (const auto* value = std::get_if<double>(&finding.value)) return row("", number(*value));
  const auto* words = std::get_if<std::string>(&finding.value);
  return row("", words != nullptr ? *words : "");
}

}  // namespace

void write_csv_long(std::ostream& out, const RunResult& run, const FleetAnalysis& analysis,
                    const DeviceStream& devices) {
  out << "started_utc,uuid,name,node,rank,verdict,";
  for (const Axis& axis : run.provenance.axes) out << escape_csv(axis.option) << ",";
  out << "metric,index,value,unit,status,confidence,samples,repeatability,reproducibility,"
         "replicates,"
         "modes,interval_low,interval_high,reason\n";
  const std::vector<Point> points = points_of(run.provenance);
  devices([&](std::size_t i, const DeviceResult& device) {
    std::vector<std::string> cells{run.provenance.started_utc,
                                   device.info.uuid,
                                   device.info.name,
                                   device.node,
                                   std::to_string(device.rank),
                                   std::string(to_text(analysis.verdicts[i].verdict))};
    std::ranges::copy(points.at(device.point_index).at, std::back_inserter(cells));
    for (const JobResult& job : device.jobs) {
      for (const Finding& finding : job.findings) {
        out << finding_rows(cells, finding, unit_of(analysis.registry, finding.metric));
      }
    }
  });
}

}  // namespace sonde
