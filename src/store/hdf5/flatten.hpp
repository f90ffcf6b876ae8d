// Results to tables. Offsets and indices in these tables count from the part's own first row; the
// plan knows where that row comes to lie in the file.
#pragma once

#include "analysis/results.hpp"
#include "store/hdf5/table.hpp"

#include <functional>
#include <string>
#include <vector>

namespace sonde {

/// What one rank, or one source of a merge, contributes to a file.
struct RunPart {
  const DeviceResult* device = nullptr;
  std::vector<UnauditedDevice> unaudited;
};

std::vector<Table> flatten_device(const DeviceResult* device);
std::vector<Table> flatten_unaudited(const std::vector<UnauditedDevice>& unaudited);
/// All tables of a job; without rows if `result` is nullptr.
std::vector<Table> flatten_job(const std::string& job, const JobResult* result,
                               std::uint64_t position);

/// Every table of the part in the order of the file, one group of them in memory at a time.
/// @param jobs those of the whole file; the part need not have all
void for_each_table(const RunPart& part, const std::vector<std::string>& jobs,
                    const std::function<void(const Table&)>& visit);

}  // namespace sonde
