// The rows of every table in the file: the schema as code (for readers: docs/file-format.md).
#pragma once

#include "analysis/results.hpp"
#include "store/hdf5/bound_table.hpp"

#include <array>
#include <string_view>

namespace sonde {

struct DeviceRow {
  DeviceResult device;  // without its jobs
  RowRange carveouts;
  RowRange outcomes;  // in the order in which jobs ran
};

struct OutcomeRow {
  std::uint64_t device_index = 0;
  JobResult result;  // without its probes and findings
  RowRange probes;
  RowRange findings;
};

/// The kinds of values that lanes record; each kind has its own dimension. The rows of a probe's
/// lanes follow each other: the probe has the first row, each lane its number of rows.
namespace recorded {
enum Kind : std::size_t { windows, bins, clocks, timers, counts };
inline constexpr std::array<const char*, 5> dimensions{"window", "bin", "clock", "timer", "count"};
template <class T>
using ByKind = std::array<T, dimensions.size()>;
}  // namespace recorded

struct ProbeRow {
  std::uint64_t device_index = 0;
  ProbeRecord record;  // without its lanes and repeats
  RowRange lanes;
  RowRange repeats;
  RowRange long_windows;
  recorded::ByKind<std::uint64_t> first_recorded{};
};

struct LaneRow {
  std::int32_t sm = -1;
  std::int32_t warp = 0;
  std::int32_t cluster = -1;
  std::uint64_t elapsed_cycles = 0;
  std::uint64_t accesses = 0;
  std::uint32_t list = 0;  // row of its addresses, a ListRow
  recorded::ByKind<std::uint32_t> recorded{};
};

/// A list of addresses, which several lanes may share: one round of it, in units of a step.
struct ListRow {
  std::uint64_t step_bytes = 1;
  RowRange visits;
};

/// Stands for any window of this length or more; the next value of long_cycles is its length.
inline constexpr std::uint16_t long_window = 65535;

/// Names of the alternatives of a Value, in their order.
inline constexpr std::array<std::string_view, 4> value_kinds{"none", "number", "text", "vector"};

struct FindingRow {
  std::uint64_t device_index = 0;
  Finding finding;  // without its value, modes and interval
  std::string_view unit;
  std::string_view value_kind;
  double number = 0;      // NaN unless value_kind is "number"
  std::string_view text;  // empty unless value_kind is "text"
  RowRange vector;
  RowRange modes;
  Interval interval;  // NaN if there is none
};

/// The rows of the tables of findings. @param Rows holds those of one table
template <template <class> class Rows>
struct FindingTables {
  Rows<FindingRow> findings;
  Rows<double> vectors;
  Rows<double> modes;
};

/// The rows of the tables of probes and their traces.
template <template <class> class Rows>
struct ProbeTables {
  Rows<ProbeRow> probes;
  Rows<LaneRow> lanes;
  Rows<ListRow> lists;
  Rows<std::uint64_t> visits;
  Rows<std::uint16_t> windows;
  Rows<std::uint32_t> long_windows;
  Rows<WindowCount> bins;
  Rows<std::uint64_t> clocks, timers, counts;
  Rows<double> repeats;
};

/// The group and the dimension of each table.
namespace keys {
inline const TableKey devices{"devices", "device"};
inline const TableKey carveouts{"devices", "carveout"};
inline const TableKey outcomes{"outcomes", "outcome"};
inline const TableKey findings{"findings", "finding"};
inline const TableKey vectors{"findings", "element"};
inline const TableKey modes{"findings", "mode"};
inline const TableKey probes{"probes", "probe"};
inline const TableKey lanes{"traces", "lane"};
inline const TableKey lists{"traces", "list"};
inline const TableKey visits{"traces", "visit"};
inline const TableKey repeats{"traces", "repeat"};
inline const TableKey long_windows{"traces", "long_window"};
inline TableKey recorded(std::size_t kind) {
  return {"traces", sonde::recorded::dimensions.at(kind)};
}
}  // namespace keys

// The tables with their columns.
BoundTable<DeviceRow> device_table();
BoundTable<UnauditedDevice> unaudited_table();
BoundTable<OutcomeRow> outcome_table();
BoundTable<FindingRow> finding_table();
BoundTable<ProbeRow> probe_table();
BoundTable<LaneRow> lane_table();
BoundTable<ListRow> list_table();
BoundTable<WindowCount> bin_table();

// Tables of one column.
inline const ValueTable<std::uint64_t> carveout_table{keys::carveouts, "shared_carveouts_bytes",
                                                      "byte", "possible shared parts of the L1"};
inline const ValueTable<double> vector_table{keys::vectors, "vector_values", "1",
                                             "elements of vectors, in the metric's unit"};
inline const ValueTable<double> mode_table{keys::modes, "mode_values", "1",
                                           "centers of groups of values, in the metric's unit"};
inline const ValueTable<double> repeat_table{keys::repeats, "repeat_ns", "ns",
                                             "wall time of each repeat"};
inline const ValueTable<std::uint64_t> visit_table{keys::visits, "visit_steps", "1",
                                                   "addresses of a list in the buffer, one round"};
inline const ValueTable<std::uint16_t> window_table{
    keys::recorded(recorded::windows), "window_cycles", "cycle",
    "clock window of each recorded access; 65535: the next of long_cycles"};
inline const ValueTable<std::uint32_t> long_window_table{keys::long_windows, "long_cycles", "cycle",
                                                         "clock windows of 65535 cycles or more"};
inline const ValueTable<std::uint64_t> clock_table{keys::recorded(recorded::clocks), "clock_cycles",
                                                   "cycle", "timestamps by the SM clock"};
inline const ValueTable<std::uint64_t> timer_table{keys::recorded(recorded::timers),
                                                   "globaltimer_ns", "ns",
                                                   "timestamps by the device-wide timer"};
inline const ValueTable<std::uint64_t> count_table{
    keys::recorded(recorded::counts), "counts", "1",
    "counts of a program in a fixed order, all ones where unknown"};

}  // namespace sonde
