// Keeps the probes and findings of a job until the suite moves them to the run file.
#include "jobs/run/job_run.hpp"

#include "analysis/metrics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace sonde {
namespace {

// About 10 MB of windows and addresses in the file, before compression.
constexpr std::uint64_t most_searched_accesses = 1'000'000;

Trace by_frequency(const Trace& trace) {
  Trace counted = trace;
  std::vector<std::uint64_t> counts;
  for (LaneTrace& lane : counted.lanes) {
    counts.assign(histogram_bins, 0);
    for (std::uint32_t window : lane.window_cycles) {
      ++counts[std::min<std::size_t>(window, histogram_bins - 1)];
    }
    // The histogram of a backend also counts the recorded accesses.
    if (lane.histogram.empty()) lane.histogram = to_histogram<std::uint64_t>(counts);
    lane.window_cycles.clear();
    lane.offsets_bytes.clear();
  }
  return counted;
}

}  // namespace

JobRun::JobRun(Device& device, std::string_view job, SuiteLevel level, std::uint64_t seed,
               const std::vector<JobResult>& earlier, std::function<void()> on_probe)
    : device_(device),
      job_(job),
      level_(level),
      seed_(seed),
      earlier_(earlier),
      on_probe_(std::move(on_probe)) {}

const DeviceInfo& JobRun::info() const { return device_.info(); }

std::optional<std::string> JobRun::text_setting(std::string_view option) const {
  const auto set = settings_.find(option);
  return set == settings_.end() ? std::nullopt : std::optional(set->second);
}

std::optional<std::uint64_t> JobRun::number_setting(std::string_view option) const {
  const auto text = text_setting(option);
  return text ? std::optional<std::uint64_t>(std::stoull(*text)) : std::nullopt;
}

std::vector<int> JobRun::choices(const JobOption& option, std::vector<int> usual) const {
  const auto set = number_setting(option.name);
  return set ? std::vector{static_cast<int>(*set)} : std::move(usual);
}

const Trace& JobRun::run(std::string label, const ProbeSpec& spec) {
  ProbeRecord record{std::move(label), std::string(probe_kind(spec)), describe_probe(spec),
                     device_.run(spec)};
  account(record.trace);
  records_.push_back(std::move(record));
  if (on_probe_) on_probe_();
  return records_.back().trace;
}

Trace JobRun::ask(std::string label, const ProbeSpec& spec) {
  Trace trace = device_.run(spec);
  account(trace);
  for (const LaneTrace& lane : trace.lanes) searched_accesses_ += lane.window_cycles.size();
  const bool whole = searched_accesses_ <= most_searched_accesses;
  records_.push_back({std::move(label), std::string(probe_kind(spec)), describe_probe(spec),
                      whole ? trace : by_frequency(trace)});
  if (on_probe_) on_probe_();
  return trace;
}

void JobRun::account(const Trace& trace) {
  device_s_ += trace.device_s;
  throttled_probes_ += (trace.conditions.throttle_reasons & harmful_throttle_mask) != 0;
}

void JobRun::report(Finding finding) {
  require(find_metric(finding.metric) != nullptr,
          "metric '" + finding.metric + "' is not in the registry (analysis/metrics.cpp)");
  require(find_finding(findings_, finding.metric) == nullptr,
          "metric '" + finding.metric + "' was reported twice");
  findings_.push_back(std::move(finding));
}

void JobRun::report(Finding finding, std::string remark) {
  finding.reason = std::move(remark);
  report(std::move(finding));
}

void JobRun::report_rest(std::string_view prefix, Status status, const std::string& reason) {
  for (const Metric& metric : all_metrics()) {
    if (metric.job != job_ || !metric.name.starts_with(prefix)) continue;
    if (find_finding(findings_, metric.name) == nullptr) {
      report(no_answer(std::string(metric.name), status, reason));
    }
  }
}

void JobRun::skip_rest(std::string_view prefix) {
  report_rest(prefix, Status::skipped, "not in the quick suite: the standard suite has it");
}

const Finding* JobRun::answer(std::string_view metric) const {
  if (const Finding* own = find_finding(findings_, metric)) return own;
  for (const JobResult& job : earlier_) {
    if (const Finding* finding = find_finding(job.findings, metric)) return finding;
  }
  return nullptr;
}

const Finding* JobRun::finding(std::string_view metric) const {
  const Finding* found = answer(metric);
  return found != nullptr && found->status == Status::ok ? found : nullptr;
}

std::optional<double> JobRun::number(std::string_view metric) const {
  const Finding* found = finding(metric);
  if (found == nullptr) return std::nullopt;
  const double* value = std::get_if<double>(&found->value);
  return value ? std::optional(*value) : std::nullopt;
}

std::optional<std::vector<double>> JobRun::vector(std::string_view metric) const {
  const Finding* found = finding(metric);
  if (found == nullptr) return std::nullopt;
  const auto* value = std::get_if<std::vector<double>>(&found->value);
  return value ? std::optional(*value) : std::nullopt;
}

JobResult JobRun::take_result() {
  JobResult result;
  result.status = Status::ok;
  if (dropped_replicates_ > 0) {
    result.reason = fmt::format(
        "{} replicate(s) do not count and were measured anew: heat or power held the clocks down",
        dropped_replicates_);
  }
  result.device_s = device_s_;
  result.findings = std::move(findings_);
  result.probes.assign(std::make_move_iterator(records_.begin()),
                       std::make_move_iterator(records_.end()));
  for (ProbeRecord& record : result.probes) {
    for (LaneTrace& lane : record.trace.lanes) lane.sm = device_.sm_of_gpu(lane.sm);
  }
  return result;
}

}  // namespace sonde
