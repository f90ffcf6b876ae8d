#include "store/hdf5/flatten.hpp"

#include "analysis/metrics.hpp"
#include "base/error.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <numeric>
#include <unordered_map>

namespace sonde {
namespace {

constexpr std::string_view again_prefix = "again.";
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

/// Appends values to the rows of a table and returns their range.
template <class T>
RowRange append(std::vector<T>& rows, const std::vector<T>& more) {
  const RowRange range{rows.size(), more.size()};
  rows.insert(rows.end(), more.begin(), more.end());
  return range;
}

template <class T>
using RowsOf = std::vector<T>;

/// The tables of some jobs while they are filled.
struct JobTables {
  std::vector<OutcomeRow> outcomes;
  FindingTables<RowsOf> found;
  ProbeTables<RowsOf> probed;
  std::unordered_multimap<std::size_t, std::uint32_t> lists_by_hash;
};

/// The greatest common divisor; 1 if all are 0.
std::uint64_t common_step(std::span<const std::uint64_t> offsets) {
  std::uint64_t step = 0;
  for (const std::uint64_t offset : offsets) {
    if (step == 0 || offset % step != 0) step = std::gcd(step, offset);
  }
  return std::max<std::uint64_t>(step, 1);
}

/// The row of this list of addresses; a new row unless an earlier lane has the same list.
std::uint32_t list_of(JobTables& tables, std::span<const std::uint64_t> offsets) {
  const std::string_view bytes(reinterpret_cast<const char*>(offsets.data()), offsets.size_bytes());
  const std::size_t hash = std::hash<std::string_view>()(bytes);
  const auto [begin, end] = tables.lists_by_hash.equal_range(hash);
  for (auto known = begin; known != end; ++known) {
    const auto& [step, visits] = tables.probed.lists[known->second];
    const auto steps = std::span(tables.probed.visits).subspan(visits.offset, visits.length);
    const auto to_offset = [unit = step](std::uint64_t count) { return count * unit; };
    if (std::ranges::equal(steps, offsets, {}, to_offset)) return known->second;
  }
  const auto row = static_cast<std::uint32_t>(tables.probed.lists.size());
  const std::uint64_t step = common_step(offsets);
  tables.probed.lists.push_back({step, {tables.probed.visits.size(), offsets.size()}});
  for (const std::uint64_t offset : offsets) tables.probed.visits.push_back(offset / step);
  tables.lists_by_hash.emplace(hash, row);
  return row;
}

std::uint32_t count_of(std::size_t recorded) {
  require(recorded <= std::numeric_limits<std::uint32_t>::max(), "a lane recorded too much");
  return static_cast<std::uint32_t>(recorded);
}

void add_lane(JobTables& all, const LaneTrace& lane) {
  ProbeTables<RowsOf>& tables = all.probed;
  // Only the addresses of recorded accesses.
  const auto offsets = std::span(lane.offsets_bytes)
                           .first(std::min(lane.offsets_bytes.size(), lane.window_cycles.size()));
  tables.lanes.push_back(
      {.sm = lane.sm,
       .warp = lane.warp,
       .cluster = lane.cluster,
       .elapsed_cycles = lane.elapsed_cycles,
       .accesses = lane.accesses,
       .list = list_of(all, offsets),
       .recorded = {count_of(lane.window_cycles.size()), count_of(lane.histogram.size()),
                    count_of(lane.clock_cycles.size()), count_of(lane.globaltimer_ns.size()),
                    count_of(lane.counts.size())}});
  for (const std::uint32_t cycles : lane.window_cycles) {
    if (cycles >= long_window) tables.long_windows.push_back(cycles);
    tables.windows.push_back(
        static_cast<std::uint16_t>(std::min<std::uint32_t>(cycles, long_window)));
  }
  append(tables.bins, lane.histogram);
  append(tables.clocks, lane.clock_cycles);
  append(tables.timers, lane.globaltimer_ns);
  append(tables.counts, lane.counts);
}

void add_probe(JobTables& all, std::uint64_t device, const ProbeRecord& record) {
  ProbeTables<RowsOf>& tables = all.probed;
  const Trace& trace = record.trace;
  ProbeRow& row = tables.probes.emplace_back();
  row = {.device_index = device,
         .record = {record.label, record.kind, record.parameters_json, {}},
         .lanes = {tables.lanes.size(), trace.lanes.size()},
         .repeats = append(tables.repeats, trace.repeat_ns),
         .long_windows = {tables.long_windows.size(), 0},
         .first_recorded = {tables.windows.size(), tables.bins.size(), tables.clocks.size(),
                            tables.timers.size(), tables.counts.size()}};
  row.record.trace.conditions = trace.conditions;
  row.record.trace.shared_carveout_bytes = trace.shared_carveout_bytes;
  row.record.trace.buffer_offset_bytes = trace.buffer_offset_bytes;
  row.record.trace.device_s = trace.device_s;
  for (const LaneTrace& lane : trace.lanes) add_lane(all, lane);
  row.long_windows.length = tables.long_windows.size() - row.long_windows.offset;
}

void add_finding(FindingTables<RowsOf>& tables, std::uint64_t device, const Finding& finding) {
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

void add_job(JobTables& tables, const StoredJob& job) {
  const JobResult& result = *job.result;
  tables.outcomes.push_back({.device_index = job.device,
                             .result = {.job = job.name,
                                        .status = result.status,
                                        .reason = result.reason,
                                        .elapsed_s = result.elapsed_s,
                                        .device_s = result.device_s,
                                        .findings = {},
                                        .probes = {}},
                             .probes = {tables.probed.probes.size(), result.probes.size()},
                             .findings = {tables.found.findings.size(), result.findings.size()}});
  tables.lists_by_hash.clear();  // jobs do not share lists, as each job is read as a whole
  for (const ProbeRecord& record : result.probes) add_probe(tables, job.device, record);
  for (const Finding& finding : result.findings) add_finding(tables.found, job.device, finding);
}

/// The tables of devices and of their carve-outs.
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
  return {device_table().to_table(rows, names), carveout_table.to_table(std::move(carveouts))};
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
                                const std::vector<UnauditedDevice>& unaudited, Names& names) {
  JobTables tables;
  for (const StoredJob& job : stored) add_job(tables, job);
  auto& [outcomes, found, probes, lists_by_hash] = tables;
  Table all[]{outcome_table().to_table(outcomes, names),
              finding_table().to_table(found.findings, names),
              vector_table.to_table(std::move(found.vectors)),
              mode_table.to_table(std::move(found.modes)),
              unaudited_table().to_table(unaudited, names),
              probe_table().to_table(probes.probes, names),
              lane_table().to_table(probes.lanes, names),
              list_table().to_table(probes.lists, names),
              visit_table.to_table(std::move(probes.visits)),
              window_table.to_table(std::move(probes.windows)),
              long_window_table.to_table(std::move(probes.long_windows)),
              bin_table().to_table(probes.bins, names),
              clock_table.to_table(std::move(probes.clocks)),
              timer_table.to_table(std::move(probes.timers)),
              count_table.to_table(std::move(probes.counts)),
              repeat_table.to_table(std::move(probes.repeats))};
  return {std::move_iterator(std::begin(all)), std::move_iterator(std::end(all))};
}

std::vector<Table> flatten(std::span<const DeviceResult> devices,
                           const std::vector<UnauditedDevice>& unaudited, Names& names) {
  std::vector<StoredJob> stored;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    std::ranges::move(stored_jobs(devices[i], i), std::back_inserter(stored));
  }
  std::vector<Table> all = flatten_inventory(devices, names);
  std::ranges::move(flatten_jobs(stored, unaudited, names), std::back_inserter(all));
  return all;
}

}  // namespace sonde
