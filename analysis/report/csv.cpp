// Tables for spreadsheets and change-point tools (RFC 4180).
#include "analysis/report/content.hpp"
#include "analysis/report/report.hpp"
#include "base/escape.hpp"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <future>
#include <iterator>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace sonde {
namespace {

void add_cell(std::string& row, std::string_view text) {
  constexpr std::string_view formula_starts = "=+-@";
  const auto is_plain = [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != ','; };
  const bool plain = std::ranges::all_of(text, is_plain) &&
                     (text.empty() || formula_starts.find(text.front()) == text.npos);
  if (plain) {
    row += text;
  } else {
    row += escape_csv(text);
  }
}

/// Those that are not finite are left empty.
void add_number(std::string& row, double value) {
  if (std::isfinite(value)) fmt::format_to(std::back_inserter(row), FMT_COMPILE("{}"), value);
}

/// Separated by blanks: several numbers are a text, and may not begin like a formula.
void add_numbers(std::string& row, const std::vector<double>& numbers) {
  std::string text;
  for (const double number : numbers) {
    if (!text.empty()) text += ' ';
    fmt::format_to(std::back_inserter(text), FMT_COMPILE("{}"), number);
  }
  add_cell(row, text);
}

/// What stands behind the value, with the end of the line.
std::string end_of_row(const Finding& finding, std::string_view unit) {
  std::string row = ",";
  add_cell(row, unit);
  row.append(",").append(to_text(finding.status)).append(",");
  add_number(row, finding.confidence);
  fmt::format_to(std::back_inserter(row), FMT_COMPILE(",{},"), finding.samples);
  add_number(row, finding.repeatability);
  row += ',';
  add_number(row, finding.reproducibility);
  fmt::format_to(std::back_inserter(row), FMT_COMPILE(",{},"), finding.replicates);
  add_numbers(row, finding.modes);
  row += ',';
  if (finding.interval) add_number(row, finding.interval->low);
  row += ',';
  if (finding.interval) add_number(row, finding.interval->high);
  row += ',';
  add_cell(row, finding.reason);
  return row += '\n';
}

/// Where the elements of a vector stand: together, or each in a row with its index.
enum class Elements { in_one_cell, in_rows };

/// One row, or a row for each element. Numbers need no quotes.
/// @param device its cells, quoted, each with a comma behind it
void add_rows(std::string& rows, std::string_view device, const Finding& finding,
              std::string_view unit, Elements elements) {
  std::string before(device);
  add_cell(before, finding.metric);
  before += ',';
  const std::string after = end_of_row(finding, unit);
  const auto* values = std::get_if<std::vector<double>>(&finding.value);
  if (values != nullptr && elements == Elements::in_rows) {
    for (std::size_t i = 0; i < values->size(); ++i) {
      rows += before;
      fmt::format_to(std::back_inserter(rows), FMT_COMPILE("{},"), i);
      add_number(rows, (*values)[i]);
      rows += after;
    }
    return;
  }
  rows += before;
  if (elements == Elements::in_rows) rows += ',';
  if (values != nullptr) add_numbers(rows, *values);
  if (const auto* value = std::get_if<double>(&finding.value)) add_number(rows, *value);
  if (const auto* words = std::get_if<std::string>(&finding.value)) add_cell(rows, *words);
  rows += after;
}

/// Text on its way out: while some is written, more is put together. To write the long table of
/// 10,000 devices, 19 GB, takes the kernel as long as it takes sonde to put it together.
class Outflow {
 public:
  explicit Outflow(std::ostream& out) : out_(out) {}

  /// To be added to, until the next call.
  std::string& text() {
    if (text_.size() >= enough_bytes) hand_over();
    return text_;
  }

  /// To be called at the end.
  void finish() {
    hand_over();
    writing_.wait();
  }

 private:
  static constexpr std::size_t enough_bytes = std::size_t{8} << 20;

  void hand_over() {
    if (writing_.valid()) writing_.wait();
    written_.swap(text_);
    text_.clear();
    writing_ = std::async(std::launch::async, [this] { out_ << written_; });
  }

  std::ostream& out_;
  std::string text_;
  std::string written_;
  std::future<void> writing_;  // the last member: it ends before the others
};

void write_table(std::ostream& out, const RunResult& run, const FleetAnalysis& analysis,
                 const DeviceStream& devices, Elements elements) {
  out << "started_utc,uuid,name,node,rank,verdict,";
  for (const Axis& axis : run.provenance.axes) out << escape_csv(axis.option) << ",";
  out << (elements == Elements::in_rows ? "metric,index," : "metric,")
      << "value,unit,status,confidence,samples,repeatability,reproducibility,replicates,modes,"
         "interval_low,interval_high,reason\n";
  const std::vector<Point> points = points_of(run.provenance);
  Outflow rows(out);
  devices([&](std::size_t i, const DeviceResult& device) {
    std::vector<std::string> cells{run.provenance.started_utc,
                                   device.info.uuid,
                                   device.info.name,
                                   device.node,
                                   std::to_string(device.rank),
                                   std::string(to_text(analysis.verdicts[i].verdict))};
    std::ranges::copy(points.at(device.point_index).at, std::back_inserter(cells));
    std::string own;
    for (const std::string& cell : cells) {
      add_cell(own, cell);
      own += ',';
    }
    std::string& text = rows.text();
    for (const JobResult& job : device.jobs) {
      for (const Finding& finding : job.findings) {
        add_rows(text, own, finding, unit_of(analysis.registry, finding.metric), elements);
      }
    }
  });
  rows.finish();
}

}  // namespace

void write_csv(std::ostream& out, const RunResult& run, const FleetAnalysis& analysis,
               const DeviceStream& devices) {
  write_table(out, run, analysis, devices, Elements::in_one_cell);
}

void write_csv_long(std::ostream& out, const RunResult& run, const FleetAnalysis& analysis,
                    const DeviceStream& devices) {
  write_table(out, run, analysis, devices, Elements::in_rows);
}

}  // namespace sonde
