// One run file from many files: from the shards of a run that lost a rank, of job arrays, of many
// nights. One process, few devices in memory at a time.
#pragma once

#include "analysis/results.hpp"
#include "store/run_header.hpp"

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace sonde {

/// What a merge had to leave out, in sentences for the log.
using MergeNotes = std::vector<std::string>;

/// The file that write_run_together would have written, from the shards in its parts folder; rows
/// are in the order of ranks. Shards that cannot be read or are of another configuration are left
/// out with a note; devices of the roster without a readable shard are kept as lost, and those that
/// are not in it, as they were measured before a restart that went on with other GPUs, are added.
/// @throws StoreError
MergeNotes write_run_from_shards(const std::filesystem::path& path, const Roster& roster);

/// Joins run files, shards and parts folders of one configuration, but for the seed and the points
/// of one sweep, in the order given. A GPU that occurs again at the same point is kept once: the
/// complete one, and of several the one whose run started last. The provenance is that of the first
/// source, with the ranks and points of all runs. An unfinished shard that cannot be read, because
/// its process died as it began, is left out with a note.
/// @throws StoreError if a file cannot be read; ConfigError if the configurations differ, or there
/// is nothing to merge
MergeNotes merge_runs(const std::vector<std::filesystem::path>& sources,
                      const std::filesystem::path& path);

/// Makes shards, in the parts folder of the run that is to replace it, of the devices of a run file
/// that are not in `except` and have none there, with digests. Does nothing if there is no run
/// file.
/// @param now of that run  @param on_device called before each of them, if it is there
/// @throws ConfigError if the file has points that the run has not; StoreError
MergeNotes extract_shards(const std::filesystem::path& run, const Provenance& now,
                          const std::vector<std::string>& except,
                          const std::function<void()>& on_device = {});

}  // namespace sonde
