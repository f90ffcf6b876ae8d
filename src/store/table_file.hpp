// Tables in HDF5: one dataset per column, all attached to one dimension scale.
#pragma once

#include "store/bound_table.hpp"
#include "store/dataset.hpp"
#include "store/hdf5.hpp"
#include "store/plan.hpp"

#include <functional>

namespace sonde {

/// Runs a step of writing so that all ranks learn whether it worked on every other before anyone
/// goes on.
using StepRunner = std::function<void(const std::function<void()>&)>;

/// A column that was written, and the CRC-32 of the bytes that should be there.
struct WrittenColumn {
  std::size_t column = 0;  // of the table
  std::uint32_t checksum = 0;
};

/// Creates the table's dimension and columns; those with one value for all rows are done then.
void create_table(hid_t file, const TablePlan& plan);

/// Writes one part's rows where the plan puts them. One process alone.
void write_rows(hid_t file, const FilePlan& plan, const TablePlan& table, std::size_t part,
                const Table& rows);

/// The same of the columns worth compressing, by all ranks together: with collective `transfer`
/// each calls it for every table, also those without rows. In several rounds, as many as the part
/// with most rows needs.
/// @returns what check_written needs
std::vector<WrittenColumn> write_large_columns(hid_t file, const FilePlan& plan,
                                               const TablePlan& table, std::size_t part,
                                               const Table& rows, hid_t transfer,
                                               const StepRunner& run_step);

/// Reads back what this part wrote of those columns. @throws StoreError if it is something else
void check_written(hid_t file, const TablePlan& table, std::size_t part,
                   const std::vector<WrittenColumn>& written);

/// The other columns of one part's table, below 32 KiB each: their bytes, in the order of the plan.
/// Parallel HDF5 writes checksums only collectively, which takes longer than to gather them.
std::string pack_small_columns(const FilePlan& plan, const TablePlan& table, std::size_t part,
                               const Table& rows);

/// Writes what pack_small_columns made of the tables of each part, in their order. One process
/// alone.
void write_small_columns(hid_t file, const FilePlan& plan, const std::vector<std::string>& parts);

/// Creates and writes tables that belong to one process alone.
void write_tables(hid_t file, const std::vector<Table>& tables);

/// Number of rows of a table; 0 if the file has no such table. @throws StoreError
std::uint64_t count_rows(hid_t file, const TableKey& key);

/// Rows and columns of a table of the file with that key and those columns, without reading any of
/// its rows; of an empty one if the file has no such table.
TableShape read_shape(hid_t file, const Table& empty);

/// Some rows of some columns of a table.
/// @throws StoreError if the file does not have them, or they are not what these columns are: it is
///   damaged, or meant to do damage
Table read_rows(hid_t file, const TableKey& key, const std::vector<ColumnSpec>& columns,
                RowRange range, Writer writer = Writer::anyone);

}  // namespace sonde
