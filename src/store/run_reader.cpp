// Tables back to results: offsets and lengths are followed, and checked, level by level.
#include "store/run_reader.hpp"

#include "store/hdf5/owned_rows.hpp"
#include "store/hdf5/rows.hpp"
#include "store/hdf5/table_file.hpp"
#include "store/run_header.hpp"
#include "store/stored_jobs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <new>
#include <optional>
#include <set>
#include <string_view>
#include <variant>

namespace sonde {
namespace {

/// How much of a job is read: each has what the one before it has.
enum class Depth { outcome, findings, probes, traces };

struct JobSpans {
  Depth depth = Depth::outcome;
  Span<ProbeRow> probes;
  Span<LaneRow> lanes;
  Span<FindingRow> findings;
  Span<double> vectors, modes, repeats;
  Span<std::uint64_t> visits;
  Span<WindowCount> bins;
  /// In the order of for_each_recording.
  std::vector<std::variant<Span<std::uint32_t>, Span<std::uint64_t>>> recordings;
};

JobSpans read_spans(hid_t file, const std::string& job, const std::vector<OutcomeRow>& outcomes,
                    Depth depth) {
  JobSpans spans;
  spans.depth = depth;
  if (depth == Depth::outcome) return spans;
  spans.findings = read_owned(file, finding_table(job), outcomes, &OutcomeRow::findings);
  spans.vectors = read_owned(file, vector_table(job), spans.findings.rows, &FindingRow::vector);
  spans.modes = read_owned(file, mode_table(job), spans.findings.rows, &FindingRow::modes);
  if (depth == Depth::findings) return spans;
  spans.probes = read_owned(file, probe_table(job), outcomes, &OutcomeRow::probes);
  if (depth == Depth::probes) return spans;
  spans.lanes = read_owned(file, lane_table(job), spans.probes.rows, &ProbeRow::lanes);
  spans.repeats = read_owned(file, repeat_table(job), spans.probes.rows, &ProbeRow::repeats);
  for_each_recording([&](const auto& recording) {
    spans.recordings.push_back(
        read_owned(file, recording.table(job), spans.lanes.rows, recording.rows));
  });
  spans.visits = read_owned(file, visit_table(job), spans.lanes.rows, &LaneRow::visits);
  spans.bins = read_owned(file, bin_table(job), spans.lanes.rows, &LaneRow::bins);
  return spans;
}

Value value_of(FindingRow& row, const JobSpans& spans) {
  if (row.value_kind == "number") return row.number;
  if (row.value_kind == "text") return std::move(row.text);
  if (row.value_kind == "vector") return spans.vectors.take(row.vector);
  if (row.value_kind == "none") return {};
  throw StoreError("unknown kind of value '" + row.value_kind + "'");
}

void require_same_device(const std::string& group, std::uint64_t owner, std::uint64_t owned) {
  require_sound(owner == owned, group + ": a row refers to rows of another device");
}

std::optional<Interval> interval_of(const FindingRow& row) {
  const auto [low, high] = row.interval;
  if (std::isnan(low) && std::isnan(high)) return std::nullopt;
  require_sound(low <= high, "an interval ends before it begins");
  return row.interval;
}

std::vector<std::uint64_t> offsets_of(const LaneRow& row, const JobSpans& spans) {
  std::vector<std::uint64_t> offsets = spans.visits.take(row.visits);
  for (std::uint64_t& offset : offsets) {
    require_sound(row.visit_step_bytes == 0 ||
                      offset <= std::numeric_limits<std::uint64_t>::max() / row.visit_step_bytes,
                  spans.visits.group + ": an address is beyond all numbers");
    offset *= row.visit_step_bytes;
  }
  return offsets;
}

std::vector<WindowCount> histogram_of(const LaneRow& row, const JobSpans& spans) {
  std::vector<WindowCount> bins = spans.bins.take(row.bins);
  const auto not_after = [](const WindowCount& one, const WindowCount& next) {
    return next.window_cycles <= one.window_cycles;
  };
  require_sound(std::ranges::adjacent_find(bins, not_after) == bins.end() &&
                    (bins.empty() || bins.back().window_cycles < histogram_bins),
                spans.bins.group + ": the bins of a histogram are not those of one");
  return bins;
}

/// @param index of the probe's row in the file
ProbeRecord assemble_probe(const ProbeRow& row, std::uint64_t index, const JobSpans& spans) {
  ProbeRecord record = row.record;
  if (spans.depth < Depth::traces) return record;
  record.trace.repeat_ns = spans.repeats.take(row.repeats);
  for (const LaneRow& lane_row : spans.lanes.take(row.lanes)) {
    require_same_device(spans.lanes.group, row.device_index, lane_row.device_index);
    require_sound(lane_row.probe_index == index,
                  spans.lanes.group + ": a probe refers to lanes of another probe");
    LaneTrace& lane = record.trace.lanes.emplace_back(lane_row.lane);
    auto span = spans.recordings.begin();
    for_each_recording([&]<class T>(const Recording<T>& recording) {
      lane.*recording.values = std::get<Span<T>>(*span++).take(lane_row.*recording.rows);
    });
    lane.offsets_bytes = offsets_of(lane_row, spans);
    lane.histogram = histogram_of(lane_row, spans);
  }
  return record;
}

/// Its findings are moved out of the spans.
JobResult assemble_job(const std::string& job, const OutcomeRow& outcome, JobSpans& spans) {
  JobResult result = outcome.result;
  result.job = job;
  if (spans.depth >= Depth::probes) {
    std::uint64_t index = outcome.probes.offset;
    for (const ProbeRow& row : spans.probes.owned_by(outcome.probes)) {
      require_same_device(spans.probes.group, outcome.device_index, row.device_index);
      result.probes.push_back(assemble_probe(row, index++, spans));
    }
  }
  if (spans.depth < Depth::findings) return result;
  result.findings.reserve(outcome.findings.length);
  for (FindingRow& row : spans.findings.owned_by(outcome.findings)) {
    require_same_device(spans.findings.group, outcome.device_index, row.device_index);
    Finding& finding = result.findings.emplace_back(std::move(row.finding));
    finding.value = value_of(row, spans);
    finding.modes = spans.modes.take(row.modes);
    finding.interval = interval_of(row);
  }
  return result;
}

[[noreturn]] void fail_to_read(const std::filesystem::path& path, std::string_view reason) {
  throw UnreadableError(
      fmt::format("'{}' cannot be read ({}) use a file of this version of sonde, "
                  "copied whole",
                  path.string(), reason));
}

/// Everything that goes wrong inside a file that opens means that its content is damaged.
template <class Work>
auto reading(const std::filesystem::path& path, Work&& work) {
  try {
    return work();
  } catch (const StoreError& error) {
    fail_to_read(path, error.what());
  } catch (const std::bad_alloc&) {
    fail_to_read(path, "there is not enough memory for what it holds");
  }
}

WithPoints points_in(hid_t file) {
  const bool known = read_schema_version(file) >= first_schema_version_with_points;
  return known ? WithPoints::yes : WithPoints::no;
}

/// @param points of the run
std::vector<DeviceResult> read_device_rows(hid_t file, RowRange span, std::size_t points) {
  auto rows = read_span(file, device_table(points_in(file)), span);
  const auto carveouts = read_owned(file, carveout_table(), rows.rows, &DeviceRow::carveouts);
  std::vector<DeviceResult> devices;
  for (DeviceRow& row : rows.rows) {
    row.device.info.shared_carveouts_bytes = carveouts.take(row.carveouts);
    require_sound(row.device.point_index < points, "a device was measured at no point");
    devices.push_back(std::move(row.device));
  }
  return devices;
}

/// Jobs have plain names: others could pass for something else wherever they are shown.
bool is_job_name(std::string_view name) {
  return std::ranges::all_of(name, [](char c) { return c > ' ' && c <= '~'; });
}

void collect_job(hid_t file, const std::string& job, RowRange span, Depth depth,
                 std::vector<std::map<std::uint64_t, JobResult>>& jobs_by_position) {
  require_sound(is_job_name(job), "a job has an unusable name");
  const auto table = outcome_table(job);
  auto outcomes = read_span(file, table, {0, count_rows(file, table.key())}).rows;
  const std::uint64_t devices = count_rows(file, keys::devices);
  std::vector<bool> seen(outcomes.empty() ? 0 : devices);
  for (const OutcomeRow& row : outcomes) {
    require_sound(row.device_index < devices, job + " has an outcome of no device");
    require_sound(!seen[row.device_index], job + " occurs twice on one device");
    seen[row.device_index] = true;
  }
  std::erase_if(outcomes, [span](const OutcomeRow& row) {
    return row.device_index < span.offset || row.device_index - span.offset >= span.length;
  });
  JobSpans spans = read_spans(file, job, outcomes, depth);
  for (const OutcomeRow& outcome : outcomes) {
    auto& jobs = jobs_by_position[outcome.device_index - span.offset];
    require_sound(!jobs.contains(outcome.position), job + " has the place of another job");
    jobs[outcome.position] = assemble_job(job, outcome, spans);
  }
}

/// @param result under the name that it has in the file
void add_job(DeviceResult& device, JobResult result) {
  const auto first = job_of_again(result.job);
  if (first) result.job = *first;
  (first ? device.again : device.jobs).push_back(std::move(result));
}

/// @param points of the run
/// @param depth_of how much is read of a job
std::vector<DeviceResult> read_whole(hid_t file, RowRange span, std::size_t points,
                                     const auto& depth_of) {
  auto devices = read_device_rows(file, span, points);
  std::vector<std::map<std::uint64_t, JobResult>> jobs(devices.size());
  for (const std::string& job : hdf5::list_groups(file, "jobs")) {
    collect_job(file, job, span, depth_of(job), jobs);
  }
  for (std::size_t i = 0; i < devices.size(); ++i) {
    for (auto& [position, result] : jobs[i]) add_job(devices[i], std::move(result));
  }
  return devices;
}

}  // namespace

RunReader::RunReader(const std::filesystem::path& path)
    : path_(path), file_(hdf5::open_to_read(path)) {
  reading(path_, [this] {
    provenance_ = read_header(file_);
    device_count_ = count_rows(file_, keys::devices);
  });
}

bool RunReader::knows_points() const {
  return reading(path_, [this] { return points_in(file_) == WithPoints::yes; });
}

std::vector<std::string> RunReader::job_names() const {
  return reading(path_, [this] { return hdf5::list_groups(file_, "jobs"); });
}

std::vector<UnauditedDevice> RunReader::read_unaudited() const {
  return reading(path_, [this] {
    const auto table = unaudited_table();
    return read_span(file_, table, {0, count_rows(file_, table.key())}).rows;
  });
}

std::vector<DeviceResult> RunReader::read_inventory() const {
  return reading(path_, [this] {
    return read_device_rows(file_, {0, device_count_}, provenance_.points.size());
  });
}

std::vector<DeviceResult> RunReader::read_devices(RowRange span, WithTraces traces) const {
  const Depth depth = traces == WithTraces::yes ? Depth::traces : Depth::probes;
  return reading(path_, [&] {
    return read_whole(file_, span, provenance_.points.size(),
                      [depth](const auto&) { return depth; });
  });
}

std::vector<DeviceResult> RunReader::read_findings(RowRange span) const {
  const auto depth = [](const std::string&) { return Depth::findings; };
  return reading(path_, [&] { return read_whole(file_, span, provenance_.points.size(), depth); });
}

std::vector<DeviceResult> RunReader::read_outcomes() const {
  const auto depth = [](const std::string& job) {
    return job_of_again(job) ? Depth::findings : Depth::outcome;
  };
  return reading(path_, [&] {
    return read_whole(file_, {0, device_count_}, provenance_.points.size(), depth);
  });
}

std::vector<std::vector<Finding>> RunReader::read_findings(RowRange span,
                                                           const std::string& job) const {
  return reading(path_, [&] {
    std::vector<std::map<std::uint64_t, JobResult>> jobs(span.length);
    collect_job(file_, job, span, Depth::findings, jobs);
    std::vector<std::vector<Finding>> findings(span.length);
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      if (!jobs[i].empty()) findings[i] = std::move(jobs[i].begin()->second.findings);
    }
    return findings;
  });
}

std::set<std::string> RunReader::metric_names(RowRange rows, const std::string& job) const {
  return reading(path_, [&] {
    const auto table = finding_table(job);
    const auto metric = std::ranges::find(table.columns(), "metric", &ColumnSpec::name);
    const Table read = read_rows(file_, table.key(), {*metric}, rows);
    const auto& names = std::get<std::vector<std::string>>(read.values.front());
    return std::set<std::string>(names.begin(), names.end());
  });
}

std::uint64_t RunReader::count_findings(const std::string& job) const {
  return reading(path_, [&] { return count_rows(file_, keys::findings(job)); });
}

std::uint64_t RunReader::count_findings() const {
  std::uint64_t findings = 0;
  for (const std::string& job : job_names()) findings += count_findings(job);
  return findings;
}

std::uint64_t RunReader::count_probes() const {
  return reading(path_, [&] {
    std::uint64_t probes = 0;
    for (const std::string& job : hdf5::list_groups(file_, "jobs")) {
      probes += count_rows(file_, keys::probes(job));
    }
    return probes;
  });
}

JobResult RunReader::read_job(std::uint64_t device, const std::string& job) const {
  return reading(path_, [&] {
    std::vector<std::map<std::uint64_t, JobResult>> jobs(1);
    collect_job(file_, job, {device, 1}, Depth::traces, jobs);
    if (jobs.front().empty()) throw StoreError("it does not hold the job " + job);
    return std::move(jobs.front().begin()->second);
  });
}

RunResult read_run(const std::filesystem::path& path, WithTraces traces) {
  const RunReader reader(path);
  return {.provenance = reader.provenance(),
          .devices = reader.read_devices({0, reader.device_count()}, traces),
          .unaudited = reader.read_unaudited()};
}

}  // namespace sonde
