// Which outcomes are wanted, and what of each.
#include "store/job_reader.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace sonde {
namespace {

ColumnSpec outcome_column(std::string_view name) {
  const auto table = outcome_table();
  return *std::ranges::find(table.columns(), name, &ColumnSpec::name);
}

/// Probes of each job that has any.
using ProbeCounts = std::map<std::string, std::uint64_t, std::less<>>;

/// Of the first so many outcomes.
ProbeCounts count_probes(const StoredTable& outcomes, std::uint64_t rows) {
  ProbeCounts counts;
  if (rows == 0 || outcomes.is_all_zero(outcome_column("probe_length"))) return counts;
  const PackedColumn jobs = outcomes.read(outcome_column("job"), {0, rows});
  const auto lengths = std::get<std::vector<std::uint64_t>>(
      unpack(outcomes.read(outcome_column("probe_length"), {0, rows})));
  for (std::uint64_t row = 0; row < rows; ++row) {
    if (lengths[row] > 0) counts[std::string(text_at(jobs, row))] += lengths[row];
  }
  return counts;
}

/// Probes of a job lie in the order of its outcomes: those of these rows begin behind those of all
/// rows before them.
void place_probes(StoredFile& file, Span<OutcomeRow>& outcomes) {
  ProbeCounts next = count_probes(file.table(keys::outcomes()), outcomes.first);
  for (OutcomeRow& row : outcomes.rows) {
    if (row.probes.length == 0) continue;
    std::uint64_t& offset = next[row.result.job];
    row.probes.offset = std::exchange(offset, offset + row.probes.length);
  }
}

/// Those of each device, one device after the other.
std::vector<OutcomeRow> read_outcomes(StoredFile& file, std::uint64_t first,
                                      const std::vector<DeviceRow>& devices) {
  auto span = read_owned(file, outcome_table(), devices, &DeviceRow::outcomes);
  place_probes(file, span);
  std::vector<OutcomeRow> outcomes;
  outcomes.reserve(span.rows.size());  // names in it stay where they are
  for (std::size_t i = 0; i < devices.size(); ++i) {
    std::set<std::string_view> seen;
    for (OutcomeRow& row : span.owned_by(devices[i].outcomes)) {
      require_same_device(span.group, first + i, row.device_index);
      require_sound(is_job_name(row.result.job), "a job has an unusable name");
      OutcomeRow& own = outcomes.emplace_back(std::move(row));
      require_sound(seen.insert(own.result.job).second, own.result.job,
                    " occurs twice on one device");
    }
  }
  require_sound(outcomes.size() == span.rows.size(), "outcomes: some belong to no device");
  return outcomes;
}

void add_probes(StoredFile& file, const std::vector<OutcomeRow>& outcomes, Depth depth,
                std::vector<JobResult>& results) {
  std::map<std::string, std::vector<std::size_t>> places;
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    if (outcomes[i].probes.length > 0) places[outcomes[i].result.job].push_back(i);
  }
  for (const auto& [job, own] : places) {
    std::vector<OutcomeRow> rows;
    for (const std::size_t i : own) rows.push_back(outcomes[i]);
    auto spans = read_probe_spans(file, job, rows, depth);
    for (const std::size_t i : own) results[i].probes = take_probes(outcomes[i], spans);
  }
}

/// Without their findings.
std::vector<JobResult> read_results(StoredFile& file, const std::vector<OutcomeRow>& outcomes,
                                    Depth depth) {
  std::vector<JobResult> results;
  for (const OutcomeRow& outcome : outcomes) results.push_back(outcome.result);
  if (depth >= Depth::probes) add_probes(file, outcomes, depth, results);
  return results;
}

/// Of each device of a span, by the place of the job in its run.
using JobsByPosition = std::vector<std::map<std::uint64_t, JobResult>>;

void collect_job(StoredFile& file, const std::string& job, RowRange span, Depth depth,
                 JobsByPosition& jobs_by_position) {
  require_sound(is_job_name(job), "a job has an unusable name");
  const auto table = outcome_table(job);
  auto outcomes = read_span(file, table, {0, file.table(table.key()).rows()}).rows;
  const std::uint64_t devices = file.table(keys::devices).rows();
  std::vector<bool> seen(outcomes.empty() ? 0 : devices);
  for (const OutcomeRow& row : outcomes) {
    require_sound(row.device_index < devices, job, " has an outcome of no device");
    require_sound(!seen[row.device_index], job, " occurs twice on one device");
    seen[row.device_index] = true;
  }
  std::erase_if(outcomes, [span](const OutcomeRow& row) {
    return row.device_index < span.offset || row.device_index - span.offset >= span.length;
  });
  FindingSpans findings = read_finding_spans(file, outcomes, job);
  ProbeSpans probes;
  if (depth >= Depth::probes) probes = read_probe_spans(file, job, outcomes, depth);
  for (const OutcomeRow& outcome : outcomes) {
    auto& jobs = jobs_by_position[outcome.device_index - span.offset];
    require_sound(!jobs.contains(outcome.position), job, " has the place of another job");
    JobResult& result = jobs[outcome.position] = outcome.result;
    result.job = job;
    result.findings = take_findings(outcome, findings);
    if (depth >= Depth::probes) result.probes = take_probes(outcome, probes);
  }
}

}  // namespace

void check_jobs_with_tables(StoredFile& file, const std::vector<std::string>& jobs) {
  for (const std::string& job : jobs) {
    require_sound(is_job_name(job), "a job has an unusable name");
  }
  if (jobs.empty()) return;
  const StoredTable& outcomes = file.table(keys::outcomes());
  const ProbeCounts counts = count_probes(outcomes, outcomes.rows());
  for (const std::string& job : jobs) {
    const auto counted = counts.find(job);
    require_sound(
        counted != counts.end() && counted->second == file.table(keys::probes(job)).rows(), "jobs/",
        job, " has more or fewer probes than its outcomes");
  }
}

JobsAssembly read_joined_jobs(StoredFile& file, std::uint64_t first,
                              const std::vector<DeviceRow>& devices, Depth depth) {
  std::vector<OutcomeRow> outcomes = read_outcomes(file, first, devices);
  std::vector<JobResult> results = read_results(file, outcomes, depth);
  FindingSpans spans = read_finding_spans(file, outcomes);
  return [spans = std::move(spans), outcomes = std::move(outcomes), results = std::move(results),
          jobs = std::vector<StoredJobs>(devices.size()), first]() mutable {
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
      results[i].findings = take_findings(outcomes[i], spans);
      jobs[outcomes[i].device_index - first].push_back(std::move(results[i]));
    }
    return std::move(jobs);
  };
}

std::optional<JobResult> read_joined_job(StoredFile& file, std::uint64_t row,
                                         const DeviceRow& device, const std::string& job) {
  std::vector<OutcomeRow> outcomes = read_outcomes(file, row, {device});
  std::erase_if(outcomes, [&](const OutcomeRow& one) { return one.result.job != job; });
  if (outcomes.empty()) return std::nullopt;
  JobResult result = std::move(read_results(file, outcomes, Depth::traces).front());
  result.findings = take_findings(outcomes.front(), read_finding_spans(file, outcomes));
  return result;
}

std::map<std::string, RowRange> place_probes(StoredFile& file, RowRange outcomes) {
  Span<OutcomeRow> span = read_span(file, outcome_table(), outcomes);
  place_probes(file, span);
  std::map<std::string, RowRange> places;
  for (const OutcomeRow& row : span.rows) {
    if (row.probes.length == 0) continue;
    places.try_emplace(row.result.job, RowRange{row.probes.offset, 0}).first->second.length +=
        row.probes.length;
  }
  return places;
}

std::vector<StoredJobs> read_jobs_by_job(StoredFile& file, RowRange span,
                                         const std::vector<std::string>& jobs, Depth depth) {
  JobsByPosition by_position(span.length);
  for (const std::string& job : jobs) {
    collect_job(file, job, span, depth, by_position);
  }
  std::vector<StoredJobs> ordered(span.length);
  for (std::size_t i = 0; i < ordered.size(); ++i) {
    for (auto& [position, result] : by_position[i]) ordered[i].push_back(std::move(result));
  }
  return ordered;
}

}  // namespace sonde
