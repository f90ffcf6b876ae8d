// Two runs compared, as `sonde compare` and `sonde analyze --baseline` print them.
#include "analysis/report/report.hpp"
#include "analysis/report/table.hpp"
#include "base/escape.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sonde {

std::string render_comparison(const RunComparison& comparison) {
  std::string text = fmt::format("{} {} in both runs, {} changed {}\n", comparison.paired,
                                 comparison.paired == 1 ? "GPU" : "GPUs", comparison.changes.size(),
                                 comparison.changes.size() == 1 ? "value" : "values");
  if (!comparison.other_options.empty()) {
    text += fmt::format(
        "the runs were not asked for the same: {}; what differs in structure may come from that\n",
        escape_terminal(comparison.other_options));
  }
  TextTable table{{{"severity"}, {"node"}, {"GPU"}, {"metric"}, {"before"}, {"after"}, {"change"}},
                  {}};
  for (const Change& change : comparison.changes) {
    table.rows.push_back({std::string(to_text(change.severity)), change.node, change.uuid,
                          change.metric, change.before, change.after, change.reason});
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
