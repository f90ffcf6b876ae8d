// What stands at the top of every file of sonde: the schema version and the provenance.
#pragma once

#include "analysis/results.hpp"
#include "store/hdf5/stored_tables.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace sonde {

/// Grows with every change that a reader of an older version would misread.
inline constexpr std::uint64_t schema_version = 10;

/// All but the points (points.hpp).
void write_header(hid_t file, const Provenance& provenance);

/// The provenance has one point at least. @param root the tables of the file itself
/// @throws StoreError if the file is not of sonde, or of another schema version
Provenance read_header(hid_t file, const StoredTables& root);

/// A GPU that a run is to measure, and who does it.
struct RosterEntry {
  std::string uuid;
  std::string node;
  int rank = 0;
};

/// What a run set out to do: what is needed beside the shards to build its file.
struct Roster {
  Provenance provenance;
  std::vector<RosterEntry> devices{};
  std::vector<UnauditedDevice> unaudited{};
  /// The points are those that there is time for: one that no device has begun is none.
  bool open_end = false;
};
std::string to_json(const Roster& roster);
/// @throws StoreError if the text is not what to_json gave
Roster roster_from_json(const std::string& text);

}  // namespace sonde
