// Offsets and lengths are followed, and checked, level by level.
#include "store/hdf5/job_reader.hpp"

#include "store/hdf5/owned_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <utility>
#include <variant>

namespace sonde {
namespace {

struct FindingSpans {
  Span<FindingRow> findings;
  Span<double> vectors{};
  Span<double> modes{};
};

struct ProbeSpans {
  Depth depth = Depth::probes;
  Span<ProbeRow> probes;
  Span<LaneRow> lanes;
  Span<double> repeats;
  Span<std::uint64_t> visits;
  Span<WindowCount> bins;
  /// In the order of for_each_recording.
  std::vector<std::variant<Span<std::uint32_t>, Span<std::uint64_t>>> recordings;
};

/// @throws StoreError naming the group of the owned row unless both are of one device
void require_same_device(const std::string& group, std::uint64_t owner, std::uint64_t owned) {
  require_sound(owner == owned, group, ": a row refers to rows of another device");
}

/// Jobs have plain names: others could pass for something else wherever they are shown, or lead to
/// other groups.
void require_job_name(std::string_view name) {
  const bool is_plain =
      std::ranges::all_of(name, [](char c) { return c > ' ' && c <= '~' && c != '/'; });
  require_sound(is_plain && !name.empty() && name != "." && name != "..",
                "a job has an unusable name");
}

Value value_of(const FindingRow& row, const FindingSpans& spans) {
  if (row.value_kind == "number") return row.number;
  if (row.value_kind == "text") return std::string(row.text);
  if (row.value_kind == "vector") return spans.vectors.take(row.vector);
  if (row.value_kind == "none") return {};
  throw StoreError(fmt::format("unknown kind of value '{}'", row.value_kind));
}

std::optional<Interval> interval_of(const FindingRow& row) {
  const auto [low, high] = row.interval;
  if (std::isnan(low) && std::isnan(high)) return std::nullopt;
  require_sound(low <= high, "an interval ends before it begins");
  return row.interval;
}

std::vector<std::uint64_t> offsets_of(const LaneRow& row, const ProbeSpans& spans) {
  std::vector<std::uint64_t> offsets = spans.visits.take(row.visits);
  for (std::uint64_t& offset : offsets) {
    require_sound(row.visit_step_bytes == 0 ||
                      offset <= std::numeric_limits<std::uint64_t>::max() / row.visit_step_bytes,
                  spans.visits.group, ": an address is beyond all numbers");
    offset *= row.visit_step_bytes;
  }
  return offsets;
}

std::vector<WindowCount> histogram_of(const LaneRow& row, const ProbeSpans& spans) {
  std::vector<WindowCount> bins = spans.bins.take(row.bins);
  const auto not_after = [](const WindowCount& one, const WindowCount& next) {
    return next.window_cycles <= one.window_cycles;
  };
  require_sound(std::ranges::adjacent_find(bins, not_after) == bins.end() &&
                    (bins.empty() || bins.back().window_cycles < histogram_bins),
                spans.bins.group, ": the bins of a histogram are not those of one");
  return bins;
}

/// @param index of the probe's row in the file
ProbeRecord assemble_probe(ProbeRow& row, std::uint64_t index, ProbeSpans& spans) {
  ProbeRecord record = std::move(row.record);
  if (spans.depth < Depth::traces) return record;
  record.trace.repeat_ns = spans.repeats.take(row.repeats);
  for (const LaneRow& lane_row : spans.lanes.owned_by(row.lanes)) {
    require_same_device(spans.lanes.group, row.device_index, lane_row.device_index);
    require_sound(lane_row.probe_index == index, spans.lanes.group,
                  ": a probe refers to lanes of another probe");
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

ProbeSpans read_probe_spans(const StoredTables& tables, const std::string& job,
                            const std::vector<OutcomeRow*>& outcomes, Depth depth) {
  ProbeSpans spans;
  spans.depth = depth;
  spans.probes = read_owned(tables, probe_table(job), outcomes, &OutcomeRow::probes);
  if (depth == Depth::probes) return spans;
  spans.lanes = read_owned(tables, lane_table(job), spans.probes.rows, &ProbeRow::lanes);
  spans.repeats = read_owned(tables, repeat_table(job), spans.probes.rows, &ProbeRow::repeats);
  for_each_recording([&](const auto& recording) {
    spans.recordings.push_back(
        read_owned(tables, recording.table(job), spans.lanes.rows, recording.rows));
  });
  spans.visits = read_owned(tables, visit_table(job), spans.lanes.rows, &LaneRow::visits);
  spans.bins = read_owned(tables, bin_table(job), spans.lanes.rows, &LaneRow::bins);
  return spans;
}

void add_probes(const StoredTables& tables, Depth depth, std::vector<OutcomeRow>& outcomes) {
  std::map<std::string, std::vector<OutcomeRow*>> owners;
  for (OutcomeRow& outcome : outcomes) {
    if (outcome.probes.length > 0) owners[outcome.result.job].push_back(&outcome);
  }
  for (const auto& [job, own] : owners) {
    ProbeSpans spans = read_probe_spans(tables, job, own, depth);
    for (OutcomeRow* outcome : own) {
      std::uint64_t index = outcome->probes.offset;
      for (ProbeRow& row : spans.probes.owned_by(outcome->probes)) {
        require_same_device(spans.probes.group, outcome->device_index, row.device_index);
        outcome->result.probes.push_back(assemble_probe(row, index++, spans));
      }
    }
  }
}

void add_findings(const StoredTables& tables, std::vector<OutcomeRow>& outcomes) {
  FindingSpans spans{.findings =
                         read_owned(tables, finding_table(), outcomes, &OutcomeRow::findings)};
  std::uint64_t owned = 0;
  for (const OutcomeRow& outcome : outcomes) owned += outcome.findings.length;
  require_sound(owned == spans.findings.rows.size(), keys::findings.group,
                ": some belong to no outcome");
  spans.vectors = read_owned(tables, vector_table(), spans.findings.rows, &FindingRow::vector);
  spans.modes = read_owned(tables, mode_table(), spans.findings.rows, &FindingRow::modes);
  for (OutcomeRow& outcome : outcomes) {
    outcome.result.findings.reserve(outcome.findings.length);
    for (FindingRow& row : spans.findings.owned_by(outcome.findings)) {
      require_same_device(spans.findings.group, outcome.device_index, row.device_index);
      Finding& finding = outcome.result.findings.emplace_back(std::move(row.finding));
      finding.value = value_of(row, spans);
      finding.modes = spans.modes.take(row.modes);
      finding.interval = interval_of(row);
    }
  }
}

}  // namespace

JobReader::JobReader(StoredTables tables) : tables_(std::move(tables)), jobs_(tables_.jobs()) {
  std::ranges::for_each(jobs_, require_job_name);
  place_probes();
}

/// Probes of a job lie in the order of its outcomes: those of one begin behind those of all before.
void JobReader::place_probes() {
  if (jobs_.empty()) return;
  Table outcomes = outcome_table().empty();
  std::erase_if(outcomes.columns, [](const Column& column) {
    return column.name != "job" && column.name != "probe_length";
  });
  outcomes = tables_.read(outcomes, {0, tables_.rows(outcomes.key)});
  const auto& jobs = std::get<std::vector<std::uint32_t>>(outcomes.columns[0].values);
  const auto& lengths = std::get<std::vector<std::uint64_t>>(outcomes.columns[1].values);
  std::map<std::string_view, std::uint64_t> counted;  // ranks may each have a name of their own
  for (std::size_t row = 0; row < jobs.size(); ++row) {
    std::uint64_t& count = counted[tables_.names().at(jobs[row])];
    first_probes_.push_back(count);
    count += lengths[row];
  }
  for (const std::string& job : jobs_) {
    require_sound(counted.contains(job) && counted[job] == tables_.rows(keys::probes(job)), "jobs/",
                  job, " has more or fewer probes than its outcomes");
  }
}

std::vector<std::vector<JobResult>> JobReader::read(std::uint64_t first,
                                                    const std::vector<RowRange>& devices,
                                                    Depth depth, const std::string& only) const {
  auto span = read_owned(tables_, outcome_table(), devices, std::identity{});
  std::vector<OutcomeRow> outcomes;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    for (OutcomeRow& row : span.owned_by(devices[i])) {
      require_same_device(span.group, first + i, row.device_index);
      require_job_name(row.result.job);
      const auto place = span.first + static_cast<std::uint64_t>(&row - span.rows.data());
      if (place < first_probes_.size()) row.probes.offset = first_probes_[place];
      if (only.empty() || row.result.job == only) outcomes.push_back(std::move(row));
    }
  }
  if (only.empty()) {
    std::uint64_t owned = 0;
    for (const RowRange& range : devices) owned += range.length;
    require_sound(owned == span.rows.size(), "outcomes: some belong to no device");
  }
  if (depth >= Depth::probes) add_probes(tables_, depth, outcomes);
  add_findings(tables_, outcomes);
  std::vector<std::vector<JobResult>> jobs(devices.size());
  for (OutcomeRow& row : outcomes) {
    jobs[row.device_index - first].push_back(std::move(row.result));
  }
  return jobs;
}

}  // namespace sonde
