// First and second tries by their names.
#include "store/stored_jobs.hpp"

namespace sonde {
namespace {

constexpr std::string_view prefix = "again.";

}  // namespace

std::string again_name(std::string_view job) { return std::string(prefix) + std::string(job); }

std::optional<std::string> job_of_again(std::string_view name) {
  if (!name.starts_with(prefix)) return std::nullopt;
  return std::string(name.substr(prefix.size()));
}

std::vector<StoredJob> stored_jobs(const DeviceResult& device) {
  std::vector<StoredJob> stored;
  for (const JobResult& job : device.jobs) stored.push_back({.name = job.job, .result = &job});
  for (const JobResult& job : device.again) {
    stored.push_back({.name = again_name(job.job), .result = &job});
  }
  return stored;
}

}  // namespace sonde
