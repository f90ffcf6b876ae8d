// `/points`: the options of each point of a run, one row per point, with a column for each axis of
// its sweep. A run without sweep and repeats has no such table.
#pragma once

#include "analysis/results.hpp"
#include "store/hdf5/stored_tables.hpp"

#include <vector>

namespace sonde {

/// None of a run without. @param names get the texts
std::vector<Table> point_tables(const Provenance& provenance, Names& names);

/// The points of the file; of one without that table the point of its provenance.
/// @param provenance with its axes
/// @throws StoreError if the table is damaged
void read_points(const StoredTables& root, Provenance& provenance);

}  // namespace sonde
