// Parts of report.html; html.cpp puts them in their order. What no run changes, the files of page/
// and Vega, is built into the program, so that a report needs no network and no files.
#pragma once

#include "analysis/fleet/fleet.hpp"
#include "analysis/report/drawing/drawing.hpp"
#include "analysis/report/raw_latency.hpp"
#include "analysis/report/table.hpp"
#include "base/embedded_file.hpp"

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace sonde {

/// page.html: its policy lets nothing be loaded; Vega compiles its expressions, hence unsafe-eval.
std::span<const EmbeddedFile> page_files();
/// @throws Error if there is no such file
std::string_view page_file(std::string_view name);
/// Vega as one script that sets `vega`. Empty if it was not found when sonde was built.
std::string_view vega_bundle();

/// HTML for the rows of a table that is more than their texts. "" stands for none.
struct RowMarkup {
  std::function<std::string(std::size_t row)> id{};
  std::function<std::string(std::size_t row, std::size_t column)> cell{};  // in place of the text
};

/// Tables, of which every text is escaped: <table class=style>; style.css lays each style out anew
/// on narrow screens.
std::string html_table(const TextTable& table, std::string_view style,
                       const RowMarkup& markup = {});

/// The text, folded if it is long: its first words are the summary.
std::string folded_html(std::string_view text);

/// The frames from the outside in: what a frame shares stands before what lies inside it. "" if
/// there is nothing to draw.
std::string drawing_html(std::span<const DrawnFrame> frames);
/// A drawing of each comparison group, of what most of its devices say. "" if there is nothing to
/// draw.
std::string drawings_section(const RunResult& run, const FleetAnalysis& analysis);

/// The data of the charts and the scripts that draw them into #all_charts; charts of one device
/// have a choice of most_chosen_devices. "" if there are none, or Vega was not found when sonde was
/// built.
/// @param raw of drawn_devices (charts.hpp)
std::string charts_section(const RunResult& run, const FleetAnalysis& analysis,
                           const RawLatencies& raw);

/// Findings of the devices, job by job, each with the probes behind it and their rows in the file.
/// Of a large fleet only flagged devices are shown, and of these jobs in which something is wrong.
std::string findings_section(const RunResult& run, const FleetAnalysis& analysis);
/// Whether findings_section shows the device.
bool has_findings(const RunResult& run, const FleetAnalysis& analysis, std::size_t device);
/// Where findings_section has that metric of that device: an id.
std::string finding_anchor(std::size_t device, std::string_view metric);

}  // namespace sonde
