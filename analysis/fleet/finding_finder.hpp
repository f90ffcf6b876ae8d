// One metric on device after device. The devices of a run have it at the same place, mostly, so
// that it is sought where the last one had it first.
#pragma once

#include "analysis/results.hpp"

#include <cstddef>
#include <string_view>

namespace sonde {

class FindingFinder {
 public:
  /// @param metric outlives the finder
  explicit FindingFinder(std::string_view metric) : metric_(metric) {}

  /// nullptr if the device does not have it. @pre it has it but once
  const Finding* in(const DeviceResult& device) {
    if (job_ < device.jobs.size() && place_ < device.jobs[job_].findings.size()) {
      const Finding& same_place = device.jobs[job_].findings[place_];
      if (same_place.metric == metric_) return &same_place;
    }
    for (job_ = 0; job_ < device.jobs.size(); ++job_) {
      const std::vector<Finding>& findings = device.jobs[job_].findings;
      const Finding* found = find_finding(findings, metric_);
      if (found == nullptr) continue;
      place_ = static_cast<std::size_t>(found - findings.data());
      return found;
    }
    return nullptr;
  }

 private:
  std::string_view metric_;
  std::size_t job_ = 0;
  std::size_t place_ = 0;
};

}  // namespace sonde
