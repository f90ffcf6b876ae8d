// The comparison of two runs, as `sonde compare` and `sonde analyze --baseline` print it.
#include "analysis/fleet/grounds/grounds.hpp"
#include "analysis/report/report.hpp"
#include "analysis/report/table.hpp"
#include "base/escape.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace sonde {

std::string render_comparison(const RunComparison& comparison) {
  const std::size_t gpus = comparison.paired_gpus;
  std::string text =
      fmt::format("{} {} in both runs, {} changed {}\n", gpus, gpus == 1 ? "GPU" : "GPUs",
                  comparison.changes.size(), comparison.changes.size() == 1 ? "value" : "values");
  if (!comparison.other_options.empty()) {
    text +=
        fmt::format("the runs have different options: {}; structure may differ for this reason\n",
                    escape_terminal(comparison.other_options));
  }
  const bool is_sweep = std::ranges::any_of(
      comparison.changes, [](const Change& change) { return !change.setting.empty(); });
  TextTable table{{{"severity"}, {"node"}, {"GPU"}}, {}};
  if (is_sweep) table.columns.push_back({"setting"});
  table.columns.insert(table.columns.end(), {{"metric"}, {"before"}, {"after"}, {"change"}});
  for (const Change& change : comparison.changes) {
    const Charge& charge = change.charge;
    std::vector<std::string> cells{std::string(to_text(charge.severity)), charge.node, change.uuid};
    if (is_sweep) cells.push_back(change.setting);
    cells.insert(cells.end(), {charge.metric, charge.reference, charge.value, charge.reason});
    table.rows.push_back(std::move(cells));
  }
  if (!table.rows.empty()) text += "\n" + plain_table(table, "  ");
  const auto add = [&](const char* which, const std::vector<std::string>& uuids) {
    if (!uuids.empty()) {
      text += fmt::format("\nonly {}: {}\n", which,
                          escape_terminal(fmt::format("{}", fmt::join(uuids, ", "))));
    }
  };
  add("before", comparison.only_before);
  add("after", comparison.only_after);
  return text;
}

}  // namespace sonde
