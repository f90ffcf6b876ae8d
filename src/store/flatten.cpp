// Ragged results become concatenated columns with offsets and lengths.
#include "store/flatten.hpp"

#include "analysis/metrics.hpp"
#include "store/rows.hpp"

#include <algorithm>
#include <limits>

namespace sonde {
namespace {

Table value_table(TableKey key, const ColumnSpec& column) {
  return {.key = std::move(key), .columns = {column}, .values = {empty_values(column.type)}};
}

/// Adds rows to a table of one column, and says where they lie.
template <class T>
RowRange append(Table& table, const std::vector<T>& more) {
  auto& values = std::get<std::vector<T>>(table.values.front());
  const RowRange range{values.size(), more.size()};
  values.insert(values.end(), more.begin(), more.end());
  return range;
}

struct JobTables {
  std::vector<ProbeRow> probes;
  std::vector<LaneRow> lanes;
  std::vector<FindingRow> findings;
  std::vector<Table> recordings;  // in the order of for_each_recording
  Table repeats, vectors;

  explicit JobTables(const std::string& job)
      : repeats(value_table(keys::traces(job, "repeat"), repeat_column)),
        vectors(value_table(keys::vectors(job), vector_column)) {
    for_each_recording([&](const auto& recording) {
      recordings.push_back(value_table(keys::traces(job, recording.dimension), recording.column));
    });
  }
};

void add_lane(JobTables& tables, const LaneTrace& lane) {
  LaneRow& row = tables.lanes.emplace_back();
  row.probe_index = tables.probes.size();
  row.lane.sm = lane.sm;
  row.lane.warp = lane.warp;
  row.lane.cluster = lane.cluster;
  row.lane.elapsed_cycles = lane.elapsed_cycles;
  row.lane.accesses = lane.accesses;
  auto table = tables.recordings.begin();
  for_each_recording([&](const auto& recording) {
    row.*recording.rows = append(*table++, lane.*recording.values);
  });
}

void add_probe(JobTables& tables, const ProbeRecord& record) {
  ProbeRow row;
  row.record.label = record.label;
  row.record.kind = record.kind;
  row.record.parameters_json = record.parameters_json;
  row.record.trace.conditions = record.trace.conditions;
  row.record.trace.shared_carveout_bytes = record.trace.shared_carveout_bytes;
  row.lanes = {tables.lanes.size(), record.trace.lanes.size()};
  row.repeats = append(tables.repeats, record.trace.repeat_ns);
  for (const LaneTrace& lane : record.trace.lanes) add_lane(tables, lane);
  tables.probes.push_back(std::move(row));
}

void add_finding(JobTables& tables, const Finding& finding) {
  FindingRow row;
  row.metric = finding.metric;
  if (const Metric* metric = find_metric(finding.metric)) row.unit = metric->unit;
  row.value_kind = "none";
  row.number = std::numeric_limits<double>::quiet_NaN();
  row.vector = append<double>(tables.vectors, {});
  if (const auto* number = std::get_if<double>(&finding.value)) {
    row.value_kind = "number";
    row.number = *number;
  } else if (const auto* text = std::get_if<std::string>(&finding.value)) {
    row.value_kind = "text";
    row.text = *text;
  } else if (const auto* vector = std::get_if<std::vector<double>>(&finding.value)) {
    row.value_kind = "vector";
    row.vector = append(tables.vectors, *vector);
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
  Table carveouts = value_table(keys::carveouts, carveout_column);
  if (device) {
    DeviceRow& row = rows.emplace_back();
    row.device.info = device->info;
    row.device.node = device->node;
    row.device.rank = device->rank;
    row.device.status = device->status;
    row.device.reason = device->reason;
    row.device.before = device->before;
    row.device.after = device->after;
    row.carveouts = append(carveouts, device->info.shared_carveouts_bytes);
  }
  return {make_table<DeviceRow>(keys::devices, device_columns(), rows), std::move(carveouts)};
}

std::vector<Table> flatten_unaudited(const std::vector<UnauditedDevice>& unaudited) {
  return {make_table<UnauditedDevice>(keys::unaudited, unaudited_columns(), unaudited)};
}

std::vector<Table> flatten_job(const std::string& job, const JobResult* result,
                               std::uint64_t position) {
  JobTables parts(job);
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
  for (Table& recording : parts.recordings) add(std::move(recording));
  add(std::move(parts.repeats));
  add(make_table<FindingRow>(keys::findings(job), finding_columns(job), parts.findings));
  add(std::move(parts.vectors));
  return tables;
}

void for_each_table(const RunPart& part, const std::vector<std::string>& jobs,
                    const std::function<void(const Table&)>& visit) {
  const auto visit_all = [&visit](const std::vector<Table>& tables) {
    for (const Table& table : tables) visit(table);
  };
  visit_all(flatten_device(part.device));
  visit_all(flatten_unaudited(part.unaudited));
  for (const std::string& job : jobs) {
    const JobResult* result = nullptr;
    std::uint64_t position = 0;
    if (part.device) {
      const auto& all = part.device->jobs;
      const auto found = std::ranges::find(all, job, &JobResult::job);
      position = static_cast<std::uint64_t>(found - all.begin());
      if (found != all.end()) result = &*found;
    }
    visit_all(flatten_job(job, result, position));
  }
}

}  // namespace sonde
