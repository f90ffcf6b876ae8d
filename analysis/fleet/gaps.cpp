// One entry for each job, status and reason.
#include "analysis/fleet/gaps.hpp"

#include <algorithm>

namespace sonde {

GapCollector::Place& GapCollector::place_of(std::string_view job, Status status,
                                            std::string_view reason) {
  const std::tuple key{job, to_text(status), reason};
  const auto found = places_.find(key);
  return found != places_.end() ? found->second : places_[Key(key)];
}

void GapCollector::add(const RunResult& run, std::string_view only) {
  for (std::size_t device = 0; device < run.devices.size(); ++device) {
    for (const JobResult& job : run.devices[device].jobs) {
      if (!only.empty() && job.job != only) continue;
      const auto add_if_gap = [&](Status status, const std::string& reason,
                                  const std::string& metric) {
        if (status == Status::ok) return;
        Place& place = place_of(job.job, status, reason);
        place.metrics.insert(metric);
        if (place.devices.empty() || place.devices.back() != device) {
          place.devices.push_back(device);
        }
      };
      add_if_gap(job.status, job.reason, "(the job)");
      for (const Finding& finding : job.findings) {
        add_if_gap(finding.status, finding.reason, finding.metric);
      }
    }
  }
}

std::vector<Gap> GapCollector::take() const {
  std::vector<Gap> gaps;
  for (const auto& [key, place] : places_) {
    const auto& [job, status, reason] = key;
    Gap& gap = gaps.emplace_back(Gap{.job = job,
                                     .status = status,
                                     .reason = reason,
                                     .metrics = {place.metrics.begin(), place.metrics.end()},
                                     .devices = place.devices});
    std::ranges::sort(gap.devices);  // of several turns
    const auto again = std::ranges::unique(gap.devices);
    gap.devices.erase(again.begin(), again.end());
  }
  return gaps;
}

}  // namespace sonde
