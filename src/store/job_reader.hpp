// The jobs of some devices, from files of either layout.
#pragma once

#include "analysis/results.hpp"
#include "store/job_spans.hpp"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace sonde {

/// Jobs of a device under the names that they have in the file, in the order in which they ran.
using StoredJobs = std::vector<JobResult>;

/// Puts together what was read of some devices, which calls nothing of HDF5. To be called once.
/// @throws StoreError if rows contradict each other
using JobsAssembly = std::function<std::vector<StoredJobs>()>;

/// Of each of these devices, from the tables of all jobs.
/// @param devices rows of the file from `first` on
/// @throws StoreError likewise
JobsAssembly read_joined_jobs(StoredFile& file, std::uint64_t first,
                              const std::vector<DeviceRow>& devices, Depth depth);

/// One job of the device in that row, with its traces; nothing if it did not run it.
/// @throws StoreError if rows contradict each other
std::optional<JobResult> read_joined_job(StoredFile& file, std::uint64_t row,
                                         const DeviceRow& device, const std::string& job);

/// Of joined tables: jobs have plain names, and as many probes as their outcomes say.
/// @throws StoreError if not
void check_jobs_with_tables(StoredFile& file, const std::vector<std::string>& jobs);

/// Where the probes of some outcomes lie in the tables of their jobs. @throws StoreError
std::map<std::string, RowRange> place_probes(StoredFile& file, RowRange outcomes);

/// Of each device of a span, from tables of each of these jobs.
/// @throws StoreError if rows contradict each other
std::vector<StoredJobs> read_jobs_by_job(StoredFile& file, RowRange span,
                                         const std::vector<std::string>& jobs, Depth depth);

}  // namespace sonde
