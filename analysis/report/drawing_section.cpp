// The drawings at the head of the page.
#include "analysis/report/consensus.hpp"
#include "analysis/report/content.hpp"
#include "analysis/report/drawing_html.hpp"
#include "analysis/report/sections.hpp"
#include "base/escape.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <vector>

namespace sonde {
namespace {

constexpr std::size_t most_named_devices = 12;
constexpr std::size_t most_drawings = 8;

/// "device.sm_count 130, others 132" of every device of the group, by device.
std::map<std::size_t, std::vector<std::string>> differences(const FleetAnalysis& analysis,
                                                            const ComparisonGroup& group) {
  std::map<std::size_t, std::vector<std::string>> texts;
  for (const Charge& finding : analysis.charges) {
    const Metric* metric = find_metric(finding.metric, analysis.registry);
    if (metric == nullptr || !is_structure(metric->kind) || finding.value.empty()) continue;
    if (std::ranges::find(group.devices, finding.device) == group.devices.end()) continue;
    texts[finding.device].push_back(
        fmt::format("{} {}, others {}", finding.metric, finding.value, finding.reference));
  }
  return texts;
}

std::string differences_html(const RunResult& run, const FleetAnalysis& analysis,
                             const ComparisonGroup& group) {
  const auto all = differences(analysis, group);
  if (all.empty()) return "";
  std::string text = "<p>Other than drawn:</p>\n<ul>\n";
  std::size_t named = 0;
  for (const auto& [device, texts] : all) {
    if (named++ == most_named_devices) break;
    text += fmt::format("<li><b>{}</b>: {}</li>\n", escape_markup(place_of(run.devices[device])),
                        escape_markup(fmt::format("{}", fmt::join(texts, "; "))));
  }
  if (all.size() > most_named_devices) {
    text += fmt::format("<li>and {} more devices</li>\n", all.size() - most_named_devices);
  }
  return text + "</ul>\n";
}

std::string group_html(const RunResult& run, const FleetAnalysis& analysis,
                       const ComparisonGroup& group) {
  const DeviceDrawing drawing = draw_device(consensus_of(run, group.devices));
  if (drawing.frames.empty()) return "";
  std::string text = "<figure class=\"drawing\">\n";
  if (run.devices.size() > 1) {
    const std::size_t n = group.devices.size();
    text += fmt::format("<figcaption>{}: what most of {} {} say</figcaption>\n",
                        escape_markup(group.label), n, n == 1 ? "device" : "devices");
  }
  text += drawing_html(drawing);
  for (const std::string& unit : drawing.unresolved) {
    text += fmt::format(
        "<p class=\"note\">Not drawn, as it is not known whether there is one: {}</p>\n",
        escape_markup(unit));
  }
  return text + differences_html(run, analysis, group) + "</figure>\n";
}

}  // namespace

std::string drawings_section(const RunResult& run, const FleetAnalysis& analysis) {
  std::vector<const ComparisonGroup*> groups;
  for (const ComparisonGroup& group : analysis.groups) {
    if (!group.devices.empty()) groups.push_back(&group);
  }
  std::ranges::stable_sort(groups, std::ranges::greater{},
                           [](const ComparisonGroup* group) { return group->devices.size(); });
  std::string text;
  for (std::size_t i = 0; i < std::min(groups.size(), most_drawings); ++i) {
    text += group_html(run, analysis, *groups[i]);
  }
  if (text.empty()) return "";
  if (groups.size() > most_drawings) {
    text += fmt::format("<p>and {} smaller groups</p>\n", groups.size() - most_drawings);
  }
  return "<section id=\"device\">\n<h2>The device</h2>\n" + text +
         "<p class=\"note\">Small figures: confidence, where it is below 0.9. Dashed: who shares "
         "it was "
         "not found out. ?: not resolvable; why stands under the pointer and among the "
         "findings.</p>\n"
         "</section>\n";
}

}  // namespace sonde
