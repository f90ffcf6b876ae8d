// The rows of every table in the file and the meaning of each column: the schema, in code.
// docs/file-format.md says the same for readers. Outcomes and findings are in one table each, of
// all jobs; in a shard each job has its own.
#pragma once

#include "analysis/results.hpp"
#include "store/hdf5/bound_table.hpp"

#include <array>
#include <string>
#include <string_view>

namespace sonde {

/// How a file has its tables, and the schema version that says so: shards have outcomes and
/// findings in tables for each job, run files in one table of each.
enum class Layout { by_job = 7, joined = 8 };

struct DeviceRow {
  DeviceResult device;  // without its jobs
  RowRange carveouts;
  RowRange outcomes;  // in the order in which the jobs ran
};

struct OutcomeRow {
  std::uint64_t device_index = 0;
  std::uint64_t position = 0;  // by job: of the job in the device's run
  JobResult result;            // without its probes and findings
  RowRange probes;             // joined: the file has the length alone
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
  std::uint64_t visit_step_bytes = 1;
  RowRange visits;
  RowRange bins;
  RowRange clocks;
  RowRange timers;
  RowRange counts;
};

/// Which member of a Value is meant, in the order of its alternatives.
inline constexpr std::array<std::string_view, 4> value_kinds{"none", "number", "text", "vector"};

struct FindingRow {
  std::uint64_t device_index = 0;
  Finding finding;  // without its value, modes and interval; joined: without its reason
  std::string_view unit;
  std::string_view value_kind;
  double number = 0;  // NaN unless value_kind is "number"
  std::string text;   // not joined
  RowRange vector;
  RowRange modes;
  RowRange text_bytes;  // joined
  RowRange reason_bytes;
  Interval interval;  // NaN if there is none
};

/// Of the device table: which of the run's points.
inline constexpr const char* point_column = "point_index";

namespace keys {
inline const TableKey devices{"devices", "device"};
inline const TableKey carveouts{"devices", "carveout"};
/// All different texts of the columns of names.
inline const TableKey names{"names", "name"};
// Of all jobs, or of one.
TableKey outcomes(const std::string& job = "");
TableKey findings(const std::string& job = "");
TableKey vectors(const std::string& job = "");
TableKey modes(const std::string& job = "");
TableKey probes(const std::string& job);
/// Of the traces: "lane", "repeat", or the dimension of a Recording.
TableKey traces(const std::string& job, const std::string& dimension);
}  // namespace keys

BoundTable<DeviceRow> device_table(Layout layout = Layout::joined);
BoundTable<UnauditedDevice> unaudited_table();
/// Of all jobs. Probes are counted: those of a job lie in the order of its outcomes.
BoundTable<OutcomeRow> outcome_table();
BoundTable<OutcomeRow> outcome_table(const std::string& job);
BoundTable<ProbeRow> probe_table(const std::string& job);
BoundTable<LaneRow> lane_table(const std::string& job);
BoundTable<WindowCount> bin_table(const std::string& job);
/// Of all jobs, with texts of any length byte by byte.
BoundTable<FindingRow> finding_table();
BoundTable<FindingRow> finding_table(const std::string& job);

/// A table of one column, whose rows are plain values.
template <class T>
struct ValueTable {
  using Values = std::vector<T>;
  TableKey key;
  ColumnSpec column;
};
ValueTable<std::string> name_table();
ValueTable<std::uint64_t> carveout_table();
ValueTable<double> vector_table(const std::string& job = "");
ValueTable<double> mode_table(const std::string& job = "");
/// UTF-8 of texts, and of reasons, of the findings of all jobs.
ValueTable<std::uint8_t> text_table();
ValueTable<std::uint8_t> reason_table();
ValueTable<double> repeat_table(const std::string& job);
/// The addresses of lanes, in units of the visit_step_bytes of each.
ValueTable<std::uint64_t> visit_table(const std::string& job);

/// One kind of value that lanes record, in a table of its own under `traces`: those that the file
/// keeps as they are.
template <class T>
struct Recording {
  std::vector<T> LaneTrace::*values;
  RowRange LaneRow::*rows;
  const char* dimension;
  ColumnSpec column;

  ValueTable<T> table(const std::string& job) const {
    return {keys::traces(job, dimension), column};
  }
};

/// Calls `visit` with every Recording, in the order of the file.
template <class Visit>
void for_each_recording(Visit&& visit) {
  visit(Recording<std::uint32_t>{
      &LaneTrace::window_cycles,
      &LaneRow::windows,
      "window",
      {"window_cycles", "cycle", "clock window of each recorded access", ElementType::u32}});
  visit(Recording<std::uint64_t>{
      &LaneTrace::clock_cycles,
      &LaneRow::clocks,
      "clock",
      {"clock_cycles", "cycle", "timestamps by the SM clock", ElementType::u64}});
  visit(Recording<std::uint64_t>{
      &LaneTrace::globaltimer_ns,
      &LaneRow::timers,
      "timer",
      {"globaltimer_ns", "ns", "timestamps by the device-wide timer", ElementType::u64}});
  visit(Recording<std::uint64_t>{
      &LaneTrace::counts,
      &LaneRow::counts,
      "count",
      {"counts", "1", "counts of a program in a fixed order, all ones where unknown",
       ElementType::u64}});
}

}  // namespace sonde
