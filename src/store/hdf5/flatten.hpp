// Results to tables. Offsets and indices in these tables count from the part's own first row; who
// writes them knows where that row comes to lie in the file.
#pragma once

#include "analysis/results.hpp"
#include "store/hdf5/rows.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sonde {

/// All tables of these, in the order of the file, but for the names; devices come first.
/// @param names gets the texts of all tables
/// @throws Error if a job occurs twice on a device
std::vector<Table> flatten(std::span<const DeviceResult> devices,
                           const std::vector<UnauditedDevice>& unaudited, Names& names);

/// The device as its row has it.
DeviceResult without_jobs(const DeviceResult& device);

/// What the second try of a job (DeviceResult::again) is called in the file, where it stands beside
/// the first one with all that a job has: `again.<job>`.
std::string again_name(std::string_view job);
/// The job of which that is the second try; nothing if it is the name of a first one.
std::optional<std::string> job_of_again(std::string_view name);

struct StoredJob {
  std::string name;                   // in the file
  const JobResult* result = nullptr;  // of the device, as long as that lives
  std::uint64_t device = 0;           // index of the device in the part
};
/// In the order of the file: first tries, then second ones.
std::vector<StoredJob> stored_jobs(const DeviceResult& device, std::uint64_t index = 0);

/// All tables but those of the devices.
std::vector<Table> flatten_jobs(const std::vector<StoredJob>& stored,
                                const std::vector<UnauditedDevice>& unaudited, Names& names);

}  // namespace sonde
