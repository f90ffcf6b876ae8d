#include "store/hdf5/job_reader.hpp"

#include "store/hdf5/owned_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <utility>

namespace sonde {
namespace {

using FindingSpans = FindingTables<Span>;
using ProbeSpans = ProbeTables<Span>;

/// @throws StoreError with the name of the group if the two rows belong to different devices
void require_same_device(const std::string& group, std::uint64_t owner, std::uint64_t owned) {
  require_sound(owner == owned, group, ": a row refers to rows of another device");
}

/// Requires a plain name of a job: other characters could mislead where the name is shown.
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

std::vector<std::uint64_t> offsets_of(std::uint32_t list, ProbeSpans& spans) {
  const auto& [step, visits] = spans.lists.owned_by({list, 1}).front();
  std::vector<std::uint64_t> offsets = spans.visits.take(visits);
  const std::uint64_t last =
      std::numeric_limits<std::uint64_t>::max() / std::max(step, std::uint64_t{1});
  for (std::uint64_t& offset : offsets) {
    require_sound(offset <= last, spans.visits.group, ": an address is beyond all numbers");
    offset *= step;
  }
  return offsets;
}

std::vector<WindowCount> histogram_of(RowRange rows, const ProbeSpans& spans) {
  std::vector<WindowCount> bins = spans.bins.take(rows);
  const auto not_after = [](const WindowCount& one, const WindowCount& next) {
    return next.window_cycles <= one.window_cycles;
  };
  require_sound(std::ranges::adjacent_find(bins, not_after) == bins.end() &&
                    (bins.empty() || bins.back().window_cycles < histogram_bins),
                spans.bins.group, ": the bins of a histogram are not those of one");
  return bins;
}

/// @param long_windows the remaining long windows of the probe; those of this lane are removed
std::vector<std::uint32_t> windows_of(std::span<const std::uint16_t> stored,
                                      std::span<const std::uint32_t>& long_windows) {
  std::vector<std::uint32_t> windows(stored.begin(), stored.end());
  for (std::uint32_t& cycles : windows) {
    if (cycles < long_window) continue;
    require_sound(!long_windows.empty() && long_windows.front() >= long_window, keys::lanes.group,
                  ": a long window has no length");
    cycles = long_windows.front();
    long_windows = long_windows.subspan(1);
  }
  return windows;
}

/// The rows of a lane in a dimension; moves `first` to the rows of the next lane.
RowRange next_rows(std::uint64_t& first, std::uint32_t length) {
  const RowRange rows{first, length};
  first += length;
  return rows;
}

void assemble_lanes(ProbeRow& row, ProbeSpans& spans) {
  Trace& trace = row.record.trace;
  trace.repeat_ns = spans.repeats.take(row.repeats);
  std::span<const std::uint32_t> long_windows = spans.long_windows.owned_by(row.long_windows);
  auto& first = row.first_recorded;
  trace.lanes.reserve(row.lanes.length);
  for (const LaneRow& stored : spans.lanes.owned_by(row.lanes)) {
    const auto rows_of = [&](recorded::Kind kind) {
      return next_rows(first[kind], stored.recorded[kind]);
    };
    LaneTrace& lane = trace.lanes.emplace_back();
    lane.sm = stored.sm;
    lane.warp = stored.warp;
    lane.cluster = stored.cluster;
    lane.elapsed_cycles = stored.elapsed_cycles;
    lane.accesses = stored.accesses;
    lane.window_cycles =
        windows_of(spans.windows.owned_by(rows_of(recorded::windows)), long_windows);
    lane.offsets_bytes = offsets_of(stored.list, spans);
    lane.histogram = histogram_of(rows_of(recorded::bins), spans);
    lane.clock_cycles = spans.clocks.take(rows_of(recorded::clocks));
    lane.globaltimer_ns = spans.timers.take(rows_of(recorded::timers));
    lane.counts = spans.counts.take(rows_of(recorded::counts));
  }
  require_sound(long_windows.empty(), keys::lanes.group, ": lengths of no long window");
}

/// For each probe, its rows of a kind.
std::vector<RowRange> recorded_by(ProbeSpans& spans, recorded::Kind kind) {
  std::vector<RowRange> owned;
  for (const ProbeRow& row : spans.probes.rows) {
    RowRange& range = owned.emplace_back(row.first_recorded[kind], 0);
    for (const LaneRow& lane : spans.lanes.owned_by(row.lanes)) range.length += lane.recorded[kind];
  }
  return owned;
}

/// Reads the lists that lanes share. A lane may not have more addresses than accesses; otherwise a
/// damaged file could make shared lists be copied without bound.
Span<ListRow> read_lists(const StoredTables& tables, const std::vector<LaneRow>& lanes) {
  if (lanes.empty()) return {.group = keys::lists.group};
  const auto [least, most] = std::ranges::minmax(lanes, {}, &LaneRow::list);
  const std::uint64_t first = least.list;
  require_sound(most.list - first < lanes.size(), keys::lists.group, ": lists of no lane");
  auto lists = read_span(tables, list_table(), {first, most.list - first + 1});
  std::vector<bool> used(lists.rows.size());
  for (const LaneRow& lane : lanes) {
    used[lane.list - first] = true;
    require_sound(lists.rows[lane.list - first].visits.length <= lane.recorded[recorded::windows],
                  keys::lists.group, ": a lane has more addresses than accesses");
  }
  require_sound(std::ranges::find(used, false) == used.end(), keys::lists.group,
                ": a list of no lane");
  return lists;
}

void read_traces(const StoredTables& tables, ProbeSpans& spans) {
  const auto recorded = [&](recorded::Kind kind, const auto& table) {
    return read_owned(tables, table, recorded_by(spans, kind));
  };
  spans.lanes = read_owned(tables, lane_table(), spans.probes.rows, &ProbeRow::lanes);
  spans.repeats = read_owned(tables, repeat_table, spans.probes.rows, &ProbeRow::repeats);
  spans.long_windows =
      read_owned(tables, long_window_table, spans.probes.rows, &ProbeRow::long_windows);
  spans.lists = read_lists(tables, spans.lanes.rows);
  spans.visits = read_owned(tables, visit_table, spans.lists.rows, &ListRow::visits);
  spans.windows = recorded(recorded::windows, window_table);
  spans.bins = recorded(recorded::bins, bin_table());
  spans.clocks = recorded(recorded::clocks, clock_table);
  spans.timers = recorded(recorded::timers, timer_table);
  spans.counts = recorded(recorded::counts, count_table);
}

void add_probes_of(const StoredTables& tables, Depth depth, std::span<OutcomeRow> outcomes) {
  ProbeSpans spans;
  spans.probes = read_owned(tables, probe_table(), outcomes, &OutcomeRow::probes);
  if (depth == Depth::traces) read_traces(tables, spans);
  for (OutcomeRow& outcome : outcomes) {
    outcome.result.probes.reserve(outcome.probes.length);
    for (ProbeRow& row : spans.probes.owned_by(outcome.probes)) {
      require_same_device(spans.probes.group, outcome.device_index, row.device_index);
      if (depth == Depth::traces) assemble_lanes(row, spans);
      outcome.result.probes.push_back(std::move(row.record));
    }
  }
}

/// Traces are read job by job, since all of them would be in memory twice at the same time.
void add_probes(const StoredTables& tables, Depth depth, std::span<OutcomeRow> outcomes) {
  const std::size_t step = depth == Depth::traces ? 1 : outcomes.size();
  for (; !outcomes.empty(); outcomes = outcomes.subspan(step)) {
    add_probes_of(tables, depth, outcomes.first(step));
  }
}

void add_findings(const StoredTables& tables, std::vector<OutcomeRow>& outcomes) {
  FindingSpans spans;
  spans.findings = read_owned(tables, finding_table(), outcomes, &OutcomeRow::findings);
  spans.vectors = read_owned(tables, vector_table, spans.findings.rows, &FindingRow::vector);
  spans.modes = read_owned(tables, mode_table, spans.findings.rows, &FindingRow::modes);
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

void check_outcomes(const StoredTables& tables) {
  Table outcomes = outcome_table().empty();
  std::erase_if(outcomes.columns, [](const Column& one) { return one.name != "probe_length"; });
  outcomes = tables.read(std::move(outcomes), {0, tables.rows(keys::outcomes)});
  std::uint64_t sum = 0;
  for (const auto length : std::get<std::vector<std::uint64_t>>(outcomes.columns[0].values)) {
    sum += length;
  }
  require_sound(sum == tables.rows(keys::probes), keys::probes.group,
                " are more or fewer than outcomes say");
}

std::vector<std::vector<JobResult>> read_results(const StoredTables& tables, std::uint64_t first,
                                                 const std::vector<RowRange>& devices, Depth depth,
                                                 const std::string& only) {
  auto span = read_owned(tables, outcome_table(), devices);
  std::vector<OutcomeRow> outcomes;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    for (OutcomeRow& row : span.owned_by(devices[i])) {
      require_same_device(span.group, first + i, row.device_index);
      require_job_name(row.result.job);
      if (only.empty() || row.result.job == only) outcomes.push_back(std::move(row));
    }
  }
  if (depth >= Depth::probes) add_probes(tables, depth, outcomes);
  add_findings(tables, outcomes);
  std::vector<std::vector<JobResult>> jobs(devices.size());
  for (OutcomeRow& row : outcomes) {
    row.result.first_probe = row.probes.offset;
    jobs[row.device_index - first].push_back(std::move(row.result));
  }
  return jobs;
}

}  // namespace sonde
