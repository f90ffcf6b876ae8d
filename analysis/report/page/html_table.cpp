// Dresses a table as HTML.
#include "analysis/report/page/html_table.hpp"

#include "base/escape.hpp"

#include <fmt/format.h>

namespace sonde {
namespace {

constexpr std::size_t longest_open_text = 160;  // bytes; longer cells are folded
constexpr std::size_t shown_of_folded = 90;

}  // namespace

std::string folded_html(std::string_view text) {
  if (text.size() <= longest_open_text) return escape_markup(text);
  std::size_t at = text.rfind(' ', shown_of_folded);
  if (at == std::string_view::npos) at = shown_of_folded;
  while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) --at;
  return fmt::format("<details class=\"long\"><summary>{} …</summary>{}</details>",
                     escape_markup(text.substr(0, at)), escape_markup(text.substr(at)));
}

std::string html_cell(const TextTable::Column& column, std::string_view content) {
  return column.align == Align::right
             ? fmt::format("<td class=\"number\" data-title=\"{}\">{}</td>",
                           escape_markup(column.title), content)
             : fmt::format("<td>{}</td>", content);
}

std::string html_table_head(const TextTable& table, std::string_view style) {
  std::string text = fmt::format("<table class=\"{}\">\n<thead><tr>", style);
  for (const TextTable::Column& column : table.columns) {
    text += fmt::format("<th{}>{}</th>", column.align == Align::right ? " class=\"number\"" : "",
                        escape_markup(column.title));
  }
  return text + "</tr></thead>\n<tbody>\n";
}

std::string html_table(const TextTable& table, std::string_view style) {
  std::string text = html_table_head(table, style);
  for (const auto& row : table.rows) {
    text += "<tr>";
    for (std::size_t i = 0; i < row.size(); ++i) {
      text += html_cell(table.columns[i], folded_html(row[i]));
    }
    text += "</tr>\n";
  }
  return text + "</tbody>\n</table>\n";
}

}  // namespace sonde
