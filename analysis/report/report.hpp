// Everything that sonde prints or writes for people and for other programs. Pure: text out.
#pragma once

#include "analysis/fleet/fleet.hpp"
#include "analysis/report/raw_latency.hpp"

#include <cstddef>
#include <functional>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sonde {

struct RunComparison;

enum class Colour { off, on };

/// What a log gets: the devices as a drawing in words, or all values and the metrics of each group.
enum class Detail { summary, values };

/// The table of a log, a pipe or a terminal: what is wrong, where, how sure, what to do; then the
/// devices, and what each group is like. Without colour it is plain ASCII.
/// @param width of the terminal, to which remarks are wrapped; 0: logs are searched line by line,
/// so tables and notes keep theirs
std::string render_terminal(const RunResult& run, const FleetAnalysis& analysis,
                            Colour colour = Colour::off, std::size_t width = 0,
                            Detail detail = Detail::values);

/// Calls its argument with each device of a run, its place and all its findings, in order. Those of
/// a large fleet come from its file.
using DeviceStream =
    std::function<void(const std::function<void(std::size_t, const DeviceResult&)>&)>;

/// Schema 1: {"schema", "provenance", "counts", "devices": [{"uuid", "name", "node", "rank",
/// "status", "verdict", ..., "findings": {"<metric>": {"value", "unit", "status", "confidence",
/// "samples", "repeatability", ..., "reason"}}}], "fleet": [...], "flags": [...]}.
/// @param devices those of the run; what `run` itself has of their findings is not asked
void write_json(std::ostream& out, const RunResult& run, const FleetAnalysis& analysis,
                const DeviceStream& devices);

/// One row per device and metric; the elements of a vector stand in one cell, separated by blanks.
void write_csv(std::ostream& out, const RunResult& run, const FleetAnalysis& analysis,
               const DeviceStream& devices);

/// For the textfile collector: no timestamps on samples.
void write_prometheus(std::ostream& out, const RunResult& run, const FleetAnalysis& analysis,
                      const DeviceStream& devices);

/// Suite = node, case = device x job; a flagged device is a failure, a lost one an error.
std::string render_junit(const RunResult& run, const FleetAnalysis& analysis);

/// One self-contained page that loads nothing from anywhere.
/// @param raw of drawn_devices (charts.hpp), for charts of raw latency; without it there are none
std::string render_html(const RunResult& run, const FleetAnalysis& analysis,
                        const RawLatencies& raw = {});

/// "--exclude=node03,node07" for sbatch, then a `scontrol update ... state=drain` for each of these
/// nodes, on which a device failed or was lost; none if none did. Printed for a person to run;
/// sonde never runs them.
std::vector<std::string> commands_to_paste(const RunResult& run, const FleetAnalysis& analysis);

/// Of `sonde compare`: a table, or JSON, schema 1: {"schema", "counts", "other_options",
/// "only_before", "only_after", "changes": [{"uuid", ..., "before", "after", ..., "reason"}]}.
std::string render_comparison(const RunComparison& comparison);
std::string render_comparison_json(const RunComparison& comparison);

/// The formats of `sonde export`: a new one is declared above, gets a row here, and has its writer
/// in a file of its own.
using ExportWriter = void (*)(std::ostream& out, const RunResult& run,
                              const FleetAnalysis& analysis, const DeviceStream& devices);
struct ExportFormat {
  std::string_view name;
  ExportWriter write;
};
inline constexpr ExportFormat export_formats[]{
    {"table", [](std::ostream& out, const RunResult& run, const FleetAnalysis& analysis,
                 const DeviceStream&) { out << render_terminal(run, analysis); }},
    {"json", write_json},
    {"csv", write_csv},
    {"prometheus", write_prometheus},
    {"junit", [](std::ostream& out, const RunResult& run, const FleetAnalysis& analysis,
                 const DeviceStream&) { out << render_junit(run, analysis); }},
};

enum class ListFormat { plain, markdown };
/// The registry; with `markdown` it is docs/metrics.md, byte for byte.
std::string render_metric_list(ListFormat format);

}  // namespace sonde
