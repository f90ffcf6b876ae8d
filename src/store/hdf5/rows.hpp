// The rows of every table in the file and the meaning of each column: the schema, in code.
// docs/file-format.md says the same for readers. Outcomes and findings are in one table each, of
// all jobs; probes and traces of each job are in tables of their own.
#pragma once

#include "analysis/results.hpp"
#include "store/hdf5/bound_table.hpp"

#include <array>
#include <string>
#include <string_view>

namespace sonde {

struct DeviceRow {
  DeviceResult device;  // without its jobs
  RowRange carveouts;
  RowRange outcomes;  // in the order in which the jobs ran
};

struct OutcomeRow {
  std::uint64_t device_index = 0;
  JobResult result;  // without its probes and findings
  RowRange probes;   // the file has the length alone
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
  Finding finding;  // without its value, modes and interval
  std::string_view unit;
  std::string_view value_kind;
  double number = 0;      // NaN unless value_kind is "number"
  std::string_view text;  // empty unless it is "text"
  RowRange vector;
  RowRange modes;
  Interval interval;  // NaN if there is none
};

namespace keys {
inline const TableKey devices{"devices", "device"};
inline const TableKey carveouts{"devices", "carveout"};
inline const TableKey outcomes{"outcomes", "outcome"};
inline const TableKey findings{"findings", "finding"};
inline const TableKey vectors{"findings", "element"};
inline const TableKey modes{"findings", "mode"};
TableKey probes(const std::string& job);
/// Of the traces: "lane", "repeat", or the dimension of a Recording.
TableKey traces(const std::string& job, const std::string& dimension);
}  // namespace keys

BoundTable<DeviceRow> device_table();
BoundTable<UnauditedDevice> unaudited_table();
/// Probes are counted: those of a job lie in the order of its outcomes.
BoundTable<OutcomeRow> outcome_table();
BoundTable<FindingRow> finding_table();
BoundTable<ProbeRow> probe_table(const std::string& job);
BoundTable<LaneRow> lane_table(const std::string& job);
BoundTable<WindowCount> bin_table(const std::string& job);

// Tables of one column, whose rows are plain values.
BoundTable<std::uint64_t> carveout_table();
BoundTable<double> vector_table();
BoundTable<double> mode_table();
BoundTable<double> repeat_table(const std::string& job);
/// The addresses of lanes, in units of the visit_step_bytes of each.
BoundTable<std::uint64_t> visit_table(const std::string& job);

/// One kind of value that lanes record, in a table of its own under `traces`: those that the file
/// keeps as they are.
template <class T>
struct Recording {
  std::vector<T> LaneTrace::*values;
  RowRange LaneRow::*rows;
  const char* dimension;
  const char* column;
  const char* units;
  const char* long_name;

  BoundTable<T> table(const std::string& job) const {
    return value_table<T>(keys::traces(job, dimension), column, units, long_name);
  }
};

/// Calls `visit` with every Recording, in the order of the file.
template <class Visit>
void for_each_recording(Visit&& visit) {
  visit(Recording<std::uint32_t>{&LaneTrace::window_cycles, &LaneRow::windows, "window",
                                 "window_cycles", "cycle", "clock window of each recorded access"});
  visit(Recording<std::uint64_t>{&LaneTrace::clock_cycles, &LaneRow::clocks, "clock",
                                 "clock_cycles", "cycle", "timestamps by the SM clock"});
  visit(Recording<std::uint64_t>{&LaneTrace::globaltimer_ns, &LaneRow::timers, "timer",
                                 "globaltimer_ns", "ns", "timestamps by the device-wide timer"});
  visit(Recording<std::uint64_t>{&LaneTrace::counts, &LaneRow::counts, "count", "counts", "1",
                                 "counts of a program in a fixed order, all ones where unknown"});
}

}  // namespace sonde
