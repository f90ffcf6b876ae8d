// The same place first, then all.
#include "analysis/fleet/finding_finder.hpp"

namespace sonde {

const Finding* FindingFinder::in(const DeviceResult& device) {
  if (job_ < device.jobs.size() && place_ < device.jobs[job_].findings.size()) {
    const Finding& same_place = device.jobs[job_].findings[place_];
    if (same_place.metric == metric_) return &same_place;
  }
  for (std::size_t job = 0; job < device.jobs.size(); ++job) {
    const Finding* found = find_finding(device.jobs[job].findings, metric_);
    if (found == nullptr) continue;
    job_ = job;
    place_ = static_cast<std::size_t>(found - device.jobs[job].findings.data());
    return found;
  }
  return nullptr;
}

}  // namespace sonde
