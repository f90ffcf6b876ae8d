// Where the rows of some devices of a file lie in each of its tables.
#pragma once

#include "store/hdf5/stored_file.hpp"

#include <map>
#include <string>
#include <vector>

namespace sonde {

/// Rows of a part in each table of its file; those without any are left out.
using Places = std::map<TableKey, RowRange>;

/// Tables of a file that have rows.
using StoredTables = std::map<TableKey, StoredTable*>;
StoredTables find_tables(StoredFile& file, const std::vector<Table>& tables);

/// Of each table that has rows of those devices.
/// @param tables each behind those that own its rows @throws StoreError
Places place_devices(StoredFile& file, const StoredTables& stored, const std::vector<Table>& tables,
                     RowRange devices);

/// The same of the devices and probes alone, of files that have tables of outcomes for each job.
/// @throws StoreError
Places place_probes_by_job(StoredFile& file, const std::vector<std::string>& jobs,
                           RowRange devices);

/// Of all tables, with all their rows.
Places place_all(const StoredTables& stored);

}  // namespace sonde
