// Chooses the devices of a merged file; write_run.cpp writes it.
#include "store/merge.hpp"

#include "base/error.hpp"
#include "config/run_options.hpp"
#include "store/choice.hpp"
#include "store/hdf5/flatten.hpp"
#include "store/output.hpp"
#include "store/points.hpp"
#include "store/run_reader.hpp"
#include "store/shard.hpp"
#include "store/write_run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

namespace sonde {
namespace fs = std::filesystem;
namespace {

// Files that differ only in these options can be merged.
constexpr std::string_view seeds[]{"seed", "repeat"};

/// Reads devices with their traces. Candidates of a file mostly follow each other: it stays open.
class CandidateReader {
 public:
  /// One that turns out to be damaged is lost, where that may be.
  DeviceResult read(const Candidate& one, MergeNotes& notes) {
    if (one.file.empty()) return one.device;
    try {
      if (one.file != file_ || !reader_) reader_.emplace(one.file);
      file_ = one.file;
      return std::move(reader_->read_devices({one.row, 1}, Depth::traces).front());
    } catch (const StoreError& error) {
      if (!one.may_be_damaged) throw;
      notes.push_back(fmt::format("{}: left out", error.what()));
    }
    DeviceResult lost = one.device;
    lost.status = DeviceOutcome::lost;
    lost.reason = "its results cannot be read";
    return lost;
  }

 private:
  fs::path file_;
  std::optional<RunReader> reader_;
};

/// Writes the candidates in the order of their points.
void write_candidates(const fs::path& path, const Provenance& provenance,
                      std::vector<Candidate> chosen, const std::vector<UnauditedDevice>& unaudited,
                      MergeNotes& notes) {
  std::ranges::stable_sort(chosen, {}, [&provenance](const Candidate& one) {
    return index_of(provenance.points, one.config_hash);
  });
  CandidateReader reader;
  write_run_alone(path, provenance, unaudited, chosen.size(), [&](std::size_t i) {
    DeviceResult device = reader.read(chosen[i], notes);
    device.point_index = index_of(provenance.points, chosen[i].config_hash);
    return device;
  });
}

std::vector<Candidate> list_candidates(const fs::path& file, const RunReader& reader,
                                       bool may_be_damaged = false) {
  std::vector<Candidate> candidates;
  for (const DeviceResult& device : reader.read_inventory()) {
    candidates.push_back(
        {.file = file,
         .row = candidates.size(),
         .device = device,
         .config_hash = reader.provenance().points.at(device.point_index).config_hash,
         .started_utc = reader.provenance().started_utc,
         .may_be_damaged = may_be_damaged});
  }
  return candidates;
}

/// Adds a candidate; of two for the same GPU and point, the better one is kept.
void add_candidate(Choice& choice, Candidate candidate, MergeNotes& notes) {
  Candidate* same = choice.add(candidate);
  if (same == nullptr) return;
  const auto worth = [](const Candidate& one) {
    return std::pair(-static_cast<int>(one.device.status), one.started_utc);
  };
  if (worth(*same) < worth(candidate)) std::swap(*same, candidate);
  notes.push_back(fmt::format("{} occurs twice: '{}' is used, not '{}'", same->device.info.uuid,
                              same->file.string(), candidate.file.string()));
}

/// Describes what differs: the version of sonde and options, or else the hashes.
/// @param except names of options that are not compared
std::string difference(const Provenance& one, const Provenance& other,
                       std::span<const std::string_view> except = {}) {
  std::vector<std::string> parts;
  if (one.sonde_version != other.sonde_version) {
    parts.push_back(
        fmt::format("measured by sonde {}, not {}", one.sonde_version, other.sonde_version));
  }
  std::string options = describe_difference(one.config_json, other.config_json, except);
  if (!options.empty()) parts.push_back(std::move(options));
  if (parts.empty()) return fmt::format("{}, not {}", one.config_hash, other.config_hash);
  return fmt::format("{}", fmt::join(parts, "; "));
}

/// Adds the devices of the folder's roster that have no results, if there is a roster.
void add_lost_of_folder(Choice& choice, const fs::path& parts, Provenance& provenance,
                        MergeNotes& notes) {
  std::error_code error;
  if (!fs::exists(roster_path(parts), error)) return;
  try {
    Roster roster = read_roster(parts);
    if (!can_join(roster.provenance, provenance)) return;
    const std::size_t left = choice.leave_points_of_nobody(roster);
    if (left > 0 && !roster.open_end) {
      notes.push_back(
          fmt::format("{} points of '{}' were measured on no GPU: left out", left, parts.string()));
    }
    if (left > 0 && roster.provenance.points.empty()) return;  // that run has no results
    // With a time budget, GPUs may have different numbers of repeats: that is no loss.
    const auto has_some = [&](const RosterEntry& entry) { return choice.holds(entry.uuid); };
    if (roster.open_end) std::erase_if(roster.devices, has_some);
    join_points(roster.provenance, provenance);
    choice.add_missing(roster, "not measured at this point: the run was stopped, or its rank lost");
  } catch (const StoreError& problem) {
    notes.push_back(fmt::format("{}: what was lost is not known", problem.what()));
  }
}

/// Lists the files, with the shards of folders, each once.
std::vector<fs::path> expand(const std::vector<fs::path>& sources) {
  std::vector<fs::path> files;
  std::set<fs::path> seen;
  for (const fs::path& source : sources) {
    std::error_code unreadable;  // opening the file will report the reason
    if (!seen.insert(fs::weakly_canonical(source, unreadable)).second) continue;
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

/// The content of a file without its jobs.
struct Content {
  Provenance provenance;
  std::vector<Candidate> candidates;
  std::vector<UnauditedDevice> unaudited;
};

/// Nothing, with a note, if the file is an unfinished shard whose process died while writing.
std::optional<Content> read_unless_torn(const fs::path& file, MergeNotes& notes) {
  const bool may_be_torn = file.extension() == ".part";
  try {
    check_readable(file, Depth::traces);
    const RunReader reader(file);
    return Content{reader.provenance(), list_candidates(file, reader, may_be_torn),
                   reader.read_unaudited()};
  } catch (const StoreError& error) {
    if (!may_be_torn) throw;
    notes.push_back(fmt::format("{}: left out", error.what()));
    return std::nullopt;
  }
}

/// Renames the shards in the parts folder that were measured at none of these points, so that they
/// are in nobody's way. (Those in folders of points are not.)
MergeNotes set_foreign_shards_aside(const fs::path& parts, const std::vector<Point>& points,
                                    const std::function<void()>& on_shard) {
  MergeNotes notes;
  for (const fs::path& shard : list_shards(parts)) {
    if (on_shard) on_shard();
    if (shard.parent_path() != parts) continue;
    try {
      const std::string hash = RunReader(shard).provenance().config_hash;
      if (holds(points, hash)) continue;
      std::string name = shard.string();
      if (shard.extension() == ".part") name.resize(name.size() - std::strlen(".part"));
      const fs::path aside = fmt::format("{}.{}{}", name, hash, aside_suffix);
      fs::rename(shard, aside);
      notes.push_back(
          fmt::format("'{}' was measured under another configuration ({}): it is kept as '{}'",
                      shard.string(), hash, aside.string()));
    } catch (const StoreError&) {
      // An unreadable shard holds no results to keep.
    }
  }
  return notes;
}

}  // namespace

MergeNotes write_run_from_shards(const fs::path& path, const Roster& roster) {
  MergeNotes notes;
  Choice choice;
  const std::vector<Point> points = points_of(roster.provenance);
  const std::vector<fs::path> shards = list_shards(parts_folder(path));
  const bool are_several = shards.size() > 1;  // of a single one, nothing else could be written
  for (const fs::path& shard : shards) {
    try {
      const RunReader reader(shard);
      if (!holds(points, reader.provenance().config_hash)) {
        notes.push_back(
            fmt::format("'{}' was measured under another configuration: left out", shard.string()));
        continue;
      }
      for (Candidate& one : list_candidates(shard, reader, are_several)) {
        add_candidate(choice, std::move(one), notes);
      }
    } catch (const StoreError& error) {
      if (!are_several) throw;
      notes.push_back(fmt::format("{}: left out", error.what()));
    }
  }
  choice.add_missing(roster, roster.open_end ? "not measured at this point" : "");
  std::vector<Candidate> chosen = choice.all();
  std::ranges::stable_sort(chosen, {}, [](const Candidate& one) { return one.device.rank; });
  write_candidates(path, roster.provenance, std::move(chosen), roster.unaudited, notes);
  return notes;
}

MergeNotes extract_shards(const fs::path& run, const Provenance& now,
                          const std::vector<std::string>& except,
                          const std::function<void()>& on_device) {
  const fs::path parts = parts_folder(run);
  const std::vector<Point> points_now = points_of(now);
  std::error_code error;
  if (!fs::exists(run, error)) return set_foreign_shards_aside(parts, points_now, on_device);
  const RunReader reader(run);
  const Provenance& before = reader.provenance();
  const bool is_kept = std::ranges::all_of(
      before.points, [&](const Point& point) { return holds(points_now, point.config_hash); });
  if (!is_kept) {
    throw ConfigError(
        fmt::format("'{}' was measured under another configuration ({}; --resume would mix them) "
                    "choose another name with -o, or use --force",
                    run.string(), difference(before, now)));
  }
  MergeNotes notes = set_foreign_shards_aside(parts, points_now, on_device);
  for (const Candidate& one : list_candidates(run, reader)) {
    if (on_device) on_device();
    const std::string& uuid = one.device.info.uuid;
    const fs::path shard =
        finished_shard(point_folder(parts, points_now.size(), one.config_hash), uuid);
    const bool wanted = std::ranges::find(except, uuid) == except.end();
    if (!wanted || fs::exists(shard, error)) continue;
    const DeviceResult device = reader.read_devices({one.row, 1}, Depth::probes).front();
    const Point& point = before.points.at(device.point_index);
    ResumeFrom from{.run = run, .keep = {}, .builds_on = {}};
    for (const StoredJob& job : stored_jobs(device)) from.keep.push_back(job.name);
    make_point_folder(shard.parent_path(), points_now.size());
    Shard::resume(shard.parent_path(), device, at_point(before, point), from).shard.finish(device);
    if (before.points.size() > 1) continue;  // a note for each point would be too many
    notes.push_back(fmt::format("{} is in '{}' and not measured now: kept", uuid, run.string()));
  }
  return notes;
}

MergeNotes merge_runs(const std::vector<fs::path>& sources, const fs::path& path) {
  MergeNotes notes;
  Choice choice;
  std::vector<UnauditedDevice> unaudited;
  std::set<std::string> named;  // UUIDs of unaudited devices
  std::optional<Provenance> provenance;
  std::set<std::tuple<std::string, std::string, std::string>> runs;
  for (const fs::path& file : expand(sources)) {
    auto content = read_unless_torn(file, notes);
    if (!content) continue;
    const Provenance& its = content->provenance;
    const bool is_new_run =
        runs.insert({its.started_utc, its.slurm_job_id, its.command_line}).second;
    if (!provenance) {
      provenance = its;
    } else if (!can_join(its, *provenance)) {
      throw ConfigError(fmt::format(
          "'{}' was measured under another configuration than the first file ({}; their "
          "devices cannot be compared) merge them apart",
          file.string(), difference(its, *provenance, seeds)));
    } else if (is_new_run) {
      provenance->world_size += its.world_size;
    }
    join_points(its, *provenance);
    for (Candidate& one : content->candidates) add_candidate(choice, std::move(one), notes);
    for (UnauditedDevice& device : content->unaudited) {
      if (named.insert(device.uuid).second) unaudited.push_back(std::move(device));
    }
  }
  if (!provenance) {
    throw ConfigError("there is nothing to merge (no process had written into these shards) " +
                      notes.front());
  }
  for (const fs::path& source : sources) {
    add_lost_of_folder(choice, source, *provenance, notes);
  }
  provenance->config_hash = hash_points(provenance->points);
  std::erase_if(unaudited,
                [&](const UnauditedDevice& device) { return choice.holds(device.uuid); });
  write_candidates(path, *provenance, choice.all(), unaudited, notes);
  return notes;
}

}  // namespace sonde
