// `/points`: the options of each point of a run, one row per point, with a column for each axis of
// its sweep. A run without sweep and repeats has no such table.
#pragma once

#include "analysis/results.hpp"
#include "store/hdf5/stored_file.hpp"

namespace sonde {

void write_points(hid_t file, const Provenance& provenance);

/// Axes and points of the file; of one without that table the point of its provenance.
/// @throws StoreError if the table is damaged
void read_points(StoredFile& file, Provenance& provenance);

}  // namespace sonde
