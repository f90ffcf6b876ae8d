// Everything that sonde prints or writes for people and programs. Pure: it returns text.
#pragma once

#include "analysis/fleet/fleet.hpp"
#include "analysis/report/raw_latency.hpp"

#include <cstddef>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace sonde {

struct RunComparison;

enum class Colour { off, on };

/// Content of a log: the drawing in words, or all values and the metrics of each group.
enum class Detail { summary, values };

/// The report for a log, a pipe or a terminal: problems (what, where, how sure, what to do), the
/// devices, and the groups. Without colour it is plain ASCII.
/// @param width of the terminal, to which remarks are wrapped; 0: none (logs)
std::string render_terminal(const RunResult& run, const FleetAnalysis& analysis,
                            Colour colour = Colour::off, std::size_t width = 0,
                            Detail detail = Detail::values);

/// Schema 1 of docs/json-report.md.
void write_json(std::ostream& out, const RunResult& run, const FleetAnalysis& analysis);
/// The same, but the devices have no jobs and findings.
void write_verdicts(std::ostream& out, const RunResult& run, const FleetAnalysis& analysis);

/// One row per device and metric; a vector is one cell, its elements separated by blanks.
void write_csv(std::ostream& out, const RunResult& run, const FleetAnalysis& analysis);

/// For the textfile collector: without timestamps.
void write_prometheus(std::ostream& out, const RunResult& run, const FleetAnalysis& analysis);

/// Suite = node, case = device x job; a flagged device is a failure, a lost or incomplete one an
/// error.
void write_junit(std::ostream& out, const RunResult& run, const FleetAnalysis& analysis);

/// One self-contained page that loads nothing.
/// @param raw of drawn_devices (charts.hpp), for charts of raw latency
std::string render_html(const RunResult& run, const FleetAnalysis& analysis,
                        const RawLatencies& raw = {});

/// "--exclude=node03,node07" for sbatch, then a `scontrol update ... state=drain` for each of these
/// nodes: those that failed or have a failed or lost device. Empty if there are none. sonde only
/// prints them.
std::vector<std::string> commands_to_paste(const RunResult& run, const FleetAnalysis& analysis);

/// For `sonde compare`: a table, or JSON (schema 1 of docs/json-report.md).
std::string render_comparison(const RunComparison& comparison);
std::string render_comparison_json(const RunComparison& comparison);

/// The formats of `sonde export`. A new one is declared above and gets a row and a file.
using ExportWriter = void (*)(std::ostream& out, const RunResult& run,
                              const FleetAnalysis& analysis);
struct ExportFormat {
  std::string_view name;
  ExportWriter write;
};
inline constexpr ExportFormat export_formats[]{
    {"table", [](std::ostream& out, const RunResult& run,
                 const FleetAnalysis& analysis) { out << render_terminal(run, analysis); }},
    {"json", write_json},
    {"csv", write_csv},
    {"prometheus", write_prometheus},
    {"junit", write_junit},
};

enum class ListFormat { plain, markdown };
/// The registry; as `markdown` it is docs/metrics.md, byte for byte.
std::string render_metric_list(ListFormat format);

}  // namespace sonde
