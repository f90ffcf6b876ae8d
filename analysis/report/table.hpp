// A table as data, the same for terminal and HTML.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sonde {

enum class Align { left, right };

struct TextTable {
  struct Column {
    std::string title;
    Align align = Align::left;
  };
  std::vector<Column> columns;
  std::vector<std::vector<std::string>> rows;  // each as long as columns
};

/// Columns padded with spaces, two between them, no rules. Each line starts with `indent` and has
/// no trailing space. Cells may hold any text: it is escaped.
/// @param width if the table is wider, the last column is wrapped at blanks into further lines of
/// at least 24 characters; 0: no wrapping
std::string plain_table(const TextTable& table, std::string_view indent, std::size_t width = 0);

/// Breaks a text at spaces into lines of at most `width` characters, unless a word is longer.
std::vector<std::string> wrap_text(std::string_view text, std::size_t width);

}  // namespace sonde
