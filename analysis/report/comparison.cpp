// Two runs compared, as `sonde compare` and `sonde analyze --baseline` print them.
#include "analysis/report/report.hpp"
#include "analysis/report/table.hpp"
#include "base/escape.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace sonde {

namespace {

constexpr std::size_t most_settings = 8;

/// Of sweeps " (with memory-percent=50; memory-percent=100)".
std::string settings_text(const RunComparison& comparison) {
  std::vector<std::string> settings = comparison.paired_settings;
  if (settings.empty()) return "";
  const std::size_t shown = std::min(settings.size(), most_settings);
  const std::size_t more = settings.size() - shown;
  settings.resize(shown);
  return escape_terminal(fmt::format(" (with {}{})", fmt::join(settings, "; "),
                                     more > 0 ? fmt::format("; and {} settings more", more) : ""));
}

}  // namespace

std::string render_comparison(const RunComparison& comparison) {
  const std::size_t gpus = comparison.paired_gpus;
  std::string text =
      fmt::format("{} {} in both runs{}, {} changed {}\n", gpus, gpus == 1 ? "GPU" : "GPUs",
                  settings_text(comparison), comparison.changes.size(),
                  comparison.changes.size() == 1 ? "value" : "values");
  if (!comparison.other_options.empty()) {
    text += fmt::format(
        "the runs were not asked for the same: {}; what differs in structure may come from that\n",
        escape_terminal(comparison.other_options));
  }
  const bool is_sweep = !comparison.paired_settings.empty();
  TextTable table{{{"severity"}, {"node"}, {"GPU"}}, {}};
  if (is_sweep) table.columns.push_back({"setting"});
  table.columns.insert(table.columns.end(), {{"metric"}, {"before"}, {"after"}, {"change"}});
  for (const Change& change : comparison.changes) {
    std::vector<std::string> cells{std::string(to_text(change.severity)), change.node, change.uuid};
    if (is_sweep) cells.push_back(change.setting);
    cells.insert(cells.end(), {change.metric, change.before, change.after, change.reason});
    table.rows.push_back(std::move(cells));
  }
  if (!table.rows.empty()) text += "\n" + plain_table(table, "  ");
  TextTable dies{{{"node"}, {"PCI address"}, {"GPU before"}, {"GPU after"}, {"die"}}, {}};
  for (const OtherDie& die : comparison.other_dies) {
    dies.rows.push_back({die.node, die.pci_bus_id, die.uuid_before, die.uuid_after, die.reason});
  }
  if (!dies.rows.empty()) text += "\n" + plain_table(dies, "  ");
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
