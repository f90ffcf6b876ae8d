// Offsets and lengths are followed, and checked, level by level.
#include "store/job_spans.hpp"

#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <limits>
#include <optional>

namespace sonde {
namespace {

/// Texts of joined tables are apart.
void take_texts(FindingRow& row, const FindingSpans& spans) {
  if (!spans.joined) return;
  row.text = spans.texts.text(row.text_bytes);
  row.finding.reason = spans.reasons.text(row.reason_bytes);
}

Value value_of(FindingRow& row, const FindingSpans& spans) {
  if (row.value_kind == "number") return row.number;
  if (row.value_kind == "text") return std::move(row.text);
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
ProbeRecord assemble_probe(const ProbeRow& row, std::uint64_t index, const ProbeSpans& spans) {
  ProbeRecord record = row.record;
  if (spans.depth < Depth::traces) return record;
  record.trace.repeat_ns = spans.repeats.take(row.repeats);
  for (const LaneRow& lane_row : spans.lanes.take(row.lanes)) {
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

}  // namespace

void require_same_device(const std::string& group, std::uint64_t owner, std::uint64_t owned) {
  require_sound(owner == owned, group, ": a row refers to rows of another device");
}

FindingSpans read_finding_spans(StoredFile& file, const std::vector<OutcomeRow>& outcomes,
                                const std::string& job) {
  const bool joined = job.empty();
  auto table = joined ? finding_table() : finding_table(job);
  const RowRange range = hull(table.key().group, outcomes, &OutcomeRow::findings);
  PackedSpan findings(file, std::move(table), range);
  std::uint64_t owned = 0;
  for (const OutcomeRow& outcome : outcomes) owned += outcome.findings.length;
  require_sound(owned == range.length, findings.group(), ": some belong to no outcome");
  const auto owned_by_them = [&](const auto& values, const char* name) {
    return PackedSpan(file, values, hull(values.key.group, findings.ranges(name), std::identity{}));
  };
  auto vectors = owned_by_them(vector_table(job), "vector");
  auto modes = owned_by_them(mode_table(job), "mode");
  auto texts = owned_by_them(text_table(), "text");
  auto reasons = owned_by_them(reason_table(), "reason");
  return {joined,           std::move(findings), std::move(vectors),
          std::move(modes), std::move(texts),    std::move(reasons)};
}

std::vector<Finding> take_findings(const OutcomeRow& outcome, const FindingSpans& spans) {
  std::vector<Finding> findings;
  findings.reserve(outcome.findings.length);
  for (FindingRow& row : spans.findings.take(outcome.findings)) {
    require_same_device(spans.findings.group(), outcome.device_index, row.device_index);
    take_texts(row, spans);
    Finding& finding = findings.emplace_back(std::move(row.finding));
    finding.value = value_of(row, spans);
    finding.modes = spans.modes.take(row.modes);
    finding.interval = interval_of(row);
  }
  return findings;
}

ProbeSpans read_probe_spans(StoredFile& file, const std::string& job,
                            const std::vector<OutcomeRow>& outcomes, Depth depth) {
  ProbeSpans spans;
  spans.depth = depth;
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

std::vector<ProbeRecord> take_probes(const OutcomeRow& outcome, ProbeSpans& spans) {
  std::vector<ProbeRecord> records;
  std::uint64_t index = outcome.probes.offset;
  for (const ProbeRow& row : spans.probes.owned_by(outcome.probes)) {
    require_same_device(spans.probes.group, outcome.device_index, row.device_index);
    records.push_back(assemble_probe(row, index++, spans));
  }
  return records;
}

bool is_job_name(std::string_view name) {
  const bool is_plain =
      std::ranges::all_of(name, [](char c) { return c > ' ' && c <= '~' && c != '/'; });
  return is_plain && !name.empty() && name != "." && name != "..";
}

}  // namespace sonde
