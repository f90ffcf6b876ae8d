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

// An index and the longest number with their commas, about.
constexpr std::size_t number_bytes = 32;

std::string join_cells(const std::vector<std::string>& cells) {
  std::vector<std::string> quoted;
  for (const std::string& cell : cells) quoted.push_back(escape_csv(cell));
  return fmt::format("{}", fmt::join(quoted, ","));
}

std::string number(double value) { return std::isfinite(value) ? fmt::format("{}", value) : ""; }

/// Separated by blanks.
std::string modes_text(const Finding& finding) {
  std::vector<std::string> modes;
  for (const double mode : finding.modes) modes.push_back(number(mode));
  return fmt::format("{}", fmt::join(modes, " "));
}

/// One row; a row for each element if the value is a vector. Numbers need no quotes.
/// @param device its cells, quoted
std::string finding_rows(const std::string& device, const Finding& finding,
                         const std::string& unit) {
  const std::string before = device + "," + escape_csv(finding.metric) + ",";
  const std::string after =
      "," +
      join_cells({unit, std::string(to_text(finding.status)), number(finding.confidence),
                  std::to_string(finding.samples), number(finding.repeatability),
                  number(finding.reproducibility), std::to_string(finding.replicates),
                  modes_text(finding), finding.interval ? number(finding.interval->low) : "",
                  finding.interval ? number(finding.interval->high) : "", finding.reason}) +
      "\n";
  const auto row = [&](const std::string& value) { return before + "," + value + after; };
  if (const auto* values = std::get_if<std::vector<double>>(&finding.value)) {
    std::string text;
    text.reserve(values->size() * (before.size() + after.size() + number_bytes));
    for (std::size_t i = 0; i < values->size(); ++i) {
      text += before;
      fmt::format_to(std::back_inserter(text), "{},", i);
      if (std::isfinite((*values)[i])) fmt::format_to(std::back_inserter(text), "{}", (*values)[i]);
      text += after;
    }
    return text;
  }
  if (const auto* value = std::get_if<double>(&finding.value)) return row(number(*value));
  const auto* words = std::get_if<std::string>(&finding.value);
  return row(words != nullptr ? escape_csv(*words) : "");
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
    const std::string own = join_cells(cells);
    for (const JobResult& job : device.jobs) {
      for (const Finding& finding : job.findings) {
        out << finding_rows(own, finding, unit_of(analysis.registry, finding.metric));
      }
    }
  });
}

}  // namespace sonde
