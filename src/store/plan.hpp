// Where the rows of every part come to lie in a file, known before anything is written.
#pragma once

#include "store/flatten.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace sonde {

/// What must be known of a column before its rows are written.
struct ColumnShape {
  std::size_t element_bytes = 0;
  std::vector<std::uint8_t> constant;  // the value, as the file keeps it, if all rows have one
};

/// Rows and columns of one table in one part.
struct TableShape {
  std::uint64_t rows = 0;
  std::vector<ColumnShape> columns;
};
TableShape shape_of(const Table& table);

/// What ranks exchange before they write: jobs in the order they ran, tables by their dimension.
struct PartShape {
  std::vector<std::string> jobs;
  std::map<std::string, TableShape> tables;
};

/// @throws Error if a job occurs twice, or its name cannot be a group's
PartShape shape_of(const RunPart& part);
void add_table(PartShape& shape, const Table& table);
void add_table(PartShape& shape, const TableKey& key, TableShape table);

std::string to_json(const PartShape& shape);
PartShape shape_from_json(const std::string& text);

/// One table of the file, with the place of each part's rows.
struct TablePlan {
  TableKey key;
  std::vector<ColumnSpec> columns;
  std::vector<ColumnShape> shapes;  // of the columns, over all parts
  std::uint64_t rows = 0;
  std::uint64_t most_rows = 0;           // of one part
  std::vector<std::uint64_t> first_row;  // of each part

  std::uint64_t rows_of(std::size_t part) const {
    return (part + 1 < first_row.size() ? first_row[part + 1] : rows) - first_row[part];
  }
};

struct FilePlan {
  std::vector<std::string> jobs;  // in the order of their first appearance
  std::vector<TablePlan> tables;

  /// First row of a part in the table that a column counts; 0 for columns that count none.
  std::uint64_t shift(const ColumnSpec& column, std::size_t part) const;
};

/// Of a table that no other part shares.
TablePlan plan_alone(const Table& table);

/// The same on every rank, given the same shapes.
FilePlan make_plan(const std::vector<PartShape>& parts);

}  // namespace sonde
