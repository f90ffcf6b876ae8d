// The drawings at the head of the page: nested boxes; style.css arranges them for every width.
#include "analysis/report/drawing/consensus.hpp"
#include "analysis/report/page/sections.hpp"
#include "base/escape.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <string_view>

namespace sonde {
namespace {

constexpr double low_confidence = 0.9;  // with less a value cannot fail a device (quorum.cpp)

/// Escapes each line; an escaped line break would be shown as text.
std::string title_of(std::string_view remark) {
  std::string title;
  while (!remark.empty()) {
    const std::size_t end = std::min(remark.find('\n'), remark.size());
    title += (title.empty() ? "" : "&#10;") + escape_markup(remark.substr(0, end));
    remark.remove_prefix(std::min(end + 1, remark.size()));
  }
  return title;
}

std::string fact_html(const DrawnFact& fact) {
  const std::string confidence = fact.confidence < low_confidence
                                     ? fmt::format(" <small>{:.2g}</small>", fact.confidence)
                                     : "";
  return fmt::format("<div title=\"{}\"><dt>{}</dt><dd>{}{}</dd></div>\n", title_of(fact.remark),
                     escape_markup(fact.label), escape_markup(fact.text), confidence);
}

std::string unit_html(const DrawnUnit& unit) {
  std::string text = fmt::format(
      "<div class=\"unit {}{}{}\"><p class=\"name\"><b>{}</b>{}</p>\n<dl>\n", unit.kind,
      unit.placed ? "" : " unplaced", unit.wide ? " wide" : "", escape_markup(unit.name),
      unit.size.empty() ? "" : "<b>" + escape_markup(unit.size) + "</b>");
  for (const DrawnFact& fact : unit.facts) text += fact_html(fact);
  return text + "</dl>\n</div>\n";
}

std::string group_html(const RunResult& run, const GroupDrawing& one) {
  std::string text = "<figure class=\"drawing\">\n";
  if (run.devices.size() > 1) {
    const std::size_t n = one.group->devices.size();
    text += fmt::format("<figcaption>{}: what most of {} {} say</figcaption>\n",
                        escape_markup(one.group->label), n, n == 1 ? "device" : "devices");
  }
  text += drawing_html(one.frames);
  return text + "</figure>\n";
}

}  // namespace

std::string drawing_html(std::span<const DrawnFrame> frames) {
  std::string text;
  for (const DrawnFrame& frame : frames) {
    text += fmt::format("<div class=\"frame\"><p class=\"name\"><b>{}</b></p>\n",
                        escape_markup(frame.name));
    if (frame.units.empty()) continue;
    text += "<div class=\"units\">\n";
    for (const DrawnUnit& unit : frame.units) text += unit_html(unit);
    text += "</div>\n";
  }
  for (std::size_t i = 0; i < frames.size(); ++i) text += "</div>\n";
  return text;
}

std::string drawings_section(const RunResult& run, const FleetAnalysis& analysis) {
  std::string text;
  std::set<std::string_view> models;  // each model is drawn once
  for (const ComparisonGroup& group : analysis.groups) models.insert(group.model);
  for (const GroupDrawing& one : draw_groups(run, analysis)) text += group_html(run, one);
  if (text.empty()) return "";
  if (models.size() > most_drawings) {
    text += fmt::format("<p>and {} smaller groups</p>\n", models.size() - most_drawings);
  }
  return "<section id=\"device\">\n<h2>The device</h2>\n" + text +
         "<p class=\"note\">Small numbers are the confidence if it is below 0.9. A dashed box: it "
         "is not known which SMs share the unit. Point at a value to see its "
         "metric.</p>\n</section>\n";
}

}  // namespace sonde
