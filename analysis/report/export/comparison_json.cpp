// The comparison of two runs for other programs: schema 1 of docs/json-report.md.
#include "analysis/fleet/grounds/grounds.hpp"
#include "analysis/report/export/json_text.hpp"
#include "analysis/report/report.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace sonde {
namespace {

Json change_json(const Change& change) {
  const Charge& charge = change.charge;
  return {{"uuid", change.uuid},
          {"node", charge.node},
          {"setting", change.setting},
          {"metric", charge.metric},
          {"unit", change.unit},
          {"place", change.place ? Json(*change.place) : Json(nullptr)},
          {"before", json_of(change.before)},
          {"after", json_of(change.after)},
          {"change_fraction", charge.size},
          {"tolerance", change.tolerance},
          {"severity", to_text(charge.severity)},
          {"reason", charge.reason}};
}

}  // namespace

std::string render_comparison_json(const RunComparison& comparison) {
  Json counts{{"gpus", comparison.paired_gpus}, {"changes", comparison.changes.size()}};
  for (const Severity severity : {Severity::info, Severity::warn, Severity::fail}) {
    counts[std::string(to_text(severity))] = std::ranges::count(
        comparison.changes, severity, [](const Change& change) { return change.charge.severity; });
  }
  Json changes = Json::array();
  for (const Change& change : comparison.changes) changes.push_back(change_json(change));
  const Json json{{"schema", 1},
                  {"counts", std::move(counts)},
                  {"other_options", comparison.other_options},
                  {"only_before", comparison.only_before},
                  {"only_after", comparison.only_after},
                  {"changes", std::move(changes)}};
  return dump(json, 1) + "\n";
}

}  // namespace sonde
