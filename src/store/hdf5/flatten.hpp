// Turns results into tables. Offsets and indices count from the first row of this part; the writer
// shifts them to the rows in the file.
#pragma once

#include "analysis/results.hpp"
#include "store/hdf5/rows.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sonde {

/// All tables but those of names and points, in the order of the file; the devices come first.
/// @param names collects the texts of all tables
std::vector<Table> flatten(std::span<const DeviceResult> devices,
                           const std::vector<UnauditedDevice>& unaudited, Names& names);

/// The device without its jobs, as in its row.
DeviceResult without_jobs(const DeviceResult& device);

/// The name of a second try of a job (DeviceResult::again) in the file: `again.<job>`.
std::string again_name(std::string_view job);
/// The job of such a name; nothing if it is the name of a first try.
std::optional<std::string> job_of_again(std::string_view name);

/// A job as it is stored.
struct StoredJob {
  std::string name;                   // in the file
  const JobResult* result = nullptr;  // points into the device
  std::uint64_t device = 0;           // index of the device in the part
};
/// First tries, then second tries, as in the file.
std::vector<StoredJob> stored_jobs(const DeviceResult& device, std::uint64_t index = 0);

/// All tables except those of the devices.
std::vector<Table> flatten_jobs(const std::vector<StoredJob>& stored,
                                const std::vector<UnauditedDevice>& unaudited, Names& names);

}  // namespace sonde
