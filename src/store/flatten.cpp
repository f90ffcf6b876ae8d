// Ragged results become concatenated columns with offsets and lengths.
#include "store/flatten.hpp"

#include "analysis/metrics.hpp"
#include "store/rows.hpp"

#include <limits>

namespace sonde {
namespace {

/// A table of one column of recorded values that grows lane by lane.
template <class T>
class ValueTable {
 public:
  RowRange add(const std::vector<T>& more) {
    const RowRange range{values_.size(), more.size()};
    values_.insert(values_.end(), more.begin(), more.end());
    return range;
  }
  Table take(TableKey key, ColumnSpec column) {
    return {std::move(key), {std::move(column)}, {std::move(values_)}};
  }

 private:
  std::vector<T> values_;
};

struct JobTables {
  std::vector<ProbeRow> probes;
  std::vector<LaneRow> lanes;
  std::vector<FindingRow> findings;
  ValueTable<std::uint32_t> windows;
  ValueTable<std::uint64_t> visits, bins, clocks, timers;
  ValueTable<double> repeats, vectors;
};

void add_probe(JobTables& tables, const ProbeRecord& record) {
  ProbeRow row;
  row.record.label = record.label;
  row.record.kind = record.kind;
  row.record.parameters_json = record.parameters_json;
  row.record.trace.conditions = record.trace.conditions;
  row.record.trace.shared_carveout_bytes = record.trace.shared_carveout_bytes;
  row.lanes = {tables.lanes.size(), record.trace.lanes.size()};
  row.repeats = tables.repeats.add(record.trace.repeat_ns);
  for (const LaneTrace& lane : record.trace.lanes) {
    LaneRow lane_row;
    lane_row.probe_index = tables.probes.size();
    lane_row.lane.sm = lane.sm;
    lane_row.lane.warp = lane.warp;
    lane_row.lane.cluster = lane.cluster;
    lane_row.lane.elapsed_cycles = lane.elapsed_cycles;
    lane_row.lane.accesses = lane.accesses;
    lane_row.windows = tables.windows.add(lane.window_cycles);
    lane_row.visits = tables.visits.add(lane.offsets_bytes);
    lane_row.bins = tables.bins.add(lane.histogram);
    lane_row.clocks = tables.clocks.add(lane.clock_cycles);
    lane_row.timers = tables.timers.add(lane.globaltimer_ns);
    tables.lanes.push_back(std::move(lane_row));
  }
  tables.probes.push_back(std::move(row));
}

void add_finding(JobTables& tables, const Finding& finding) {
  FindingRow row;
  row.metric = finding.metric;
  if (const Metric* metric = find_metric(finding.metric)) row.unit = metric->unit;
  row.value_kind = "none";
  row.number = std::numeric_limits<double>::quiet_NaN();
  if (const auto* number = std::get_if<double>(&finding.value)) {
    row.value_kind = "number";
    row.number = *number;
  } else if (const auto* text = std::get_if<std::string>(&finding.value)) {
    row.value_kind = "text";
    row.text = *text;
  }
  if (const auto* vector = std::get_if<std::vector<double>>(&finding.value)) {
    row.value_kind = "vector";
    row.vector = tables.vectors.add(*vector);
  } else {
    row.vector = tables.vectors.add({});
  }
  row.status = finding.status;
  row.reason = finding.reason;
  row.confidence = finding.confidence;
  row.samples = finding.samples;
  row.spread = finding.spread;
  tables.findings.push_back(std::move(row));
}

}  // namespace

std::vector<Table> flatten_device(const DeviceResult* device) {
  std::vector<DeviceRow> rows;
  ValueTable<std::uint64_t> carveouts;
  if (device) {
    DeviceRow& row = rows.emplace_back();
    row.device.info = device->info;
    row.device.node = device->node;
    row.device.rank = device->rank;
    row.device.status = device->status;
    row.device.reason = device->reason;
    row.device.before = device->before;
    row.device.after = device->after;
    row.carveouts = carveouts.add(device->info.shared_carveouts_bytes);
  }
  std::vector<Table> tables;
  tables.push_back(make_table<DeviceRow>(keys::devices, device_columns(), rows));
  tables.push_back(carveouts.take(keys::carveouts, carveout_column()));
  return tables;
}

std::vector<Table> flatten_unaudited(const std::vector<UnauditedDevice>& unaudited) {
  return {make_table<UnauditedDevice>(keys::unaudited, unaudited_columns(), unaudited)};
}

std::vector<Table> flatten_job(const std::string& job, const JobResult* result,
                               std::uint64_t position) {
  JobTables parts;
  std::vector<OutcomeRow> outcomes;
  if (result) {
    for (const ProbeRecord& record : result->probes) add_probe(parts, record);
    for (const Finding& finding : result->findings) add_finding(parts, finding);
    OutcomeRow& outcome = outcomes.emplace_back();
    outcome.position = position;
    outcome.status = result->status;
    outcome.reason = result->reason;
    outcome.elapsed_s = result->elapsed_s;
    outcome.probes = {0, parts.probes.size()};
    outcome.findings = {0, parts.findings.size()};
  }
  std::vector<Table> tables;
  const auto add = [&tables](Table table) { tables.push_back(std::move(table)); };
  add(make_table<OutcomeRow>(keys::outcomes(job), outcome_columns(job), outcomes));
  add(make_table<ProbeRow>(keys::probes(job), probe_columns(job), parts.probes));
  add(make_table<LaneRow>(keys::traces(job, "lane"), lane_columns(job), parts.lanes));
  add(parts.windows.take(keys::traces(job, "window"), window_column()));
  add(parts.visits.take(keys::traces(job, "visit"), visit_column()));
  add(parts.bins.take(keys::traces(job, "bin"), bin_column()));
  add(parts.clocks.take(keys::traces(job, "clock"), clock_column()));
  add(parts.timers.take(keys::traces(job, "timer"), timer_column()));
  add(parts.repeats.take(keys::traces(job, "repeat"), repeat_column()));
  add(make_table<FindingRow>(keys::findings(job), finding_columns(job), parts.findings));
  add(parts.vectors.take(keys::vectors(job), vector_column()));
  return tables;
}

}  // namespace sonde
