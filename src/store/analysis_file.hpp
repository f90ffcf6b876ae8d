// What the reducer adds to a run file: the fleet's statistics, what deviates, and the verdicts. All
// else that `sonde export` prints stands in the file already.
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
  std::string kind{};
  std::string summary{};  // of a per-SM map: which number of it
  double scale = 0;
  double threshold = 0;
  bool ambiguous = false;
};

/// Something an operator may have to act on, as FleetFinding has it.
struct FlagRow {
  std::string uuid{};  // empty: it concerns a node, or the group
  std::string node{};
  std::string setting{};
  std::string metric{};
  std::string severity{};
  std::string likely_class{};
  std::string value{};
  std::string reference{};
  double deviation_fraction = 0;
  double score = 0;
  std::uint64_t n = 0;
  std::string unit{};
  std::string ground{};
  std::string reason{};
  std::string evidence{};
};

struct VerdictRow {
  std::string uuid;
  std::string verdict;  // pass, warn, fail, incomplete, lost
  std::string likely_class;
  std::string reason;
};

struct AnalysisRecord {
  std::vector<FleetRow> fleet{};
  std::vector<FlagRow> flags{};
  std::vector<VerdictRow> verdicts{};
};

// Tables in the group /analysis, which has names of its own.
BoundTable<FleetRow> fleet_table();
BoundTable<FlagRow> flag_table();
BoundTable<VerdictRow> verdict_table();

/// Writes `/analysis`, replacing an earlier one. One process alone. Works on a copy that is renamed
/// when whole: the run file is never at risk. @throws StoreError
void append_analysis(const std::filesystem::path& path, const AnalysisRecord& analysis);

}  // namespace sonde
