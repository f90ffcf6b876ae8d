// `/points`: the options of each point of a run, a row per point and a column per axis of its
// sweep. `/shared_jobs`: the jobs that points take from earlier ones. Also tells which runs can be
// joined.
#pragma once

#include "analysis/results.hpp"
#include "store/hdf5/stored_tables.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace sonde {

/// No tables for a run without sweep and repeats. @param names collects the texts of the tables
std::vector<Table> point_tables(const Provenance& provenance, Names& names);

/// Reads the points into a provenance that already has its axes. Without the table, the provenance
/// itself gives the only point.
/// @throws StoreError if the table is damaged
void read_points(const StoredTables& root, Provenance& provenance);

/// The index of the point with this hash; `points.size()` if there is none.
std::uint64_t index_of(const std::vector<Point>& points, const std::string& config_hash);

/// True if one of the points has this hash.
inline bool holds(const std::vector<Point>& points, const std::string& config_hash) {
  return index_of(points, config_hash) < points.size();
}

/// True if devices of both may stand in one file: the options that decide results are the same,
/// except the seed and those that both sweep.
bool can_join(const Provenance& one, const Provenance& other);

/// Adds the points of `more` that `all` lacks. If an axis has numbers in one of them and lists of
/// numbers ("20,21") in the other, it becomes texts.
/// @pre can_join
void join_points(const Provenance& more, Provenance& all);

}  // namespace sonde
