// A table as data, so that terminal and HTML show the same one.
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

/// Cells may hold any text: each of these escapes them for its medium.
/// Columns padded with spaces, two between them, no rules; each line starts with `indent` and has
/// no trailing space.
/// @param width wider tables have their last column wrapped to lines of their own, at blanks; it
/// keeps 24 characters at least; 0: none is
std::string plain_table(const TextTable& table, std::string_view indent, std::size_t width = 0);

/// Breaks a text at spaces into lines of at most `width` characters where words allow.
std::vector<std::string> wrap_text(std::string_view text, std::size_t width);

}  // namespace sonde
