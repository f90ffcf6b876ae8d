// The top of every file of sonde: the schema version and the provenance.
#pragma once

#include "analysis/results.hpp"
#include "store/hdf5/stored_tables.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace sonde {

/// Increases with every change that an older reader would misread.
inline constexpr std::uint64_t schema_version = 1;

/// Writes the version and the provenance without its points (points.hpp).
void write_header(hid_t file, const Provenance& provenance);

/// @param root the tables of the file itself
/// @returns a provenance with at least one point
/// @throws StoreError if sonde did not write the file, or with another schema version
Provenance read_header(hid_t file, const StoredTables& root);

/// A GPU that a run is to measure, and the rank that measures it.
struct RosterEntry {
  std::string uuid;
  std::string node;
  int rank = 0;
};

/// The plan of a run for its devices: with the shards, enough to build the run file.
struct Roster {
  Provenance provenance;
  std::vector<RosterEntry> devices{};
  std::vector<UnauditedDevice> unaudited{};
  /// True if devices may have different numbers of points, without any of them being missing: the
  /// run repeats its points until a time budget is over.
  bool open_end = false;
};
std::string to_json(const Roster& roster);
/// @throws StoreError if the text is not what to_json gave
Roster roster_from_json(const std::string& text);

}  // namespace sonde
