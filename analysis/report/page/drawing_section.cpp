// The drawings at the head of the page: nested boxes; style.css arranges them for every width.
#include "analysis/report/page/sections.hpp"
#include "base/escape.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <vector>

namespace sonde {
namespace {

constexpr std::size_t most_drawings = 8;
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

/// "" if there is nothing to draw.
std::string group_html(const RunResult& run, const ComparisonGroup& group) {
  const std::string drawing = drawing_html(draw_device(consensus_of(run, group.devices)));
  if (drawing.empty()) return "";
  std::string text = "<figure class=\"drawing\">\n";
  if (run.devices.size() > 1) {
    const std::size_t n = group.devices.size();
    text += fmt::format("<figcaption>{}: what most of {} {} say</figcaption>\n",
                        escape_markup(group.label), n, n == 1 ? "device" : "devices");
  }
  return text + drawing + "</figure>\n";
}

/// One for each model, in a sweep that of its first setting; the largest first.
std::vector<const ComparisonGroup*> groups_to_draw(const FleetAnalysis& analysis) {
  std::vector<const ComparisonGroup*> groups;
  std::set<std::string_view> models;
  for (const ComparisonGroup& group : analysis.groups) {
    if (models.insert(group.model).second) groups.push_back(&group);
  }
  std::ranges::stable_sort(groups, std::ranges::greater{},
                           [](const ComparisonGroup* group) { return group->devices.size(); });
  return groups;
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
  const std::vector<const ComparisonGroup*> groups = groups_to_draw(analysis);
  for (std::size_t i = 0; i < std::min(groups.size(), most_drawings); ++i) {
    text += group_html(run, *groups[i]);
  }
  if (text.empty()) return "";
  if (groups.size() > most_drawings) {
    text += fmt::format("<p>and {} smaller groups</p>\n", groups.size() - most_drawings);
  }
  return "<section id=\"device\">\n<h2>The device</h2>\n" + text +
         "<p class=\"note\">Small numbers are the confidence if it is below 0.9. A dashed box: it "
         "is not known which SMs share the unit. Point at a value to see its "
         "metric.</p>\n</section>\n";
}

}  // namespace sonde
