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
  std::string config_hash{};  // of its point
  std::string started_utc{};
  bool complete = false;
  int rank = 0;
};

std::uint64_t index_of(const std::vector<Point>& points, const std::string& config_hash) {
  const auto found = std::ranges::find(points, config_hash, &Point::config_hash);
  return static_cast<std::uint64_t>(found - points.begin());
}

bool holds(const std::vector<Point>& points, const std::string& config_hash) {
  return index_of(points, config_hash) < points.size();
}

/// @param point_index of the candidate in the file to be written
PartSource load(const Candidate& candidate, std::uint64_t point_index) {
  if (candidate.given) return at_point(part_in_memory(*candidate.given, {}), point_index);
  const RunReader reader(candidate.file);
  if (reader.device_count() == 1 && reader.knows_points()) {
    return at_point(part_of_shard(candidate.file, {}), point_index);
  }
  return at_point(
      part_in_memory(reader.read_devices({candidate.row, 1}, WithTraces::yes).front(), {}),
      point_index);
}

/// A damaged shard must be found before a file is begun. @throws StoreError
void check_readable(const Candidate& candidate) {
  const PartSource part = load(candidate, 0);
  for (const TablePlan& table : make_plan({part.shape}).tables) {
    for (std::size_t c = 0; c < table.columns.size(); ++c) part.load(table, c);
  }
}

/// In the order of their points.
void write_candidates(const fs::path& path, const Provenance& provenance,
                      std::vector<Candidate> chosen,
                      const std::vector<UnauditedDevice>& unaudited) {
  const auto point_of = [&](const Candidate& one) {
    return index_of(provenance.points, one.config_hash);
  };
  std::ranges::stable_sort(chosen, {}, point_of);
  write_run_alone(path, provenance, unaudited, chosen.size(),
                  [&](std::size_t i) { return load(chosen[i], point_of(chosen[i])); });
}

std::vector<Candidate> list_candidates(const fs::path& file, const RunReader& reader) {
  std::vector<Candidate> candidates;
  for (const DeviceResult& device : reader.read_inventory()) {
    candidates.push_back(
        {.file = file,
         .row = candidates.size(),
         .uuid = device.info.uuid,
         .config_hash = reader.provenance().points.at(device.point_index).config_hash,
         .started_utc = reader.provenance().started_utc,
         .complete = device.status == DeviceOutcome::complete,
         .rank = device.rank});
  }
  return candidates;
}

bool holds(const std::vector<Candidate>& chosen, const std::string& uuid) {
  return std::ranges::find(chosen, uuid, &Candidate::uuid) != chosen.end();
}

/// The same GPU at the same point.
auto find_same(std::vector<Candidate>& chosen, const std::string& uuid,
               const std::string& config_hash) {
  return std::ranges::find_if(chosen, [&](const Candidate& one) {
    return one.uuid == uuid && one.config_hash == config_hash;
  });
}

/// Keeps the better of two candidates for one GPU at one point in the place of the earlier.
void add_candidate(std::vector<Candidate>& chosen, Candidate candidate, MergeNotes& notes) {
  const auto same = find_same(chosen, candidate.uuid, candidate.config_hash);
  if (same == chosen.end()) {
    chosen.push_back(std::move(candidate));
    return;
  }
  const auto worth = [](const Candidate& one) { return std::tie(one.complete, one.started_utc); };
  if (worth(*same) < worth(candidate)) std::swap(*same, candidate);
  notes.push_back(fmt::format("{} occurs twice: '{}' is used, not '{}'", same->uuid,
                              same->file.string(), candidate.file.string()));
}

/// Calls `take` with each device of the shards of those points. The others, and those that it
/// cannot read, are left out with a note.
template <class Take>
void for_each_in_shards(const std::vector<fs::path>& shards, const std::vector<Point>& points,
                        MergeNotes& notes, Take&& take) {
  for (const fs::path& shard : shards) {
    try {
      const RunReader reader(shard);
      if (!holds(points, reader.provenance().config_hash)) {
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

/// Devices of the roster that left no results at a point.
void add_lost(std::vector<Candidate>& chosen, const Roster& roster) {
  for (const Point& point : points_of(roster.provenance)) {
    for (const RosterEntry& entry : roster.devices) {
      if (find_same(chosen, entry.uuid, point.config_hash) != chosen.end()) continue;
      DeviceResult lost;
      lost.info.uuid = entry.uuid;
      lost.node = entry.node;
      lost.rank = entry.rank;
      lost.status = DeviceOutcome::lost;
      lost.reason = "its rank did not come back, and left no results";
      chosen.push_back({.given = lost,
                        .uuid = entry.uuid,
                        .config_hash = point.config_hash,
                        .rank = entry.rank});
    }
  }
}

void add_points(std::vector<Point>& all, const std::vector<Point>& more) {
  for (const Point& point : more) {
    if (!holds(all, point.config_hash)) all.push_back(point);
  }
}

/// Whether their devices may stand in one file: all that decides the results is the same, but for
/// the seed and what both sweep.
bool can_join(const Provenance& one, const Provenance& other) {
  const bool known = !one.sweep_hash.empty() && one.sweep_hash == other.sweep_hash;
  return known || one.config_hash == other.config_hash;
}

/// The same for what was in a parts folder, if its run came as far as a roster.
void add_lost_of_folder(std::vector<Candidate>& chosen, const fs::path& parts,
                        Provenance& provenance, MergeNotes& notes) {
  std::error_code error;
  if (!fs::exists(roster_path(parts), error)) return;
  try {
    const Roster roster = read_roster(parts);
    if (!can_join(roster.provenance, provenance)) return;
    add_points(provenance.points, points_of(roster.provenance));
    add_lost(chosen, roster);
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
  for_each_in_shards(list_shards(parts_folder(path)), points_of(roster.provenance), notes, take);
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
      list_shards(parts_folder(run)), whole.provenance().points, notes, [&](Candidate one) {
        if (find_same(chosen, one.uuid, one.config_hash) != chosen.end()) return;
        check_readable(one);
        notes.push_back(fmt::format("{} was measured before a restart: added", one.uuid));
        chosen.push_back(std::move(one));
      });
  if (chosen.size() > before) {
    write_candidates(run, whole.provenance(), chosen, whole.read_unaudited());
  }
  return notes;
}

MergeNotes extract_shards(const fs::path& run, const Provenance& now,
                          const std::vector<std::string>& except) {
  MergeNotes notes;
  std::error_code error;
  if (!fs::exists(run, error)) return notes;
  const RunReader reader(run);
  const Provenance& before = reader.provenance();
  const std::vector<Point> points_now = points_of(now);
  const bool is_kept = std::ranges::all_of(
      before.points, [&](const Point& point) { return holds(points_now, point.config_hash); });
  if (!is_kept) {
    throw ConfigError(
        fmt::format("'{}' was measured under another configuration ({}, now {}; --resume would mix "
                    "them) choose another name with -o, or use --force",
                    run.string(), before.config_hash, now.config_hash));
  }
  for (const DeviceResult& device :
       reader.read_devices({0, reader.device_count()}, WithTraces::no)) {
    const Point& point = before.points.at(device.point_index);
    const fs::path parts = point_folder(parts_folder(run), points_now.size(), point.config_hash);
    const bool wanted = std::ranges::find(except, device.info.uuid) == except.end();
    if (!wanted || fs::exists(finished_shard(parts, device.info.uuid), error)) continue;
    ResumeFrom from{.run = run, .keep = {}, .builds_on = {}};
    for (const StoredJob& job : stored_jobs(device)) from.keep.push_back(job.name);
    ResumedShard resumed = Shard::resume(parts, device, at_point(before, point), from);
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
    } else if (!can_join(its, *provenance)) {
      throw ConfigError(
          fmt::format("'{}' was measured under another configuration ({}, the first one under {}; "
                      "their devices "
                      "cannot be compared) merge them apart",
                      file.string(), its.config_hash, provenance->config_hash));
    } else if (is_new_run) {
      provenance->world_size += its.world_size;
    }
    add_points(provenance->points, its.points);
    for (Candidate& one : list_candidates(file, reader)) {
      add_candidate(chosen, std::move(one), notes);
    }
    add_unaudited(unaudited, reader.read_unaudited());
  }
  for (const fs::path& source : sources) {
    add_lost_of_folder(chosen, source, *provenance, notes);
  }
  provenance->config_hash = hash_points(provenance->points);
  std::erase_if(unaudited,
                [&chosen](const UnauditedDevice& device) { return holds(chosen, device.uuid); });
  write_candidates(path, *provenance, chosen, unaudited);
  return notes;
}

}  // namespace sonde
