// Results to tables. Offsets and indices in these tables count from the part's own first row; who
// writes them knows where that row comes to lie in the file.
#pragma once

#include "analysis/results.hpp"
#include "store/hdf5/rows.hpp"

#include <span>
#include <string>
#include <vector>

namespace sonde {

/// All tables of these, in the order of the file, but for the names; devices come first.
/// @param jobs whose probes and traces have tables: in a file of several parts those of all
/// @param names gets the texts of all tables
/// @throws Error if a job occurs twice on a device, or its name cannot be a group's
std::vector<Table> flatten(std::span<const DeviceResult> devices,
                           const std::vector<UnauditedDevice>& unaudited,
                           const std::vector<std::string>& jobs, Names& names);

/// The same of one job of a device alone. @param name as it is called in the file
std::vector<Table> flatten_job(const std::string& name, const JobResult& result, Names& names);

/// Jobs of which these devices have probes, in the order of their first appearance.
std::vector<std::string> jobs_with_probes(const std::vector<DeviceResult>& devices);

}  // namespace sonde
