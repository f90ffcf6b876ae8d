// Tables of the page. Every text is escaped here.
#pragma once

#include "analysis/report/table.hpp"

#include <string>
#include <string_view>

namespace sonde {

/// <table class=style>; style.css lays each style out anew on narrow screens.
std::string html_table(const TextTable& table, std::string_view style);

/// Its parts, for tables with cells of their own: up to <tbody>, and a cell with that markup.
std::string html_table_head(const TextTable& table, std::string_view style);
std::string html_cell(const TextTable::Column& column, std::string_view markup);

/// The text, folded if it is long: its first words are the summary.
std::string folded_html(std::string_view text);

}  // namespace sonde
