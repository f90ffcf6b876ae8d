// The centre of repeats, metric by metric.
#include "analysis/fleet/repeats.hpp"

#include "analysis/metrics.hpp"
#include "analysis/statistics.hpp"
#include "trace/health.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

namespace sonde {
namespace {

using Findings = std::vector<const Finding*>;

/// The element that occurs most often, the first of several.
template <class T>
T most_frequent(const std::vector<T>& all) {
  const auto count = [&all](const T& one) { return std::ranges::count(all, one); };
  return *std::ranges::max_element(all, {}, count);
}

template <class Member>
std::vector<double> numbers(const Findings& findings, Member member) {
  std::vector<double> all;
  for (const Finding* finding : findings) all.push_back(static_cast<double>(finding->*member));
  return all;
}

double deviation(const std::vector<double>& values) {
  if (values.size() < 2) return 0;
  const double mean =
      std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

template <class T>
std::vector<T> values_of(const Findings& findings) {
  std::vector<T> values;
  for (const Finding* finding : findings) {
    if (const auto* value = std::get_if<T>(&finding->value)) values.push_back(*value);
  }
  return values;
}

/// Where all are of one length; else the first.
std::vector<double> median_of_elements(const std::vector<std::vector<double>>& vectors) {
  std::vector<double> centre = vectors.front();
  const auto is_long = [&](const auto& one) { return one.size() == centre.size(); };
  if (!std::ranges::all_of(vectors, is_long)) return centre;
  for (std::size_t i = 0; i < centre.size(); ++i) {
    std::vector<double> elements;
    for (const auto& vector : vectors) elements.push_back(vector[i]);
    centre[i] = median(elements);
  }
  return centre;
}

bool is_exact(const std::string& metric) {
  const Metric* known = find_metric(metric);
  return known != nullptr && known->kind == MetricKind::structural;
}

/// The value that most repeats gave, surer the more of them there are.
template <class T>
void take_most_frequent(Finding& centre, const std::vector<T>& values) {
  const T value = most_frequent(values);
  centre.confidence *=
      static_cast<double>(std::ranges::count(values, value)) / static_cast<double>(values.size());
  centre.value = value;
}

/// @param repeats of one metric, one at least
Finding centre_of(const Findings& repeats) {
  std::vector<Status> statuses;
  for (const Finding* finding : repeats) statuses.push_back(finding->status);
  const Status status = most_frequent(statuses);
  Findings alike;
  std::ranges::copy_if(repeats, std::back_inserter(alike),
                       [status](const Finding* finding) { return finding->status == status; });
  Finding centre = *alike.front();
  if (alike.size() == 1) return centre;
  centre.confidence = median(numbers(alike, &Finding::confidence));
  centre.repeatability = median(numbers(alike, &Finding::repeatability));
  centre.samples = centre.replicates = 0;
  for (const Finding* finding : alike) {
    centre.samples += finding->samples;
    centre.replicates += finding->replicates;
  }
  if (const auto values = values_of<double>(alike); !values.empty()) {
    centre.reproducibility = deviation(values);
    centre.replicates = values.size();
    if (is_exact(centre.metric)) {
      take_most_frequent(centre, values);
    } else {
      centre.value = median(values);
    }
  } else if (const auto texts = values_of<std::string>(alike); !texts.empty()) {
    take_most_frequent(centre, texts);
  } else if (const auto vectors = values_of<std::vector<double>>(alike); !vectors.empty()) {
    centre.value = median_of_elements(vectors);
  }
  return centre;
}

const JobResult* find_job(const DeviceResult& device, const std::string& name) {
  const auto found = std::ranges::find(device.jobs, name, &JobResult::job);
  return found == device.jobs.end() ? nullptr : &*found;
}

bool is_worse(Status one, Status other) {
  const auto badness = [](Status status) {
    return status == Status::failed ? 2 : status == Status::not_run ? 1 : 0;
  };
  return badness(one) > badness(other);
}

/// Behind what others gave for the same job: one repeat may have lost a launch, another wrong data.
void add_reason(std::string& reasons, const std::string& reason) {
  if (reasons.find(reason) != std::string::npos) return;
  if (!reasons.empty()) reasons += "; ";
  reasons += reason;
}

/// The job in all repeats that have it: the worst outcome of them with the reasons of all that came
/// to it, the time of all, the probes of the first.
JobResult centre_of_job(const std::vector<const JobResult*>& repeats) {
  JobResult centre = *repeats.front();
  centre.elapsed_s = centre.device_s = 0;
  for (const JobResult* job : repeats) {
    if (is_worse(job->status, centre.status)) {
      centre.status = job->status;
      centre.reason = job->reason;
    } else if (job->status == Status::failed && centre.status == Status::failed) {
      add_reason(centre.reason, job->reason);
    }
    centre.elapsed_s += job->elapsed_s;
    centre.device_s += job->device_s;
  }
  for (Finding& finding : centre.findings) {
    Findings same;
    for (const JobResult* job : repeats) {
      const Finding* found = find_finding(job->findings, finding.metric);
      if (found != nullptr) same.push_back(found);
    }
    finding = centre_of(same);
  }
  return centre;
}

/// @param repeats of one device, in the order of the run
DeviceResult centre_of_device(const std::vector<const DeviceResult*>& repeats) {
  // One that was lost or could not be opened has no inventory.
  const auto known = std::ranges::find_if(
      repeats, [](const DeviceResult* device) { return !device->info.name.empty(); });
  DeviceResult centre = known == repeats.end() ? *repeats.front() : **known;
  centre.repeats = repeats.size();
  for (const DeviceResult* device : repeats) {
    if (is_known(device->after)) centre.after = device->after;
  }
  centre.jobs.clear();
  std::vector<std::string> names;
  for (const DeviceResult* device : repeats) {
    if (device->status > centre.status) {  // from good to bad
      centre.status = device->status;
      centre.reason = device->reason;
    }
    for (const JobResult& job : device->jobs) {
      if (std::ranges::find(names, job.job) == names.end()) names.push_back(job.job);
    }
  }
  for (const std::string& name : names) {
    std::vector<const JobResult*> same;
    for (const DeviceResult* device : repeats) {
      if (const JobResult* job = find_job(*device, name)) same.push_back(job);
    }
    centre.jobs.push_back(centre_of_job(same));
  }
  return centre;
}

}  // namespace

std::vector<std::vector<std::size_t>> repeats_of(const RunResult& run) {
  const std::vector<Point> points = points_of(run.provenance);
  std::map<std::pair<std::vector<std::string>, std::string>, std::size_t> places;
  std::vector<std::vector<std::size_t>> groups;
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
    std::vector<const DeviceResult*> repeats;
    for (const std::size_t row : rows) repeats.push_back(&run.devices[row]);
    centres.push_back(repeats.size() == 1 ? *repeats.front() : centre_of_device(repeats));
  }
  run.devices = std::move(centres);
  return run;
}

}  // namespace sonde
