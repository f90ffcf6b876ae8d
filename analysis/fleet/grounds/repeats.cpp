// The centre of repeats, for each metric.
#include "analysis/fleet/grounds/grounds.hpp"

#include "analysis/metrics.hpp"
#include "analysis/statistics.hpp"
#include "trace/health.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace sonde {
namespace {

template <class T>
using Pointers = std::vector<const T*>;

/// The most frequent value; of several the first.
template <class T, class Member>
Member most_frequent(const Pointers<T>& all, Member T::*member) {
  const auto count = [&](const T* one) {
    return std::ranges::count_if(all,
                                 [&](const T* other) { return other->*member == one->*member; });
  };
  return (*std::ranges::max_element(all, {}, count))->*member;
}

double median_of(const Pointers<Finding>& findings, double Finding::*member) {
  std::vector<double> all;
  for (const Finding* finding : findings) all.push_back(finding->*member);
  return median(std::move(all));
}

template <class T>
std::vector<T> values_of(const Pointers<Finding>& findings) {
  std::vector<T> values;
  for (const Finding* finding : findings) {
    if (const auto* value = std::get_if<T>(&finding->value)) values.push_back(*value);
  }
  return values;
}

/// By element, if all vectors have the same length; else the first vector.
std::vector<double> median_of_elements(const std::vector<std::vector<double>>& vectors) {
  std::vector<double> centre = vectors.front();
  const auto is_long = [&](const auto& one) { return one.size() == centre.size(); };
  if (!std::ranges::all_of(vectors, is_long)) return centre;
  for (std::size_t i = 0; i < centre.size(); ++i) {
    std::vector<double> elements;
    for (const auto& vector : vectors) elements.push_back(vector[i]);
    centre[i] = median(std::move(elements));
  }
  return centre;
}

/// @param repeats of one metric, not empty
Finding centre_of(Pointers<Finding> repeats) {
  const Status status = most_frequent(repeats, &Finding::status);
  std::erase_if(repeats, [status](const Finding* one) { return one->status != status; });
  Finding centre = *repeats.front();
  if (repeats.size() == 1) return centre;
  centre.confidence = median_of(repeats, &Finding::confidence);
  centre.repeatability = median_of(repeats, &Finding::repeatability);
  centre.samples = centre.replicates = 0;
  for (const Finding* finding : repeats) {
    centre.samples += finding->samples;
    centre.replicates += finding->replicates;
  }
  const std::vector<double> numbers = values_of<double>(repeats);
  const auto vectors = values_of<std::vector<double>>(repeats);
  if (!numbers.empty()) {
    centre.reproducibility = standard_deviation(numbers);
    centre.replicates = numbers.size();
  }
  const Metric* metric = find_metric(centre.metric);
  const bool is_counted = metric != nullptr && metric->kind == MetricKind::structural;
  if (!numbers.empty() && !is_counted) {
    centre.value = median(numbers);
  } else if (!vectors.empty()) {
    centre.value = median_of_elements(vectors);
  } else {
    centre.value = most_frequent(repeats, &Finding::value);
    const auto votes = std::ranges::count_if(
        repeats, [&](const Finding* one) { return one->value == centre.value; });
    centre.confidence *= static_cast<double>(votes) / static_cast<double>(repeats.size());
  }
  return centre;
}

int badness(Status status) {
  return status == Status::failed ? 2 : status == Status::not_run ? 1 : 0;
}

/// The job over all repeats: the worst outcome, with the reasons of all failures (one may have lost
/// a launch, another read wrong data); the total time; the probes of the first repeat.
JobResult centre_of_job(const Pointers<JobResult>& repeats) {
  JobResult centre = *repeats.front();
  centre.elapsed_s = centre.device_s = 0;
  for (const JobResult* job : repeats) {
    if (badness(job->status) > badness(centre.status)) {
      centre.status = job->status;
      centre.reason = job->reason;
    } else if (job->status == Status::failed && centre.status == Status::failed &&
               centre.reason.find(job->reason) == std::string::npos) {
      centre.reason += (centre.reason.empty() ? "" : "; ") + job->reason;
    }
    centre.elapsed_s += job->elapsed_s;
    centre.device_s += job->device_s;
  }
  std::vector<std::string_view> metrics;  // a repeat that was not run has no findings
  std::map<std::string_view, Pointers<Finding>> repeats_of;
  for (const JobResult* job : repeats) {
    for (const Finding& finding : job->findings) {
      Pointers<Finding>& same = repeats_of[finding.metric];
      if (same.empty()) metrics.push_back(finding.metric);
      same.push_back(&finding);
    }
  }
  centre.findings.clear();
  for (const std::string_view metric : metrics) {
    centre.findings.push_back(centre_of(std::move(repeats_of[metric])));
  }
  return centre;
}

/// @param repeats of one device, in the order of the run
DeviceResult centre_of_device(const Pointers<DeviceResult>& repeats) {
  // A repeat that was lost or could not be opened has no inventory.
  const auto known = std::ranges::find_if(
      repeats, [](const DeviceResult* device) { return !device->info.name.empty(); });
  DeviceResult centre = known == repeats.end() ? *repeats.front() : **known;
  centre.repeats = repeats.size();
  centre.jobs.clear();
  std::vector<Pointers<JobResult>> jobs;
  for (const DeviceResult* device : repeats) {
    if (is_known(device->after)) centre.after = device->after;
    if (device->status > centre.status) {  // from good to bad
      centre.status = device->status;
      centre.reason = device->reason;
    }
    for (const JobResult& job : device->jobs) {
      const auto is_same = [&](const auto& same) { return same.front()->job == job.job; };
      auto same = std::ranges::find_if(jobs, is_same);
      if (same == jobs.end()) same = jobs.emplace(jobs.end());
      same->push_back(&job);
    }
  }
  for (const Pointers<JobResult>& same : jobs) centre.jobs.push_back(centre_of_job(same));
  return centre;
}

}  // namespace

Repeats repeats_of(const RunResult& run) {
  const std::vector<Point> points = points_of(run.provenance);
  std::map<std::pair<std::vector<std::string>, std::string>, std::size_t> places;
  Repeats groups;
  for (std::size_t row = 0; row < run.devices.size(); ++row) {
    const DeviceResult& device = run.devices[row];
    const auto [place, is_new] =
        places.try_emplace({points.at(device.point_index).at, device.info.uuid}, groups.size());
    if (is_new) groups.emplace_back();
    groups[place->second].push_back(row);
  }
  return groups;
}

RunResult centre_of_repeats(RunResult run) {
  if (points_of(run.provenance).size() == 1) return run;
  std::vector<DeviceResult> centres;
  for (const std::vector<std::size_t>& rows : repeats_of(run)) {
    Pointers<DeviceResult> repeats;
    for (const std::size_t row : rows) repeats.push_back(&run.devices[row]);
    centres.push_back(repeats.size() == 1 ? *repeats.front() : centre_of_device(repeats));
  }
  run.devices = std::move(centres);
  return run;
}

std::vector<DeviceConditions> centre_of_conditions(
    const RunResult& run, const std::vector<DeviceConditions>& conditions) {
  std::vector<DeviceConditions> centres;
  for (const std::vector<std::size_t>& rows : repeats_of(run)) {
    DeviceConditions& centre = centres.emplace_back();
    std::vector<double> clocks_hz;
    for (const std::size_t row : rows) {
      const DeviceConditions& one = conditions.at(row);
      if (one.sm_clock_hz > 0) clocks_hz.push_back(one.sm_clock_hz);
      centre.temperature_c = std::max(centre.temperature_c, one.temperature_c);
      centre.probes += one.probes;
      centre.throttled_probes += one.throttled_probes;
      centre.throttle_reasons |= one.throttle_reasons;
    }
    if (!clocks_hz.empty()) centre.sm_clock_hz = median(std::move(clocks_hz));
  }
  return centres;
}

}  // namespace sonde
