// One job of some devices: offsets and lengths are followed, and checked, level by level.
#include "store/job_reader.hpp"

#include "store/hdf5/owned_rows.hpp"
#include "store/hdf5/rows.hpp"
#include "store/hdf5/stored_file.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>
#include <unordered_set>
#include <variant>

namespace sonde {
namespace {

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

/// Those of some metrics. The outcomes then own them by their places in what was read.
Span<FindingRow> read_findings_of(StoredFile& file, const BoundTable<FindingRow>& table,
                                  std::vector<OutcomeRow>& outcomes,
                                  const std::set<std::string>& metrics) {
  const RowRange all = hull(table.key().group, outcomes, &OutcomeRow::findings);
  std::vector<PackedColumn> packed = file.table(table.key()).read(table.columns(), all);
  const auto metric = std::ranges::find(table.columns(), "metric", &ColumnSpec::name);
  const PackedColumn& names = packed.at(static_cast<std::size_t>(metric - table.columns().begin()));
  const std::unordered_set<std::string_view> known(metrics.begin(), metrics.end());
  std::vector<std::uint64_t> wanted;
  for (std::uint64_t row = 0; row < all.length; ++row) {
    if (known.contains(text_at(names, row))) wanted.push_back(row);
  }
  if (wanted.size() < all.length) {
    for (PackedColumn& column : packed) column = pick(column, wanted);
  }
  const auto place_of = [&](std::uint64_t row) {
    const auto place = std::ranges::lower_bound(wanted, row - all.offset);
    return static_cast<std::uint64_t>(place - wanted.begin());
  };
  for (OutcomeRow& outcome : outcomes) {
    RowRange& own = outcome.findings;
    if (own.length == 0) continue;
    const std::uint64_t first = place_of(own.offset);
    own = {first, place_of(own.offset + own.length) - first};
  }
  return {table.key().group, 0, table.to_rows(packed)};
}

JobSpans read_spans(StoredFile& file, const std::string& job, std::vector<OutcomeRow>& outcomes,
                    Depth depth, const std::set<std::string>* metrics) {
  JobSpans spans;
  spans.depth = depth;
  if (depth == Depth::outcome) return spans;
  spans.findings = metrics ? read_findings_of(file, finding_table(job), outcomes, *metrics)
                           : read_owned(file, finding_table(job), outcomes, &OutcomeRow::findings);
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

/// Jobs have plain names: others could pass for something else wherever they are shown.
bool is_job_name(std::string_view name) {
  return std::ranges::all_of(name, [](char c) { return c > ' ' && c <= '~'; });
}

}  // namespace

void collect_job(StoredFile& file, const std::string& job, RowRange span, Depth depth,
                 JobsByPosition& jobs_by_position, const std::set<std::string>* metrics) {
  require_sound(is_job_name(job), "a job has an unusable name");
  const auto table = outcome_table(job);
  auto outcomes = read_span(file, table, {0, file.table(table.key()).rows()}).rows;
  const std::uint64_t devices = file.table(keys::devices).rows();
  std::vector<bool> seen(outcomes.empty() ? 0 : devices);
  for (const OutcomeRow& row : outcomes) {
    require_sound(row.device_index < devices, job + " has an outcome of no device");
    require_sound(!seen[row.device_index], job + " occurs twice on one device");
    seen[row.device_index] = true;
  }
  std::erase_if(outcomes, [span](const OutcomeRow& row) {
    return row.device_index < span.offset || row.device_index - span.offset >= span.length;
  });
  JobSpans spans = read_spans(file, job, outcomes, depth, metrics);
  for (const OutcomeRow& outcome : outcomes) {
    auto& jobs = jobs_by_position[outcome.device_index - span.offset];
    require_sound(!jobs.contains(outcome.position), job + " has the place of another job");
    jobs[outcome.position] = assemble_job(job, outcome, spans);
  }
}

}  // namespace sonde
