// Ragged results become concatenated columns with offsets and lengths.
#include "store/hdf5/flatten.hpp"

#include "analysis/metrics.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <numeric>
#include <set>

namespace sonde {
namespace {

constexpr std::string_view again_prefix = "again.";
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

/// Adds rows to those of a table, and says where they lie.
template <class T>
RowRange append(std::vector<T>& rows, const std::vector<T>& more) {
  const RowRange range{rows.size(), more.size()};
  rows.insert(rows.end(), more.begin(), more.end());
  return range;
}

struct FindingTables {
  std::vector<OutcomeRow> outcomes;
  std::vector<FindingRow> findings;
  std::vector<double> vectors, modes;
};

struct ProbeTables {
  std::vector<ProbeRow> probes;
  std::vector<LaneRow> lanes;
  LaneTrace recorded;  // by all of them, one after the other
  std::vector<std::uint64_t> visit_steps;
  std::vector<WindowCount> bins;
  std::vector<double> repeats;
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
  row.visits = {tables.visit_steps.size(), lane.offsets_bytes.size()};
  for (const std::uint64_t offset : lane.offsets_bytes) {
    tables.visit_steps.push_back(offset / row.visit_step_bytes);
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
  for_each_recording([&](const auto& recording) {
    row.*recording.rows = append(tables.recorded.*recording.values, lane.*recording.values);
  });
  add_visits(tables, row, lane);
  row.bins = append(tables.bins, lane.histogram);
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
  row.interval = finding.interval.value_or(Interval{not_a_number, not_a_number});
}

void add_job(FindingTables& tables, const StoredJob& job) {
  const JobResult& result = *job.result;
  OutcomeRow& row = tables.outcomes.emplace_back();
  row.device_index = job.device;
  row.result.job = job.name;
  row.result.status = result.status;
  row.result.reason = result.reason;
  row.result.elapsed_s = result.elapsed_s;
  row.result.device_s = result.device_s;
  row.probes.length = result.probes.size();
  row.findings = {tables.findings.size(), result.findings.size()};
  for (const Finding& finding : result.findings) add_finding(tables, job.device, finding);
}

/// Devices and their possible shared parts of the L1.
std::vector<Table> flatten_inventory(std::span<const DeviceResult> devices, Names& names) {
  std::vector<DeviceRow> rows;
  std::vector<std::uint64_t> carveouts;
  std::uint64_t outcomes = 0;
  for (const DeviceResult& device : devices) {
    DeviceRow& row = rows.emplace_back();
    row.device = without_jobs(device);
    row.carveouts = append(carveouts, device.info.shared_carveouts_bytes);
    row.outcomes = {outcomes, device.jobs.size() + device.again.size()};
    outcomes += row.outcomes.length;
  }
  return {device_table().to_table(rows, names), carveout_table().to_table(carveouts, names)};
}

void check_job_names(const std::vector<StoredJob>& jobs) {
  std::set<std::string> seen;
  for (const StoredJob& job : jobs) {
    require(!job.name.empty() && job.name != "." && job.name.find('/') == std::string::npos,
            "a job's name '" + job.name + "' cannot name a group of the file");
    require(seen.insert(job.name).second, "the job '" + job.name + "' occurs twice on one device");
  }
}

}  // namespace

DeviceResult without_jobs(const DeviceResult& device) {
  DeviceResult bare;
  bare.info = device.info;
  bare.point_index = device.point_index;
  bare.node = device.node;
  bare.rank = device.rank;
  bare.status = device.status;
  bare.reason = device.reason;
  bare.before = device.before;
  bare.after = device.after;
  return bare;
}

std::string again_name(std::string_view job) {
  return std::string(again_prefix) + std::string(job);
}

std::optional<std::string> job_of_again(std::string_view name) {
  if (!name.starts_with(again_prefix)) return std::nullopt;
  return std::string(name.substr(again_prefix.size()));
}

std::vector<StoredJob> stored_jobs(const DeviceResult& device, std::uint64_t index) {
  std::vector<StoredJob> stored;
  for (const JobResult& job : device.jobs) stored.push_back({job.job, &job, index});
  for (const JobResult& job : device.again) stored.push_back({again_name(job.job), &job, index});
  return stored;
}

std::vector<Table> flatten_jobs(const std::vector<StoredJob>& stored,
                                const std::vector<UnauditedDevice>& unaudited,
                                const std::vector<std::string>& jobs, Names& names) {
  FindingTables found;
  std::vector<ProbeTables> probes(jobs.size());
  for (const StoredJob& job : stored) {
    add_job(found, job);
    const auto place = std::ranges::find(jobs, job.name);
    if (place == jobs.end()) continue;
    ProbeTables& tables = probes[static_cast<std::size_t>(place - jobs.begin())];
    for (const ProbeRecord& record : job.result->probes) add_probe(tables, job.device, record);
  }
  std::vector<Table> all{outcome_table().to_table(found.outcomes, names),
                         finding_table().to_table(found.findings, names),
                         vector_table().to_table(found.vectors, names),
                         mode_table().to_table(found.modes, names),
                         unaudited_table().to_table(unaudited, names)};
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const ProbeTables& tables = probes[i];
    all.push_back(probe_table(jobs[i]).to_table(tables.probes, names));
    all.push_back(lane_table(jobs[i]).to_table(tables.lanes, names));
    for_each_recording([&](const auto& recording) {
      const auto& values = tables.recorded.*recording.values;
      all.push_back(recording.table(jobs[i]).to_table(values, names));
    });
    all.push_back(visit_table(jobs[i]).to_table(tables.visit_steps, names));
    all.push_back(bin_table(jobs[i]).to_table(tables.bins, names));
    all.push_back(repeat_table(jobs[i]).to_table(tables.repeats, names));
  }
  return all;
}

std::vector<Table> flatten(std::span<const DeviceResult> devices,
                           const std::vector<UnauditedDevice>& unaudited,
                           const std::vector<std::string>& jobs, Names& names) {
  std::vector<StoredJob> stored;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const std::vector<StoredJob> own = stored_jobs(devices[i], i);
    check_job_names(own);
    stored.insert(stored.end(), own.begin(), own.end());
  }
  std::vector<Table> all = flatten_inventory(devices, names);
  std::ranges::move(flatten_jobs(stored, unaudited, jobs, names), std::back_inserter(all));
  return all;
}

std::vector<std::string> jobs_with_probes(const std::vector<DeviceResult>& devices) {
  std::vector<std::string> jobs;
  for (const DeviceResult& device : devices) {
    for (const StoredJob& job : stored_jobs(device)) {
      const bool is_new = std::ranges::find(jobs, job.name) == jobs.end();
      if (is_new && !job.result->probes.empty()) jobs.push_back(job.name);
    }
  }
  return jobs;
}

}  // namespace sonde
