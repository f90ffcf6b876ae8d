// What the reducer adds to a run file: the fleet's statistics and the verdicts, as tables and as
// the JSON text of `sonde export`.
#pragma once

#include "store/hdf5/bound_table.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace sonde {

/// One metric over the devices of one comparison group, in the metric's unit. In the order of the
/// file's columns.
struct FleetRow {
  std::string group{};
  std::string metric{};
  std::string unit{};
  std::uint64_t n = 0;
  double median = 0;
  double mad = 0;
  double min = 0;
  double max = 0;
  double cv = 0;
  std::string consensus{};  // structural metrics: the value of the plurality
  std::uint64_t agreeing = 0;
  std::string outliers{};  // UUIDs, separated by blanks
};

struct VerdictRow {
  std::string uuid;
  std::string verdict;  // pass, warn, fail, incomplete, lost
  std::string likely_class;
  std::string reason;
};

struct AnalysisRecord {
  std::string json{};
  std::vector<FleetRow> fleet{};
  std::vector<VerdictRow> verdicts{};
};

BoundTable<FleetRow> fleet_table();
BoundTable<VerdictRow> verdict_table();

/// Writes `/analysis`, replacing an earlier one. One process alone. Works on a copy that is renamed
/// when whole: the run file is never at risk. @throws StoreError
void append_analysis(const std::filesystem::path& path, const AnalysisRecord& analysis);

}  // namespace sonde
