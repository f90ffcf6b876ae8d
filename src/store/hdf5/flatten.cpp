#include "store/hdf5/flatten.hpp"

#include "analysis/metrics.hpp"
#include "base/error.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <numeric>
#include <set>
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

struct FindingTables {
  std::vector<OutcomeRow> outcomes;
  std::vector<FindingRow> findings;
  std::vector<double> vectors, modes;
};

struct ProbeTables {
  std::vector<ProbeRow> probes;
  std::vector<LaneRow> lanes;
  std::vector<ListRow> lists;
  std::unordered_multimap<std::size_t, std::uint32_t> lists_by_hash;
  std::vector<std::uint64_t> visit_steps;
  std::vector<std::uint16_t> windows;
  std::vector<std::uint32_t> long_windows;
  std::vector<WindowCount> bins;
  std::vector<std::uint64_t> clocks, timers, counts;
  std::vector<double> repeats;
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
std::uint32_t list_of(ProbeTables& tables, std::span<const std::uint64_t> offsets) {
  const std::string_view bytes(reinterpret_cast<const char*>(offsets.data()), offsets.size_bytes());
  const std::size_t hash = std::hash<std::string_view>()(bytes);
  const auto [begin, end] = tables.lists_by_hash.equal_range(hash);
  for (auto known = begin; known != end; ++known) {
    const auto& [step, visits] = tables.lists[known->second];
    const auto steps = std::span(tables.visit_steps).subspan(visits.offset, visits.length);
    const auto to_offset = [unit = step](std::uint64_t count) { return count * unit; };
    if (std::ranges::equal(steps, offsets, {}, to_offset)) return known->second;
  }
  const auto row = static_cast<std::uint32_t>(tables.lists.size());
  const std::uint64_t step = common_step(offsets);
  tables.lists.push_back({step, {tables.visit_steps.size(), offsets.size()}});
  for (const std::uint64_t offset : offsets) tables.visit_steps.push_back(offset / step);
  tables.lists_by_hash.emplace(hash, row);
  return row;
}

void add_lane(ProbeTables& tables, const LaneTrace& lane) {
  LaneRow& row = tables.lanes.emplace_back();
  row.sm = lane.sm;
  row.warp = lane.warp;
  row.cluster = lane.cluster;
  row.elapsed_cycles = lane.elapsed_cycles;
  row.accesses = lane.accesses;
  // Only the addresses of recorded accesses.
  row.list =
      list_of(tables, std::span(lane.offsets_bytes)
                          .first(std::min(lane.offsets_bytes.size(), lane.window_cycles.size())));
  for (const std::uint32_t cycles : lane.window_cycles) {
    if (cycles >= long_window) tables.long_windows.push_back(cycles);
    tables.windows.push_back(
        static_cast<std::uint16_t>(std::min<std::uint32_t>(cycles, long_window)));
  }
  append(tables.bins, lane.histogram);
  append(tables.clocks, lane.clock_cycles);
  append(tables.timers, lane.globaltimer_ns);
  append(tables.counts, lane.counts);
  const recorded::ByKind<std::size_t> lengths{lane.window_cycles.size(), lane.histogram.size(),
                                              lane.clock_cycles.size(), lane.globaltimer_ns.size(),
                                              lane.counts.size()};
  std::ranges::transform(lengths, row.recorded.begin(), [](std::size_t length) {
    require(length <= std::numeric_limits<std::uint32_t>::max(), "a lane recorded too much");
    return static_cast<std::uint32_t>(length);
  });
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
  row.first_recorded = {tables.windows.size(), tables.bins.size(), tables.clocks.size(),
                        tables.timers.size(), tables.counts.size()};
  row.long_windows.offset = tables.long_windows.size();
  for (const LaneTrace& lane : record.trace.lanes) add_lane(tables, lane);
  row.long_windows.length = tables.long_windows.size() - row.long_windows.offset;
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

void add_job(FindingTables& tables, ProbeTables& probes, const StoredJob& job) {
  const JobResult& result = *job.result;
  OutcomeRow& row = tables.outcomes.emplace_back();
  row.device_index = job.device;
  row.result.job = job.name;
  row.result.status = result.status;
  row.result.reason = result.reason;
  row.result.elapsed_s = result.elapsed_s;
  row.result.device_s = result.device_s;
  row.probes = {probes.probes.size(), result.probes.size()};
  probes.lists_by_hash.clear();  // jobs do not share lists, as each job is read as a whole
  for (const ProbeRecord& record : result.probes) add_probe(probes, job.device, record);
  row.findings = {tables.findings.size(), result.findings.size()};
  for (const Finding& finding : result.findings) add_finding(tables, job.device, finding);
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

void check_job_names(const std::vector<StoredJob>& jobs) {
  std::set<std::string> seen;
  for (const StoredJob& job : jobs) {
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
                                const std::vector<UnauditedDevice>& unaudited, Names& names) {
  FindingTables found;
  ProbeTables probes;
  for (const StoredJob& job : stored) add_job(found, probes, job);
  Table all[]{outcome_table().to_table(found.outcomes, names),
              finding_table().to_table(found.findings, names),
              vector_table.to_table(std::move(found.vectors)),
              mode_table.to_table(std::move(found.modes)),
              unaudited_table().to_table(unaudited, names),
              probe_table().to_table(probes.probes, names),
              lane_table().to_table(probes.lanes, names),
              list_table().to_table(probes.lists, names),
              visit_table.to_table(std::move(probes.visit_steps)),
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
    const std::vector<StoredJob> own = stored_jobs(devices[i], i);
    check_job_names(own);
    stored.insert(stored.end(), own.begin(), own.end());
  }
  std::vector<Table> all = flatten_inventory(devices, names);
  std::ranges::move(flatten_jobs(stored, unaudited, names), std::back_inserter(all));
  return all;
}

}  // namespace sonde
