// The rows of every table in the file and the meaning of each column: the schema, in code.
// docs/file-format.md says the same for readers.
#pragma once

#include "analysis/results.hpp"
#include "store/analysis_file.hpp"
#include "store/bound_columns.hpp"

#include <string>

namespace sonde {

/// Grows with every change that a reader of an older version would misread.
inline constexpr int schema_version = 1;

struct DeviceRow {
  DeviceResult device;  // without its jobs
  RowRange carveouts;
};

struct OutcomeRow {
  std::uint64_t device_index = 0;
  std::uint64_t position = 0;  // of the job in the device's run
  Status status = Status::not_run;
  std::string reason;
  double elapsed_s = 0;
  RowRange probes;
  RowRange findings;
};

struct ProbeRow {
  std::uint64_t device_index = 0;
  ProbeRecord record;  // without its lanes and repeats
  RowRange lanes;
  RowRange repeats;
};

struct LaneRow {
  std::uint64_t device_index = 0;
  std::uint64_t probe_index = 0;
  LaneTrace lane;  // without its recorded values
  RowRange windows;
  RowRange visits;
  RowRange bins;
  RowRange clocks;
  RowRange timers;
};

/// Which member of a Value is meant: "none", "number", "text" or "vector".
struct FindingRow {
  std::uint64_t device_index = 0;
  std::string metric;
  std::string unit;
  std::string value_kind;
  double number = 0;  // NaN unless value_kind is "number"
  std::string text;
  RowRange vector;
  Status status = Status::ok;
  std::string reason;
  double confidence = 0;
  std::uint64_t samples = 0;
  double spread = 0;
};

namespace keys {
inline const TableKey devices{"devices", "device"};
inline const TableKey carveouts{"devices", "carveout"};
inline const TableKey unaudited{"unaudited", "unaudited"};
inline const TableKey fleet{"analysis/fleet", "statistic"};
inline const TableKey verdicts{"analysis/verdicts", "verdict_row"};
TableKey outcomes(const std::string& job);
TableKey probes(const std::string& job);
TableKey findings(const std::string& job);
TableKey vectors(const std::string& job);
/// Of the traces: "lane", "repeat", or the dimension of a Recording.
TableKey traces(const std::string& job, const std::string& dimension);
}  // namespace keys

BoundColumns<DeviceRow> device_columns();
BoundColumns<UnauditedDevice> unaudited_columns();
BoundColumns<OutcomeRow> outcome_columns(const std::string& job);
BoundColumns<ProbeRow> probe_columns(const std::string& job);
BoundColumns<LaneRow> lane_columns(const std::string& job);
BoundColumns<FindingRow> finding_columns(const std::string& job);
BoundColumns<FleetRow> fleet_columns();
BoundColumns<VerdictRow> verdict_columns();

/// One kind of value that lanes record, in a table of one column under `traces`.
template <class T>
struct Recording {
  std::vector<T> LaneTrace::*values;
  RowRange LaneRow::*rows;
  const char* dimension;
  ColumnSpec column;
};

/// Calls `visit` with every Recording, in the order of the file.
template <class Visit>
void for_each_recording(Visit&& visit) {
  using enum ElementType;
  visit(Recording<std::uint32_t>{
      &LaneTrace::window_cycles,
      &LaneRow::windows,
      "window",
      {"window_cycles", "cycle", "clock window of each recorded access", cycles}});
  visit(Recording<std::uint64_t>{
      &LaneTrace::offsets_bytes,
      &LaneRow::visits,
      "visit",
      {"offsets_bytes", "byte", "address of each recorded access in the buffer", u64}});
  visit(Recording<std::uint64_t>{
      &LaneTrace::histogram,
      &LaneRow::bins,
      "bin",
      {"histogram", "1", "timed accesses by window_cycles, last bin: or more", u64}});
  visit(Recording<std::uint64_t>{&LaneTrace::clock_cycles,
                                 &LaneRow::clocks,
                                 "clock",
                                 {"clock_cycles", "cycle", "timestamps by the SM clock", u64}});
  visit(Recording<std::uint64_t>{
      &LaneTrace::globaltimer_ns,
      &LaneRow::timers,
      "timer",
      {"globaltimer_ns", "ns", "timestamps by the device-wide timer", u64}});
}

/// Columns of the other tables that have only one.
inline const ColumnSpec carveout_column{"shared_carveouts_bytes", "byte",
                                        "possible shared parts of the L1", ElementType::u64};
inline const ColumnSpec repeat_column{"repeat_ns", "ns", "wall time of each repeat",
                                      ElementType::f64};
inline const ColumnSpec vector_column{
    "vector_values", "1", "elements of vectors, in the metric's unit", ElementType::f64};

}  // namespace sonde
