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
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

namespace sonde {
namespace fs = std::filesystem;
namespace {

// Devices that are in memory together: some 60 MB each with the traces of a standard suite.
constexpr std::size_t most_together = 8;
// Shards up to this size in all are read once and kept; in memory they take several times as much.
constexpr std::uintmax_t most_kept_bytes = 64 << 20;
// Files that differ only in these options can be merged.
constexpr std::string_view seeds[]{"seed", "repeat"};

/// Reads `count` candidates that follow each other in a file. One in memory is moved out.
std::vector<DeviceResult> load(const Candidate& first, std::size_t count) {
  if (!first.given) return RunReader(first.file).read_devices({first.row, count}, Depth::traces);
  std::vector<DeviceResult> devices;
  devices.push_back(std::move(*first.given));
  return devices;
}

/// Groups candidates of one point that follow each other in a file, so that they are read together.
std::vector<std::span<const Candidate>> join_parts(const std::vector<Candidate>& chosen) {
  std::vector<std::span<const Candidate>> parts;
  for (const Candidate& next : chosen) {
    if (!parts.empty() && parts.back().size() < most_together) {
      const Candidate& last = parts.back().back();
      if (!last.given && !next.given && last.file == next.file && last.row + 1 == next.row &&
          last.config_hash == next.config_hash) {
        parts.back() = {parts.back().data(), parts.back().size() + 1};
        continue;
      }
    }
    parts.emplace_back(&next, 1);
  }
  return parts;
}

/// Writes the candidates in the order of their points.
void write_candidates(const fs::path& path, const Provenance& provenance,
                      std::vector<Candidate> chosen,
                      const std::vector<UnauditedDevice>& unaudited) {
  std::ranges::stable_sort(chosen, {}, [&provenance](const Candidate& one) {
    return index_of(provenance.points, one.config_hash);
  });
  const auto parts = join_parts(chosen);
  write_run_alone(path, provenance, unaudited, parts.size(), [&](std::size_t i) {
    const Candidate& first = parts[i].front();
    std::vector<DeviceResult> devices = load(first, parts[i].size());
    const std::uint64_t point = index_of(provenance.points, first.config_hash);
    for (DeviceResult& device : devices) device.point_index = point;
    return devices;
  });
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
         .status = device.status,
         .rank = device.rank});
  }
  return candidates;
}

/// Adds a candidate; of two for the same GPU and point, the better one is kept.
void add_candidate(Choice& choice, Candidate candidate, MergeNotes& notes) {
  Candidate* same = choice.add(candidate);
  if (same == nullptr) return;
  const auto badness = [](const Candidate& one) { return static_cast<int>(one.status); };
  const auto worth = [&](const Candidate& one) {
    return std::pair(-badness(one), one.started_utc);
  };
  if (worth(*same) < worth(candidate)) std::swap(*same, candidate);
  notes.push_back(fmt::format("{} occurs twice: '{}' is used, not '{}'", same->uuid,
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
    Content content{reader.provenance(), list_candidates(file, reader), reader.read_unaudited()};
    if (may_be_torn) {
      for (const Candidate& one : content.candidates) load(one, 1);
    }
    return content;
  } catch (const StoreError& error) {
    if (!may_be_torn) throw;
    notes.push_back(fmt::format("{}: left out", error.what()));
    return std::nullopt;
  }
}

std::uintmax_t total_bytes(const std::vector<fs::path>& files) {
  std::uintmax_t bytes = 0;
  for (const fs::path& file : files) {
    std::error_code error;
    const std::uintmax_t size = fs::file_size(file, error);
    if (!error) bytes += size;
  }
  return bytes;
}

}  // namespace

MergeNotes write_run_from_shards(const fs::path& path, const Roster& roster) {
  MergeNotes notes;
  Choice choice;
  const std::vector<Point> points = points_of(roster.provenance);
  const std::vector<fs::path> shards = list_shards(parts_folder(path));
  const bool are_kept = shards.size() == 1 || total_bytes(shards) <= most_kept_bytes;
  for (const fs::path& shard : shards) {
    try {
      const RunReader reader(shard);
      if (!holds(points, reader.provenance().config_hash)) {
        notes.push_back(
            fmt::format("'{}' was measured under another configuration: left out", shard.string()));
        continue;
      }
      for (Candidate& one : list_candidates(shard, reader)) {
        std::vector<DeviceResult> found = load(one, 1);  // throws here if the shard is damaged
        if (are_kept) one.given = std::make_shared<DeviceResult>(std::move(found.front()));
        add_candidate(choice, std::move(one), notes);
      }
    } catch (const StoreError& error) {
      if (shards.size() == 1) throw;  // nothing else could be written
      notes.push_back(fmt::format("{}: left out", error.what()));
    }
  }
  choice.add_missing(roster);
  std::vector<Candidate> chosen = choice.all();
  std::ranges::stable_sort(chosen, {}, &Candidate::rank);
  write_candidates(path, roster.provenance, std::move(chosen), roster.unaudited);
  return notes;
}

MergeNotes extract_shards(const fs::path& run, const Provenance& now,
                          const std::vector<std::string>& except,
                          const std::function<void()>& on_device) {
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
        fmt::format("'{}' was measured under another configuration ({}; --resume would mix them) "
                    "choose another name with -o, or use --force",
                    run.string(), difference(before, now)));
  }
  for (const Candidate& one : list_candidates(run, reader)) {
    if (on_device) on_device();
    const fs::path parts = point_folder(parts_folder(run), points_now.size(), one.config_hash);
    const bool wanted = std::ranges::find(except, one.uuid) == except.end();
    if (!wanted || fs::exists(finished_shard(parts, one.uuid), error)) continue;
    const DeviceResult device = reader.read_devices({one.row, 1}, Depth::probes).front();
    const Point& point = before.points.at(device.point_index);
    ResumeFrom from{.run = run, .keep = {}, .builds_on = {}};
    for (const StoredJob& job : stored_jobs(device)) from.keep.push_back(job.name);
    make_point_folder(parts, points_now.size());
    ResumedShard resumed = Shard::resume(parts, device, at_point(before, point), from);
    resumed.shard.finish(device);
    write_digest(finished_shard(parts, device.info.uuid), device, point.config_hash);
    if (before.points.size() > 1) continue;  // a note for each point would be too many
    notes.push_back(
        fmt::format("{} is in '{}' and not measured now: kept", device.info.uuid, run.string()));
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
  write_candidates(path, *provenance, choice.all(), unaudited);
  return notes;
}

}  // namespace sonde
