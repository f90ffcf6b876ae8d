// Choosing what goes into a merged file; write_run.cpp writes it.
#include "store/merge.hpp"

#include "base/error.hpp"
#include "store/output.hpp"
#include "store/part_source.hpp"
#include "store/roster_file.hpp"
#include "store/run_reader.hpp"
#include "store/shard.hpp"
#include "store/stored_jobs.hpp"
#include "store/write_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <tuple>

namespace sonde {
namespace fs = std::filesystem;
namespace {

/// A device of some file, or one given in memory.
struct Candidate {
  fs::path file{};
  std::uint64_t row = 0;
  std::optional<DeviceResult> given{};
  std::string uuid{};
  std::string started_utc{};
  bool complete = false;
  int rank = 0;
};

PartSource load(const Candidate& candidate) {
  if (candidate.given) return part_in_memory(*candidate.given, {});
  const RunReader reader(candidate.file);
  if (reader.device_count() == 1) return part_of_shard(candidate.file, {});
  return part_in_memory(reader.read_devices({candidate.row, 1}, WithTraces::yes).front(), {});
}

/// A damaged shard must be found before a file is begun. @throws StoreError
void check_readable(const Candidate& candidate) {
  const PartSource part = load(candidate);
  for (const TablePlan& table : make_plan({part.shape}).tables) {
    for (std::size_t c = 0; c < table.columns.size(); ++c) part.load(table, c);
  }
}

void write_candidates(const fs::path& path, const Provenance& provenance,
                      const std::vector<Candidate>& chosen,
                      const std::vector<UnauditedDevice>& unaudited) {
  write_run_alone(path, provenance, unaudited, chosen.size(),
                  [&chosen](std::size_t i) { return load(chosen[i]); });
}

std::vector<Candidate> list_candidates(const fs::path& file, const RunReader& reader) {
  std::vector<Candidate> candidates;
  for (const DeviceResult& device : reader.read_inventory()) {
    candidates.push_back({.file = file,
                          .row = candidates.size(),
                          .uuid = device.info.uuid,
                          .started_utc = reader.provenance().started_utc,
                          .complete = device.status == DeviceOutcome::complete,
                          .rank = device.rank});
  }
  return candidates;
}

bool holds(const std::vector<Candidate>& chosen, const std::string& uuid) {
  return std::ranges::find(chosen, uuid, &Candidate::uuid) != chosen.end();
}

/// Keeps the better of two candidates for one GPU in the place of the earlier.
void add_candidate(std::vector<Candidate>& chosen, Candidate candidate, MergeNotes& notes) {
  const auto same = std::ranges::find(chosen, candidate.uuid, &Candidate::uuid);
  if (same == chosen.end()) {
    chosen.push_back(std::move(candidate));
    return;
  }
  const auto worth = [](const Candidate& one) { return std::tie(one.complete, one.started_utc); };
  if (worth(*same) < worth(candidate)) std::swap(*same, candidate);
  notes.push_back(fmt::format("{} occurs twice: '{}' is used, not '{}'", same->uuid,
                              same->file.string(), candidate.file.string()));
}

/// Calls `take` with each device of the shards of that configuration. The others, and those that it
/// cannot read, are left out with a note.
template <class Take>
void for_each_in_shards(const std::vector<fs::path>& shards, const std::string& config_hash,
                        MergeNotes& notes, Take&& take) {
  for (const fs::path& shard : shards) {
    try {
      const RunReader reader(shard);
      if (reader.provenance().config_hash != config_hash) {
        notes.push_back(
            fmt::format("'{}' was measured under another configuration: left out", shard.string()));
        continue;
      }
      for (Candidate& one : list_candidates(shard, reader)) take(std::move(one));
    } catch (const StoreError& error) {
      notes.push_back(fmt::format("{}: left out", error.what()));
    }
  }
}

/// Devices of the roster that left no results.
void add_lost(std::vector<Candidate>& chosen, const Roster& roster) {
  for (const RosterEntry& entry : roster.devices) {
    if (holds(chosen, entry.uuid)) continue;
    DeviceResult lost;
    lost.info.uuid = entry.uuid;
    lost.node = entry.node;
    lost.rank = entry.rank;
    lost.status = DeviceOutcome::lost;
    lost.reason = "its rank did not come back, and left no results";
    chosen.push_back({.given = lost, .uuid = entry.uuid, .rank = entry.rank});
  }
}

/// The same for what was in a parts folder, if its run came as far as a roster.
void add_lost_of_folder(std::vector<Candidate>& chosen, const fs::path& parts,
                        const std::string& config_hash, MergeNotes& notes) {
  std::error_code error;
  if (!fs::exists(roster_path(parts), error)) return;
  try {
    const Roster roster = read_roster(parts);
    if (roster.provenance.config_hash == config_hash) add_lost(chosen, roster);
  } catch (const StoreError& problem) {
    notes.push_back(fmt::format("{}: what was lost is not known", problem.what()));
  }
}

std::vector<fs::path> expand(const std::vector<fs::path>& sources) {
  std::vector<fs::path> files;
  for (const fs::path& source : sources) {
    std::error_code unreadable;  // opening it will say why
    if (!fs::is_directory(source, unreadable)) {
      files.push_back(source);
      continue;
    }
    const auto shards = list_shards(source);
    files.insert(files.end(), shards.begin(), shards.end());
  }
  if (files.empty()) {
    throw ConfigError(
        "there is nothing to merge (the folders hold no shards) name run files, "
        "shards or .parts folders");
  }
  return files;
}

void add_unaudited(std::vector<UnauditedDevice>& all, const std::vector<UnauditedDevice>& more) {
  for (const UnauditedDevice& device : more) {
    if (std::ranges::find(all, device.uuid, &UnauditedDevice::uuid) == all.end()) {
      all.push_back(device);
    }
  }
}

}  // namespace

MergeNotes write_run_from_shards(const fs::path& path, const Roster& roster) {
  MergeNotes notes;
  std::vector<Candidate> chosen;
  const auto take = [&](Candidate one) {
    check_readable(one);
    add_candidate(chosen, std::move(one), notes);
  };
  for_each_in_shards(list_shards(parts_folder(path)), roster.provenance.config_hash, notes, take);
  add_lost(chosen, roster);
  std::ranges::stable_sort(chosen, {}, &Candidate::rank);
  write_candidates(path, roster.provenance, chosen, roster.unaudited);
  return notes;
}

MergeNotes add_leftover_shards(const fs::path& run) {
  MergeNotes notes;
  const RunReader whole(run);
  std::vector<Candidate> chosen = list_candidates(run, whole);
  const std::size_t before = chosen.size();
  for_each_in_shards(
      list_shards(parts_folder(run)), whole.provenance().config_hash, notes, [&](Candidate one) {
        if (holds(chosen, one.uuid)) return;
        check_readable(one);
        notes.push_back(fmt::format("{} was measured before a restart: added", one.uuid));
        chosen.push_back(std::move(one));
      });
  if (chosen.size() > before) {
    write_candidates(run, whole.provenance(), chosen, whole.read_unaudited());
  }
  return notes;
}

MergeNotes extract_shards(const fs::path& run, const std::string& config_hash,
                          const std::vector<std::string>& except) {
  MergeNotes notes;
  std::error_code error;
  if (!fs::exists(run, error)) return notes;
  const RunReader reader(run);
  if (reader.provenance().config_hash != config_hash) {
    throw ConfigError(
        fmt::format("'{}' was measured under another configuration ({}, now {}; --resume would mix "
                    "them) choose another name with -o, or use --force",
                    run.string(), reader.provenance().config_hash, config_hash));
  }
  const fs::path parts = parts_folder(run);
  for (const DeviceResult& device :
       reader.read_devices({0, reader.device_count()}, WithTraces::no)) {
    const bool wanted = std::ranges::find(except, device.info.uuid) == except.end();
    if (!wanted || fs::exists(finished_shard(parts, device.info.uuid), error)) continue;
    ResumeFrom from{.run = run, .keep = {}, .builds_on = {}};
    for (const StoredJob& job : stored_jobs(device)) from.keep.push_back(job.name);
    ResumedShard resumed = Shard::resume(parts, device, reader.provenance(), from);
    resumed.shard.finish(device);
    notes.push_back(
        fmt::format("{} is in '{}' and not measured now: kept", device.info.uuid, run.string()));
  }
  return notes;
}

MergeNotes merge_runs(const std::vector<fs::path>& sources, const fs::path& path) {
  MergeNotes notes;
  std::vector<Candidate> chosen;
  std::vector<UnauditedDevice> unaudited;
  std::optional<Provenance> provenance;
  std::set<std::tuple<std::string, std::string, std::string>> runs;
  for (const fs::path& file : expand(sources)) {
    const RunReader reader(file);
    const Provenance& its = reader.provenance();
    const bool is_new_run =
        runs.insert({its.started_utc, its.slurm_job_id, its.command_line}).second;
    if (!provenance) {
      provenance = its;
    } else if (its.config_hash != provenance->config_hash) {
      throw ConfigError(
          fmt::format("'{}' was measured under another configuration ({}, the first one under {}; "
                      "their devices "
                      "cannot be compared) merge them apart",
                      file.string(), its.config_hash, provenance->config_hash));
    } else if (is_new_run) {
      provenance->world_size += its.world_size;
    }
    for (Candidate& one : list_candidates(file, reader)) {
      add_candidate(chosen, std::move(one), notes);
    }
    add_unaudited(unaudited, reader.read_unaudited());
  }
  for (const fs::path& source : sources) {
    add_lost_of_folder(chosen, source, provenance->config_hash, notes);
  }
  std::erase_if(unaudited,
                [&chosen](const UnauditedDevice& device) { return holds(chosen, device.uuid); });
  write_candidates(path, *provenance, chosen, unaudited);
  return notes;
}

}  // namespace sonde
