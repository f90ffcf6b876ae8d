#include "analysis/report/table.hpp"

#include "base/escape.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sonde {
namespace {

std::string join_padded(const std::vector<std::string>& cells, const TextTable& table,
                        const std::vector<std::size_t>& widths, std::string_view indent) {
  std::string line(indent);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i > 0) line += "  ";
    line += table.columns[i].align == Align::right ? fmt::format("{:>{}}", cells[i], widths[i])
                                                   : fmt::format("{:<{}}", cells[i], widths[i]);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

/// If the table is wider, continues the last column in further lines.
void wrap_last_column(TextTable& table, std::vector<std::size_t>& widths, std::size_t indent,
                      std::size_t width) {
  constexpr std::size_t least_width = 24;  // three or four words
  std::size_t before = indent;
  for (std::size_t i = 0; i + 1 < widths.size(); ++i) before += widths[i] + 2;
  const std::size_t left = std::max(least_width, width - std::min(width, before));
  if (widths.size() < 2 || widths.back() <= left || table.columns.back().align == Align::right) {
    return;
  }
  widths.back() = left;
  std::vector<std::vector<std::string>> rows;
  for (std::vector<std::string>& row : table.rows) {
    const std::vector<std::string> lines = wrap_text(row.back(), left);
    row.back() = lines.front();
    rows.push_back(std::move(row));
    for (std::size_t i = 1; i < lines.size(); ++i) {
      rows.emplace_back(table.columns.size());
      rows.back().back() = lines[i];
    }
  }
  table.rows = std::move(rows);
}

}  // namespace

std::string plain_table(const TextTable& raw, std::string_view indent, std::size_t width) {
  TextTable table = raw;
  for (auto& row : table.rows) std::ranges::transform(row, row.begin(), escape_terminal);
  std::vector<std::string> titles;
  std::vector<std::size_t> widths;
  for (const TextTable::Column& column : table.columns) {
    widths.push_back(titles.emplace_back(column.title).size());
  }
  for (const auto& row : table.rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  if (width > 0) wrap_last_column(table, widths, indent.size(), width);
  std::string text = join_padded(titles, table, widths, indent);
  for (const auto& row : table.rows) text += join_padded(row, table, widths, indent);
  return text;
}

std::vector<std::string> wrap_text(std::string_view text, std::size_t width) {
  std::vector<std::string> lines(1);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!lines.back().empty() && lines.back().size() + 1 + word.size() > width)
      lines.emplace_back();
    if (!lines.back().empty()) lines.back() += ' ';
    lines.back() += word;
  }
  return lines;
}

}  // namespace sonde
