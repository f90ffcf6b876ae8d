// Where the rows of every part come to lie in a file, known before anything is written.
#pragma once

#include "store/hdf5/flatten.hpp"
#include "store/hdf5/table.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <unordered_map>
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
  /// Of the only column of a table in a shard, if its chunks are packed as those of a run file;
  /// else 0.
  std::uint64_t chunk_rows = 0;
};
TableShape shape_of(const Table& table);

/// What ranks exchange before they write: jobs with probes in the order they ran, texts of columns
/// of names, tables by their dimension, but for those without rows.
struct PartShape {
  std::vector<std::string> jobs;
  Names names{};
  std::map<std::string, TableShape> tables;
  std::filesystem::path shard;  // that holds them; empty if they are in memory

  std::uint64_t rows_of(const TableKey& key) const;
  TableShape of(const TableKey& key) const;  // without columns if the part has no such table
};

/// @throws Error if a job occurs twice, or its name cannot be a group's
PartShape shape_of(const RunPart& part);
void add_table(PartShape& shape, const Table& table);
void add_table(PartShape& shape, const TableKey& key, TableShape table);

/// Without the path, which need not be UTF-8.
std::string to_json(const PartShape& shape);
PartShape shape_from_json(const std::string& text);

/// Rows of a whole chunk. A column with fewer rows is one chunk of as many as it has.
std::uint64_t chunk_rows(std::size_t element_bytes);

/// How a column comes into the file: not at all but for its one value; gathered, and written by one
/// process; by one process, chunk by chunk as the shards have packed them; or by those who have its
/// rows.
enum class Storage { constant, gathered, copied, shared };

/// Columns of one chunk are gathered, as no others could help to pack it: some 500, below 250 MB.
/// The rest is, too, if all together has no more bytes than this: 0.2 s for one process, about what
/// it takes ranks to come together for each of the rest.
constexpr std::uint64_t most_gathered_bytes = 32 << 20;

/// One table of the file, with the place of each part's rows. Rows between two parts belong to
/// nobody.
struct TablePlan {
  TableKey key;
  std::vector<ColumnSpec> columns;
  std::vector<ColumnShape> shapes;  // of the columns, over all parts
  std::uint64_t rows = 0;
  std::vector<std::uint64_t> first_row;  // of each part
  std::vector<std::uint64_t> part_rows;  // of each part
  std::vector<Storage> storage;          // of each column

  std::uint64_t most_rows() const;  // of one part
  std::vector<std::size_t> columns_of(Storage storage) const;
};

/// Some of a part's rows of one column of the file, counted from the part's first, maybe none; as
/// wide as the part has them. Rows of other tables are counted from the part's first, too.
/// @throws StoreError
using ColumnLoader =
    std::function<PackedColumn(const TablePlan& table, std::size_t column, RowRange rows)>;

struct FilePlan {
  std::vector<std::string> jobs;  // with probes, in the order of their first appearance
  Names names;                    // of all parts, likewise
  std::unordered_map<std::string, std::uint32_t> name_places;
  std::vector<TablePlan> tables;
  std::vector<std::filesystem::path> shards;  // of each part; empty if it is in memory

  /// First row of a part in the table that a column counts; 0 for columns that count none.
  std::uint64_t shift(const ColumnSpec& column, std::size_t part) const;
  /// Rows of a part as the file wants them.
  PackedColumn fit(const TablePlan& table, std::size_t column, std::size_t part,
                   PackedColumn rows) const;
  bool has(Storage storage) const;  // any column
};

/// Of a table that no other part shares.
TablePlan plan_alone(const Table& table);

/// The same on every rank, given the same shapes.
/// @param gathered_bytes see most_gathered_bytes; no limit if one process writes all
FilePlan make_plan(const std::vector<PartShape>& parts,
                   std::uint64_t gathered_bytes = most_gathered_bytes);

}  // namespace sonde
