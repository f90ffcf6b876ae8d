// Ragged results become concatenated columns with offsets and lengths.
#include "store/hdf5/flatten.hpp"

#include "analysis/metrics.hpp"
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

RowRange append(Table& table, const std::string& text) {
  return append(table, std::vector<std::uint8_t>(text.begin(), text.end()));
}

/// Of all jobs, or of one.
struct FindingTables {
  std::vector<FindingRow> findings;
  Table vectors, modes;
  Table texts = empty_table(text_table());
  Table reasons = empty_table(reason_table());

  explicit FindingTables(const std::string& job = "")
      : vectors(empty_table(vector_table(job))), modes(empty_table(mode_table(job))) {}
};

struct ProbeTables {
  std::vector<ProbeRow> probes;
  std::vector<LaneRow> lanes;
  std::vector<Table> recordings;  // in the order of for_each_recording
  std::vector<WindowCount> bins;
  Table visits, repeats;

  explicit ProbeTables(const std::string& job)
      : visits(empty_table(visit_table(job))), repeats(empty_table(repeat_table(job))) {
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

void add_visits(ProbeTables& tables, LaneRow& row, const LaneTrace& lane) {
  row.visit_step_bytes = common_step(lane.offsets_bytes);
  auto& steps = std::get<std::vector<std::uint64_t>>(tables.visits.values.front());
  row.visits = {steps.size(), lane.offsets_bytes.size()};
  for (const std::uint64_t offset : lane.offsets_bytes) {
    steps.push_back(offset / row.visit_step_bytes);
  }
}

void add_lane(ProbeTables& tables, std::uint64_t device, const LaneTrace& lane) {
  LaneRow& row = tables.lanes.emplace_back();
  row.device_index = device;
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

void add_probe(ProbeTables& tables, std::uint64_t device, const ProbeRecord& record) {
  ProbeRow row;
  row.device_index = device;
  row.record.label = record.label;
  row.record.kind = record.kind;
  row.record.parameters_json = record.parameters_json;
  row.record.trace.conditions = record.trace.conditions;
  row.record.trace.shared_carveout_bytes = record.trace.shared_carveout_bytes;
  row.record.trace.buffer_offset_bytes = record.trace.buffer_offset_bytes;
  row.record.trace.device_s = record.trace.device_s;
  row.lanes = {tables.lanes.size(), record.trace.lanes.size()};
  row.repeats = append(tables.repeats, record.trace.repeat_ns);
  for (const LaneTrace& lane : record.trace.lanes) add_lane(tables, device, lane);
  tables.probes.push_back(std::move(row));
}

void add_finding(FindingTables& tables, std::uint64_t device, const Finding& finding) {
  FindingRow& row = tables.findings.emplace_back();
  row.device_index = device;
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
  row.text_bytes = append(tables.texts, row.text);
  row.reason_bytes = append(tables.reasons, finding.reason);
  row.interval = finding.interval.value_or(Interval{not_a_number, not_a_number});
}

/// Without its findings.
OutcomeRow outcome_row(std::uint64_t device, const std::string& job, const JobResult& result) {
  OutcomeRow row;
  row.device_index = device;
  row.result.job = job;
  row.result.status = result.status;
  row.result.reason = result.reason;
  row.result.elapsed_s = result.elapsed_s;
  row.result.device_s = result.device_s;
  row.probes.length = result.probes.size();
  return row;
}

/// Adds a job to what is there. @param job as it is called in the file
void add_job(std::vector<OutcomeRow>& outcomes, FindingTables& tables, std::uint64_t device,
             const std::string& job, const JobResult& result) {
  OutcomeRow& row = outcomes.emplace_back(outcome_row(device, job, result));
  row.findings = {tables.findings.size(), result.findings.size()};
  for (const Finding& finding : result.findings) add_finding(tables, device, finding);
}

std::vector<Table> to_tables(const std::string& job, ProbeTables tables) {
  std::vector<Table> all{probe_table(job).to_table(tables.probes),
                         lane_table(job).to_table(tables.lanes)};
  std::ranges::move(tables.recordings, std::back_inserter(all));
  all.push_back(std::move(tables.visits));
  all.push_back(bin_table(job).to_table(tables.bins));
  all.push_back(std::move(tables.repeats));
  return all;
}

DeviceRow device_row(const DeviceResult& device) {
  DeviceRow row;
  row.device.info = device.info;
  row.device.point_index = device.point_index;
  row.device.node = device.node;
  row.device.rank = device.rank;
  row.device.status = device.status;
  row.device.reason = device.reason;
  row.device.before = device.before;
  row.device.after = device.after;
  return row;
}

}  // namespace

std::vector<Table> flatten_inventory(std::span<const DeviceResult> devices, Layout layout) {
  std::vector<DeviceRow> rows;
  Table carveouts = empty_table(carveout_table());
  std::uint64_t outcomes = 0;
  for (const DeviceResult& device : devices) {
    DeviceRow& row = rows.emplace_back(device_row(device));
    row.carveouts = append(carveouts, device.info.shared_carveouts_bytes);
    row.outcomes = {outcomes, device.jobs.size() + device.again.size()};
    outcomes += row.outcomes.length;
  }
  return {device_table(layout).to_table(rows), std::move(carveouts)};
}

std::vector<Table> flatten_unaudited(const std::vector<UnauditedDevice>& unaudited) {
  return {unaudited_table().to_table(unaudited)};
}

std::vector<Table> flatten_findings(std::span<const DeviceResult> devices) {
  std::vector<Table> tables = flatten_inventory(devices, Layout::joined);
  std::vector<OutcomeRow> outcomes;
  FindingTables own;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    for (const StoredJob& job : stored_jobs(devices[i])) {
      add_job(outcomes, own, i, job.name, *job.result);
    }
  }
  tables.push_back(outcome_table().to_table(outcomes));
  tables.push_back(finding_table().to_table(own.findings));
  for (Table* table : {&own.vectors, &own.modes, &own.texts, &own.reasons}) {
    tables.push_back(std::move(*table));
  }
  return tables;
}

std::vector<Table> flatten_probes(const std::string& job, std::span<const DeviceResult> devices) {
  ProbeTables own(job);
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const auto jobs = stored_jobs(devices[i]);
    const auto found = std::ranges::find(jobs, job, &StoredJob::name);
    if (found == jobs.end()) continue;
    for (const ProbeRecord& record : found->result->probes) add_probe(own, i, record);
  }
  return to_tables(job, std::move(own));
}

std::vector<Table> flatten_job(const std::string& job, const JobResult& result,
                               std::uint64_t position) {
  std::vector<OutcomeRow> outcomes;
  FindingTables found(job);
  add_job(outcomes, found, 0, job, result);
  outcomes.front().position = position;
  ProbeTables probes(job);
  for (const ProbeRecord& record : result.probes) add_probe(probes, 0, record);
  std::vector<Table> tables = to_tables(job, std::move(probes));
  tables.push_back(outcome_table(job).to_table(outcomes));
  tables.push_back(finding_table(job).to_table(found.findings));
  tables.push_back(std::move(found.vectors));
  tables.push_back(std::move(found.modes));
  return tables;
}

std::vector<std::string> jobs_with_probes(std::span<const DeviceResult> devices) {
  std::vector<std::string> jobs;
  for (const DeviceResult& device : devices) {
    for (const StoredJob& job : stored_jobs(device)) {
      const bool is_new = std::ranges::find(jobs, job.name) == jobs.end();
      if (is_new && !job.result->probes.empty()) jobs.push_back(job.name);
    }
  }
  return jobs;
}

void for_each_table(const RunPart& part, const std::vector<std::string>& jobs,
                    const std::function<void(const Table&)>& visit) {
  const auto visit_all = [&visit](const std::vector<Table>& tables) {
    for (const Table& table : tables) visit(table);
  };
  visit_all(flatten_findings(part.devices));
  visit_all(flatten_unaudited(part.unaudited));
  for (const std::string& job : jobs) visit_all(flatten_probes(job, part.devices));
}

}  // namespace sonde
