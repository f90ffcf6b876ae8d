// Ragged results become concatenated columns with offsets and lengths.
#include "store/hdf5/flatten.hpp"

#include "analysis/metrics.hpp"
#include "store/hdf5/rows.hpp"
#include "store/stored_jobs.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <numeric>

namespace sonde {
namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

template <class T>
Table empty_table(const ValueTable<T>& values) {
  return {.key = values.key, .columns = {values.column}, .values = {std::vector<T>{}}};
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
  std::vector<WindowCount> bins;
  Table visits, repeats, vectors, modes;

  explicit JobTables(const std::string& job)
      : visits(empty_table(visit_table(job))),
        repeats(empty_table(repeat_table(job))),
        vectors(empty_table(vector_table(job))),
        modes(empty_table(mode_table(job))) {
    for_each_recording(
        [&](const auto& recording) { recordings.push_back(empty_table(recording.table(job))); });
  }
};

/// The largest number that divides all; 1 if they are all 0.
std::uint64_t common_step(const std::vector<std::uint64_t>& offsets) {
  std::uint64_t step = 0;
  for (const std::uint64_t offset : offsets) {
    if (step != 1) step = std::gcd(step, offset);
  }
  return std::max<std::uint64_t>(step, 1);
}

void add_visits(JobTables& tables, LaneRow& row, const LaneTrace& lane) {
  row.visit_step_bytes = common_step(lane.offsets_bytes);
  auto& steps = std::get<std::vector<std::uint64_t>>(tables.visits.values.front());
  row.visits = {steps.size(), lane.offsets_bytes.size()};
  for (const std::uint64_t offset : lane.offsets_bytes) {
    steps.push_back(offset / row.visit_step_bytes);
  }
}

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
  add_visits(tables, row, lane);
  row.bins = {tables.bins.size(), lane.histogram.size()};
  std::ranges::copy(lane.histogram, std::back_inserter(tables.bins));
}

void add_probe(JobTables& tables, const ProbeRecord& record) {
  ProbeRow row;
  row.record.label = record.label;
  row.record.kind = record.kind;
  row.record.parameters_json = record.parameters_json;
  row.record.trace.conditions = record.trace.conditions;
  row.record.trace.shared_carveout_bytes = record.trace.shared_carveout_bytes;
  row.record.trace.buffer_offset_bytes = record.trace.buffer_offset_bytes;
  row.record.trace.device_s = record.trace.device_s;
  row.lanes = {tables.lanes.size(), record.trace.lanes.size()};
  row.repeats = append(tables.repeats, record.trace.repeat_ns);
  for (const LaneTrace& lane : record.trace.lanes) add_lane(tables, lane);
  tables.probes.push_back(std::move(row));
}

void add_finding(JobTables& tables, const Finding& finding) {
  FindingRow& row = tables.findings.emplace_back();
  row.finding = finding;
  if (const Metric* metric = find_metric(finding.metric)) row.unit = metric->unit;
  row.value_kind = value_kinds.at(finding.value.index());
  const auto* number = std::get_if<double>(&finding.value);
  const auto* text = std::get_if<std::string>(&finding.value);
  const auto* vector = std::get_if<std::vector<double>>(&finding.value);
  row.number = number ? *number : not_a_number;
  if (text) row.text = *text;
  row.vector = append(tables.vectors, vector ? *vector : std::vector<double>{});
  row.modes = append(tables.modes, finding.modes);
  row.interval = finding.interval.value_or(Interval{not_a_number, not_a_number});
}

}  // namespace

std::vector<Table> flatten_device(const DeviceResult* device) {
  std::vector<DeviceRow> rows;
  Table carveouts = empty_table(carveout_table());
  if (device) {
    DeviceRow& row = rows.emplace_back();
    row.device.info = device->info;
    row.device.point_index = device->point_index;
    row.device.node = device->node;
    row.device.rank = device->rank;
    row.device.status = device->status;
    row.device.reason = device->reason;
    row.device.before = device->before;
    row.device.after = device->after;
    row.carveouts = append(carveouts, device->info.shared_carveouts_bytes);
  }
  return {device_table().to_table(rows), std::move(carveouts)};
}

std::vector<Table> flatten_unaudited(const std::vector<UnauditedDevice>& unaudited) {
  return {unaudited_table().to_table(unaudited)};
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
    outcome.result.status = result->status;
    outcome.result.reason = result->reason;
    outcome.result.elapsed_s = result->elapsed_s;
    outcome.result.device_s = result->device_s;
    outcome.probes = {0, parts.probes.size()};
    outcome.findings = {0, parts.findings.size()};
  }
  std::vector<Table> tables{outcome_table(job).to_table(outcomes),
                            probe_table(job).to_table(parts.probes),
                            lane_table(job).to_table(parts.lanes)};
  std::ranges::move(parts.recordings, std::back_inserter(tables));
  tables.push_back(std::move(parts.visits));
  tables.push_back(bin_table(job).to_table(parts.bins));
  tables.push_back(std::move(parts.repeats));
  tables.push_back(finding_table(job).to_table(parts.findings));
  tables.push_back(std::move(parts.vectors));
  tables.push_back(std::move(parts.modes));
  return tables;
}

void for_each_table(const RunPart& part, const std::vector<std::string>& jobs,
                    const std::function<void(const Table&)>& visit) {
  const auto visit_all = [&visit](const std::vector<Table>& tables) {
    for (const Table& table : tables) visit(table);
  };
  visit_all(flatten_device(part.device));
  visit_all(flatten_unaudited(part.unaudited));
  const auto own = part.device ? stored_jobs(*part.device) : std::vector<StoredJob>{};
  for (const std::string& job : jobs) {
    const auto found = std::ranges::find(own, job, &StoredJob::name);
    const JobResult* result = found != own.end() ? found->result : nullptr;
    visit_all(flatten_job(job, result, static_cast<std::uint64_t>(found - own.begin())));
  }
}

}  // namespace sonde
