// `/points`: the options of each point of a run, one row per point, with a column for each axis of
// its sweep; `/shared_jobs`: what points take from earlier ones; and the points of runs that may
// stand in one file.
#pragma once

#include "analysis/results.hpp"
#include "store/hdf5/stored_tables.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace sonde {

/// None of a run without sweep and repeats. @param names get the texts
std::vector<Table> point_tables(const Provenance& provenance, Names& names);

/// The points of the file; of one without that table the point of its provenance.
/// @param provenance with its axes
/// @throws StoreError if the table is damaged
void read_points(const StoredTables& root, Provenance& provenance);

/// Where the point with this hash stands among them; their number if it does not.
std::uint64_t index_of(const std::vector<Point>& points, const std::string& config_hash);

inline bool holds(const std::vector<Point>& points, const std::string& config_hash) {
  return index_of(points, config_hash) < points.size();
}

/// Whether their devices may stand in one file: all that decides the results is the same, but for
/// the seed and what both sweep.
bool can_join(const Provenance& one, const Provenance& other);

/// Adds the points of one to those of the other that it lacks. Where one sweep has numbers and the
/// other lists of them ("20,21"), both are texts from then on.
/// @pre can_join
void join_points(const Provenance& more, Provenance& all);

}  // namespace sonde
