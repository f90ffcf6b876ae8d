// Tables in HDF5: one dataset per column, all attached to one dimension scale.
#pragma once

#include "store/hdf5/bound_table.hpp"
#include "store/hdf5/hdf5.hpp"
#include "store/hdf5/stored_file.hpp"
#include "store/plan.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace sonde {

/// Runs a step of writing so that all ranks learn whether it worked on every other before anyone
/// goes on.
using StepRunner = std::function<void(const std::function<void()>&)>;

/// A column that was written, and the CRC-32 of the bytes that should be there.
struct WrittenColumn {
  std::size_t column = 0;  // of the table
  std::uint32_t checksum = 0;
};

/// One part's rows of the columns that are gathered: their bytes, in the order of the plan.
std::string pack_gathered_columns(const FilePlan& plan, std::size_t part, const ColumnLoader& load);

/// Creates all dimensions and columns. Those with one value for all rows are done then, and those
/// that pack_gathered_columns made.
/// @param gathered of each part; none if these columns are written later
void create_tables(hid_t file, const FilePlan& plan, const std::vector<std::string>& gathered);

/// Writes rows of a column, packed as the plan wants them. One process alone.
void write_packed(hid_t file, const TablePlan& table, std::size_t column, RowRange rows,
                  const std::byte* packed);

/// The chunk that begins with this row, packed as its column wants it.
void write_chunk(hid_t file, const TablePlan& table, std::size_t column, std::uint64_t row,
                 const std::vector<std::uint8_t>& packed);

/// The same as write_packed of the columns that are neither small nor copied, by all ranks
/// together: with collective `transfer` each calls it for every table, also those without rows. In
/// several rounds, as many as the part with most rows needs.
/// @returns what check_written needs
std::vector<WrittenColumn> write_shared_columns(hid_t file, const FilePlan& plan,
                                                const TablePlan& table, std::size_t part,
                                                const ColumnLoader& load, hid_t transfer,
                                                const StepRunner& run_step);

/// Reads back what this part wrote of those columns. @throws StoreError if it is something else
void check_written(StoredFile& file, const TablePlan& table, std::size_t part,
                   const std::vector<WrittenColumn>& written);

/// Creates and writes tables that belong to one process alone.
void write_tables(hid_t file, const std::vector<Table>& tables);

}  // namespace sonde
