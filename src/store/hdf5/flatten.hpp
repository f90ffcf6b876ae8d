// Results to tables. Offsets and indices in these tables count from the part's own first row; the
// plan knows where that row comes to lie in the file.
#pragma once

#include "analysis/results.hpp"
#include "store/hdf5/rows.hpp"

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace sonde {

/// What one rank, or one source of a merge, contributes to a file.
struct RunPart {
  std::span<const DeviceResult> devices;
  std::vector<UnauditedDevice> unaudited;
};

/// Devices and their possible shared parts of the L1.
std::vector<Table> flatten_inventory(std::span<const DeviceResult> devices, Layout layout);
std::vector<Table> flatten_unaudited(const std::vector<UnauditedDevice>& unaudited);
/// The same devices with the outcomes and findings of all their jobs.
std::vector<Table> flatten_findings(std::span<const DeviceResult> devices);
/// Probes and traces of a job of these devices; without rows if none has any.
std::vector<Table> flatten_probes(const std::string& job, std::span<const DeviceResult> devices);
/// All tables of a job of one device, as a shard has them.
std::vector<Table> flatten_job(const std::string& job, const JobResult& result,
                               std::uint64_t position);

/// Jobs of which these devices have probes, in the order of their first appearance.
std::vector<std::string> jobs_with_probes(std::span<const DeviceResult> devices);

/// Every table of the part in the order of the file, one group of them in memory at a time.
/// @param jobs those of the whole file with probes; the part need not have all
void for_each_table(const RunPart& part, const std::vector<std::string>& jobs,
                    const std::function<void(const Table&)>& visit);

}  // namespace sonde
