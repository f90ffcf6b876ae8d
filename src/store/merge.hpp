// Makes one run file from many files: the shards of a run that lost a rank, job arrays, many
// nights. One process does it, with few devices in memory at a time.
#pragma once

#include "analysis/results.hpp"
#include "store/run_header.hpp"

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace sonde {

/// What a merge left out or replaced, in sentences for the log.
using MergeNotes = std::vector<std::string>;

/// Writes the same file as write_run_together, from the shards in its parts folder, in the order of
/// ranks. Shards that cannot be read, or that have another configuration, are left out with a note.
/// Devices of the roster without a readable shard are added as lost. Shards of devices that are not
/// in the roster are added, too: they were measured before a restart on other GPUs.
/// @throws StoreError
MergeNotes write_run_from_shards(const std::filesystem::path& path, const Roster& roster);

/// Joins run files, shards and parts folders of one configuration, in the order given. They may
/// differ in the seed and in the points of one sweep. If a GPU occurs twice at the same point, the
/// complete result is kept; of several complete ones, that of the run that started last. The
/// provenance is that of the first source, with the ranks and points of all runs. An unfinished
/// shard that cannot be read, because its process died while writing, is left out with a note.
/// @throws StoreError if a file cannot be read; ConfigError if configurations differ or there are
/// no files
MergeNotes merge_runs(const std::vector<std::filesystem::path>& sources,
                      const std::filesystem::path& path);

/// Before a run goes on from an earlier one: renames the shards in its parts folder that were
/// measured at none of its points to `<GPU UUID>.h5.<config hash>.old`, and turns devices of the
/// run file (if there is one) into shards. Leaves out devices in `except` and those that already
/// have a shard there. Reads one device at a time.
/// @param now the provenance of the new run  @param on_device called before each shard and device
/// @throws ConfigError if the file has points that the new run lacks; StoreError
MergeNotes extract_shards(const std::filesystem::path& run, const Provenance& now,
                          const std::vector<std::string>& except,
                          const std::function<void()>& on_device = {});

}  // namespace sonde
