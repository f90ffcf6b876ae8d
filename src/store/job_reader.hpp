// Rows of one job back to what the job found, device by device.
#pragma once

#include "analysis/results.hpp"
#include "store/hdf5/stored_file.hpp"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace sonde {

/// How much of a job is read: each has what the one before it has.
enum class Depth { outcome, findings, probes, traces };

/// Of each device, by the place of the job in its run.
using JobsByPosition = std::vector<std::map<std::uint64_t, JobResult>>;

/// Adds a job of the devices of a span, under the name that it has in the file.
/// @param jobs_by_position one entry for each device of the span
/// @param metrics only their findings; nullptr: all
/// @throws StoreError if the rows contradict each other
void collect_job(StoredFile& file, const std::string& job, RowRange span, Depth depth,
                 JobsByPosition& jobs_by_position, const std::set<std::string>* metrics = nullptr);

}  // namespace sonde
