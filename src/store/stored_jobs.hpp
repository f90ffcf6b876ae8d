// Names of jobs in a file: a job that was measured a second time (DeviceResult::again) stands
// beside the first try, with all that a job has, as `again.<job>`.
#pragma once

#include "analysis/results.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sonde {

/// What the second try of a job is called.
std::string again_name(std::string_view job);

/// The job of which that is the second try; nothing if it is the name of a first one.
std::optional<std::string> job_of_again(std::string_view name);

struct StoredJob {
  std::string name;
  const JobResult* result = nullptr;  // of the device, as long as that lives
};

/// In the order of the file: first tries, then second ones.
std::vector<StoredJob> stored_jobs(const DeviceResult& device);

}  // namespace sonde
