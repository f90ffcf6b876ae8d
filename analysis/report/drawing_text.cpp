// The drawing of a device in words, for a log: what the picture of report.html says.
#include "analysis/report/drawing_text.hpp"

#include "analysis/report/table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

namespace sonde {
namespace {

constexpr double sure = 0.95;  // from there on nothing is said of how sure a value is

std::string value_of(const DrawnFact& fact) {
  if (!fact.answered || fact.confidence >= sure) return fact.text;
  return fmt::format("{} (sure to {:.2f})", fact.text, fact.confidence);
}

void add_unit(const DrawnUnit& unit, TextTable& table) {
  std::string name = unit.name;
  std::string size = unit.size;
  if (unit.facts.empty()) table.rows.push_back({name, size, "", ""});
  for (const DrawnFact& fact : unit.facts) {
    table.rows.push_back(
        {std::exchange(name, ""), std::exchange(size, ""), fact.label, value_of(fact)});
  }
}

}  // namespace

std::string drawing_text(const DeviceDrawing& drawing, std::size_t width) {
  TextTable table{.columns = {{"unit"}, {"size"}, {"what"}, {"value"}}, .rows = {}};
  for (const DrawnFrame& frame : drawing.frames) {
    if (frame.units.empty()) continue;
    // The device's own frame has the rest of its title, too.
    table.rows.push_back({frame.name.substr(0, frame.name.find(',')), "", "", ""});
    for (DrawnUnit unit : frame.units) {
      unit.name = "  " + unit.name;
      add_unit(unit, table);
    }
  }
  if (table.rows.empty()) return "";
  std::string text = plain_table(table, "  ", width);
  if (!drawing.unresolved.empty()) {
    text += fmt::format("  not known whether there: {}\n", fmt::join(drawing.unresolved, ", "));
  }
  return text;
}

}  // namespace sonde
