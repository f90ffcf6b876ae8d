// Tables for spreadsheets and change-point tools (RFC 4180).
#include "analysis/report/content.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <set>

namespace sonde {
namespace {

std::string quote(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + "\"";
}

std::string line(const std::vector<std::string>& cells) {
  std::vector<std::string> quoted;
  for (const std::string& cell : cells) quoted.push_back(quote(cell));
  return fmt::format("{}\n", fmt::join(quoted, ","));
}

std::string number(double value) { return std::isfinite(value) ? fmt::format("{}", value) : ""; }

std::vector<std::string> device_cells(const RunResult& run, const FleetAnalysis& analysis,
                                      std::size_t index) {
  const DeviceResult& device = run.devices[index];
  return {run.provenance.started_utc,
          device.info.uuid,
          device.info.name,
          device.node,
          std::to_string(device.rank),
          std::string(to_text(analysis.verdicts[index].verdict))};
}

const std::vector<std::string> device_columns{"started_utc", "uuid", "name",
                                              "node",        "rank", "verdict"};

std::string long_rows(const std::vector<std::string>& device, const Finding& finding,
                      const std::string& unit) {
  const auto row = [&](const std::string& index, const std::string& value) {
    std::vector<std::string> cells = device;
    for (const std::string& cell :
         {finding.metric, index, value, unit, std::string(to_text(finding.status)),
          number(finding.confidence), std::to_string(finding.samples), number(finding.spread),
          finding.reason}) {
      cells.push_back(cell);
    }
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

std::string render_csv_long(const RunResult& run, const FleetAnalysis& analysis) {
  std::vector<std::string> header = device_columns;
  for (const char* column : {"metric", "index", "value", "unit", "status", "confidence", "samples",
                             "spread", "reason"}) {
    header.emplace_back(column);
  }
  std::string text = line(header);
  for (std::size_t i = 0; i < run.devices.size(); ++i) {
    const std::vector<std::string> device = device_cells(run, analysis, i);
    for (const JobResult& job : run.devices[i].jobs) {
      for (const Finding& finding : job.findings) {
        text += long_rows(device, finding, unit_of(analysis.registry, finding.metric));
      }
    }
  }
  return text;
}

}  // namespace sonde
