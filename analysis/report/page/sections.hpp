// Parts of report.html; html.cpp joins them. The constant files (page/ and Vega) are built into the
// program, so a report needs no network and no other files.
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

/// Files of page/. page.html allows no loading of anything; Vega compiles expressions: unsafe-eval.
std::span<const EmbeddedFile> page_files();
/// @throws Error if there is no such file
std::string_view page_file(std::string_view name);
/// Vega as one script that sets `vega`; empty if Vega was not found when sonde was built.
std::string_view vega_bundle();

/// HTML of table rows that is more than their texts; "" for none.
struct RowMarkup {
  std::function<std::string(std::size_t row)> id{};
  std::function<std::string(std::size_t row, std::size_t column)> cell{};  // instead of the text
};

/// <table class=style> with all texts escaped. style.css rearranges each on narrow screens.
std::string html_table(const TextTable& table, std::string_view style,
                       const RowMarkup& markup = {});

/// The text; a long text is folded, with its first words as summary.
std::string folded_html(std::string_view text);

/// Nested frames: the units of a frame come before the frame inside it. "" without units.
std::string drawing_html(std::span<const DrawnFrame> frames);
/// Drawings of the largest groups. "" if there is nothing to draw.
std::string drawings_section(const RunResult& run, const FleetAnalysis& analysis);

/// The data of the charts, and the scripts that draw them into #all_charts; readers can choose one
/// of most_chosen_devices for the charts of one device. "" without charts, or if Vega was not found
/// when sonde was built.
/// @param raw of drawn_devices (charts.hpp)
std::string charts_section(const RunResult& run, const FleetAnalysis& analysis,
                           const RawLatencies& raw);

/// Findings of the devices by job, with the rows of their probes in the file. Of a large fleet only
/// flagged devices, and of these only jobs with a problem.
std::string findings_section(const RunResult& run, const FleetAnalysis& analysis);
/// "#..." for a link to this finding in findings_section; "" if it is not there.
std::string finding_link(const RunResult& run, const FleetAnalysis& analysis, std::size_t device,
                         std::string_view metric);

}  // namespace sonde
