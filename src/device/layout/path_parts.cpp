// Divides the lanes of a chase by path, and refuses what two launches cannot do.
#include "device/layout/path_parts.hpp"

#include "device/device_error.hpp"
#include "device/layout/place.hpp"

#include <algorithm>
#include <functional>

namespace sonde::layout {
namespace {

bool reads_buffer(const ChaseLane& lane) {
  return has_addresses(lane.path) || is_texture(lane.path);
}

std::vector<LoadPath> paths_of(const ChaseProbe& probe) {
  std::vector<LoadPath> paths;
  for (const ChaseLane& lane : probe.lanes) paths.push_back(lane.path);
  std::ranges::sort(paths, std::greater{});
  static_assert(static_cast<std::size_t>(LoadPath::instruction) + 1 == load_path_count);
  const auto repeats = std::ranges::unique(paths);
  paths.erase(repeats.begin(), repeats.end());
  return paths;
}

void check_paths(const std::vector<LoadPath>& paths) {
  if (paths.size() > 2) {
    throw_device_error(
        "the lanes of a chase take {} load paths (a kernel loads through one, and at most two run "
        "at once). Ask for lanes of two paths",
        paths.size());
  }
  if (std::ranges::all_of(paths, is_texture)) {
    throw_device_error(
        "the lanes of a chase fetch from textures of one and of two dimensions (a device has one "
        "texture at a time here). Ask for one kind");
  }
}

/// Refuses what two launches at once cannot do.
void check_manner(const ChaseProbe& probe) {
  if (probe.concurrency != Concurrency::together) {
    throw_device_error(
        "lanes of different load paths run one after the other (their kernels run at the same "
        "time). Let them run together");
  }
  if (!probe.co_runners.empty()) {
    throw_device_error(
        "co-runners beside lanes of different load paths (two kernels run at once, not three). Ask "
        "for lanes of one path, or no co-runners");
  }
  if (probe.peer_uuid) {
    throw_device_error(
        "lanes of different load paths in the memory of a peer (they are played in the device's "
        "own "
        "memory alone). Ask for lanes of one path");
  }
  if (probe.warm_up == WarmUp::overlapped) {
    throw_device_error(
        "an overlapped warm-up of lanes of different load paths (it is a kernel of its own, whose "
        "loads an L1 forgets before the lanes begin). Ask for a dependent one");
  }
}

/// Bytes of the blocks up to the last that is executed: there is far less code than memory.
std::uint64_t code_bytes_of(const ChaseProbe& probe) {
  std::uint64_t last = 0;
  for (const ChaseLane& lane : probe.lanes)
    last = std::max(last, std::ranges::max(lane.offsets_bytes));
  return last / code_block_bytes * code_block_bytes + code_block_bytes;
}

PathPart part_of(const ChaseProbe& probe, LoadPath path, std::uint64_t span_bytes) {
  PathPart part{.probe = probe, .lanes = {}};
  part.probe.lanes.clear();
  for (std::size_t lane = 0; lane < probe.lanes.size(); ++lane) {
    if (probe.lanes[lane].path != path) continue;
    part.probe.lanes.push_back(probe.lanes[lane]);
    part.lanes.push_back(lane);
  }
  if (has_addresses(path)) part.probe.buffer_bytes = span_bytes;
  if (path == LoadPath::instruction) part.probe.buffer_bytes = code_bytes_of(part.probe);
  return part;
}

/// Sectors of the buffer that the lanes of a part load from or store to, sorted.
std::vector<std::uint64_t> sectors_of(const PathPart& part) {
  constexpr WordLayout words;
  constexpr std::uint64_t sector_bytes = words.word_bytes * words.group_words;
  std::vector<std::uint64_t> sectors;
  for (const ChaseLane& lane : part.probe.lanes) {
    if (!reads_buffer(lane)) continue;
    for (std::uint64_t offset : lane.offsets_bytes) sectors.push_back(offset / sector_bytes);
    for (std::uint64_t offset : lane.stored_offsets_bytes) sectors.push_back(offset / sector_bytes);
  }
  std::ranges::sort(sectors);
  return sectors;
}

void check_sectors(const PathPart& one, const PathPart& other) {
  if (std::ranges::none_of(one.probe.lanes, reads_buffer)) return;
  if (std::ranges::none_of(other.probe.lanes, reads_buffer)) return;
  const auto taken = sectors_of(one);
  const auto is_taken = [&](std::uint64_t sector) {
    return std::ranges::binary_search(taken, sector);
  };
  if (std::ranges::none_of(sectors_of(other), is_taken)) return;
  throw_device_error(
      "lanes of different load paths access one sector (each path has words of its own, and would "
      "overwrite those of the other). Give each path lines of its own");
}

}  // namespace

std::vector<PathPart> split_by_path(const ChaseProbe& probe) {
  const std::vector<LoadPath> paths = paths_of(probe);
  check_paths(paths);
  check_manner(probe);
  std::uint64_t span_bytes = 0;
  for (LoadPath path : paths) {
    span_bytes = std::max(span_bytes, rehearsal_behind(path, probe.buffer_bytes).span_bytes);
  }
  std::vector<PathPart> parts;
  for (LoadPath path : paths) parts.push_back(part_of(probe, path, span_bytes));
  check_sectors(parts.front(), parts.back());
  return parts;
}

}  // namespace sonde::layout
