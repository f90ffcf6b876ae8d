// Names, checks and the JSON description of probes: the part of the seam that no backend owns.
#include "device/probe/probe.hpp"

#include "base/enum_text.hpp"
#include "base/error.hpp"
#include "device/probe/offset_list.hpp"
#include "device/probe/sm_list.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <set>

namespace sonde {
namespace {

using nlohmann::json;

constexpr EnumName<WarmUp> warm_up_names[]{{WarmUp::dependent, "dependent"},
                                           {WarmUp::overlapped, "overlapped"}};
constexpr EnumName<Preparation> preparation_names[]{{Preparation::as_is, "as_is"},
                                                    {Preparation::flushed, "flushed"}};

constexpr EnumName<Concurrency> concurrency_names[]{{Concurrency::together, "together"},
                                                    {Concurrency::in_turn, "in_turn"}};

constexpr EnumName<DsmKind> dsm_names[]{{DsmKind::latency, "latency"}, {DsmKind::stream, "stream"}};

constexpr EnumName<HostKind> host_names[]{{HostKind::to_device, "to_device"},
                                          {HostKind::from_device, "from_device"},
                                          {HostKind::both, "both"},
                                          {HostKind::latency, "latency"}};

constexpr EnumName<ClockWindow> clock_names[]{{ClockWindow::empty, "empty"},
                                              {ClockWindow::sink, "sink"}};

/// In the order of ProbeSpec.
constexpr std::array kind_names{"chase",   "clock",        "timestamp",     "cluster",
                                "stream",  "shared_chase", "shared_stream", "program",
                                "dsm",     "host",         "branch",        "wait",
                                "barrier", "sleep",        "occupancy",     "constant_stream",
                                "launch",  "pace",         "arithmetic",    "shared_atomic"};
static_assert(kind_names.size() == std::variant_size_v<ProbeSpec>);

/// The bytes that a chase reads at an offset. Offsets are multiples of it.
std::uint64_t entry_bytes(LoadPath path) {
  return path == LoadPath::instruction ? code_entry_bytes : 8;
}

// Keeps descriptions short: the file has one for each probe.
constexpr std::size_t most_described_lists = 16;

/// Consecutive lanes with lists of the same shape on the same path.
struct LaneGroup {
  OffsetShape shape;
  LoadPath path;
  std::size_t lanes = 1;
};

/// Most lanes have equal lists; comparing lists is faster than finding their shapes.
std::vector<LaneGroup> group_lanes(const std::vector<ChaseLane>& lanes) {
  std::vector<LaneGroup> groups;
  const ChaseLane* before = nullptr;
  for (const ChaseLane& lane : lanes) {
    const bool same_path = before != nullptr && lane.path == before->path;
    const bool same_list = same_path && lane.offsets_bytes == before->offsets_bytes;
    const OffsetShape shape =
        same_list ? groups.back().shape : shape_of(lane.offsets_bytes, entry_bytes(lane.path));
    if (same_path && shape == groups.back().shape) {
      ++groups.back().lanes;
    } else {
      groups.push_back({shape, lane.path});
    }
    before = &lane;
  }
  return groups;
}

/// Describes the lists of each group, if there are several.
void describe_lists(const std::vector<LaneGroup>& groups, bool with_path, json& result) {
  std::size_t left_out = 0;
  for (const LaneGroup& group : groups) {
    json& lists = result["lists"];
    if (lists.size() == most_described_lists) {
      left_out += group.lanes;
      continue;
    }
    json one = {{"lanes", group.lanes}};
    describe(group.shape, one);
    if (with_path) one["path"] = to_text(group.path);
    lists.push_back(std::move(one));
  }
  if (left_out > 0) result["lanes_left_out"] = left_out;
}

json describe(const ChaseProbe& probe) {
  std::size_t stores = 0;
  for (const ChaseLane& lane : probe.lanes) stores += lane.stored_offsets_bytes.size();
  json result = {{"buffer_bytes", probe.buffer_bytes},
                 {"place", probe.place},
                 {"warmup_accesses", probe.warmup_accesses},
                 {"warm_up", name_of(warm_up_names, probe.warm_up)},
                 {"timed_accesses", probe.timed_accesses},
                 {"recorded_accesses", probe.recorded_accesses},
                 {"amortised_accesses", probe.amortised_accesses},
                 {"preparation", name_of(preparation_names, probe.preparation)},
                 {"concurrency", name_of(concurrency_names, probe.concurrency)}};
  const std::vector<LaneGroup> groups = group_lanes(probe.lanes);
  const std::optional<LoadPath> path = common_path(probe);
  if (path) result["path"] = to_text(*path);
  if (groups.size() == 1) {
    describe(groups.front().shape, result);
  } else {
    describe_lists(groups, !path, result);
  }
  if (stores > 0) result["stores"] = stores;
  for (const CoRunner& runner : probe.co_runners) {
    result["co_runners"].push_back({{"sm", runner.sm}, {"offset_bytes", runner.offset_bytes}});
  }
  if (probe.shared_carveout_bytes) result["shared_carveout_bytes"] = *probe.shared_carveout_bytes;
  if (probe.peer_uuid) result["peer"] = *probe.peer_uuid;
  return result;
}

json describe(const ClockProbe& probe) {
  return {{"window", name_of(clock_names, probe.window)}, {"samples", probe.samples}};
}

json describe(const TimestampProbe& probe) { return {{"samples", probe.samples}}; }

json describe(const ClusterProbe& probe) {
  return {{"cluster_blocks", probe.cluster_blocks}, {"launches", probe.launches}};
}

json describe(const DsmProbe& probe) {
  json result = {{"kind", name_of(dsm_names, probe.kind)},
                 {"cluster_blocks", probe.cluster_blocks},
                 {"accesses", probe.accesses}};
  if (probe.kind == DsmKind::latency) return result;
  result["block_threads"] = probe.block_threads;
  result["distance"] = probe.distance;
  result["concurrency"] = name_of(concurrency_names, probe.concurrency);
  return result;
}

json describe(const HostProbe& probe) {
  json result = {
      {"kind", name_of(host_names, probe.kind)}, {"bytes", probe.bytes}, {"place", probe.place}};
  if (probe.kind == HostKind::latency) {
    result["accesses"] = probe.accesses;
  } else {
    result["repeats"] = probe.repeats;
  }
  return result;
}

bool reads_global_memory(LoadPath path) {
  return path != LoadPath::constant && path != LoadPath::instruction;
}

void check_offsets(std::uint64_t buffer_bytes, LoadPath path,
                   const std::vector<std::uint64_t>& offsets) {
  const std::uint64_t unit = entry_bytes(path);
  static_assert(std::has_single_bit(code_entry_bytes));  // a mask is faster than a division
  for (std::uint64_t offset : offsets) {
    if ((offset & (unit - 1)) == 0 && offset + unit <= buffer_bytes) continue;
    // The text is made only when needed: lists are long, and every probe is checked.
    throw Error(fmt::format("offset {} must be a multiple of {} inside the buffer", offset, unit));
  }
}

void check_co_runners(const ChaseProbe& probe, int sm_count) {
  std::set<int> taken;
  for (const ChaseLane& lane : probe.lanes) {
    require(probe.co_runners.empty() || reads_global_memory(lane.path),
            "co-runners need lanes whose paths read global memory");
    taken.insert(lane.sm);
  }
  for (const CoRunner& runner : probe.co_runners) {
    check_sms({runner.sm}, sm_count);
    check_offsets(probe.buffer_bytes, LoadPath::past_l1, {runner.offset_bytes});
    require(taken.insert(runner.sm).second, "a co-runner needs an SM of its own");
  }
}

/// A peer's memory is reached only by loads of addresses, and its L2 cannot be emptied from here.
void check_peer(const ChaseProbe& probe) {
  if (!probe.peer_uuid) return;
  require(probe.co_runners.empty() && probe.preparation == Preparation::as_is,
          "a chase through a peer's memory has no co-runners and no flush");
  for (const ChaseLane& lane : probe.lanes) {
    require(lane.path == LoadPath::all_levels || lane.path == LoadPath::past_l1 ||
                lane.path == LoadPath::uncached,
            "a chase through a peer's memory needs plain loads");
    require(lane.stored_offsets_bytes.empty(), "a chase through a peer's memory stores nothing");
  }
}

void check(const ChaseProbe& probe, int sm_count) {
  require(!probe.lanes.empty(), "a chase needs a lane");
  require(probe.timed_accesses + probe.amortised_accesses > 0, "a chase must time something");
  require(probe.timed_accesses == 0 || probe.amortised_accesses == 0,
          "a chase is timed access by access or as a whole, not both");
  require(probe.recorded_accesses <= probe.timed_accesses,
          "recorded_accesses must not exceed timed_accesses");
  for (const ChaseLane& lane : probe.lanes) {
    check_sms({lane.sm}, sm_count);
    require(!lane.offsets_bytes.empty(), "offsets_bytes of a lane is empty");
    check_offsets(probe.buffer_bytes, lane.path, lane.offsets_bytes);
    check_offsets(probe.buffer_bytes, lane.path, lane.stored_offsets_bytes);
    require(lane.stored_offsets_bytes.empty() || reads_global_memory(lane.path),
            "stored_offsets_bytes need a path that reads global memory");
    require(lane.path != LoadPath::constant ||
                std::ranges::max(lane.offsets_bytes) < constant_bank_bytes,
            "a chase through the constant bank must stay within its 64 KiB");
  }
  check_co_runners(probe, sm_count);
  check_peer(probe);
}

void check_samples(std::uint64_t samples, const std::vector<int>& sms, int sm_count) {
  require(samples > 0 && !sms.empty(), "a probe of clocks needs samples and SMs");
  check_sms(sms, sm_count);
}

void check(const ClockProbe& probe, int sm_count) {
  check_samples(probe.samples, probe.sms, sm_count);
}

void check(const TimestampProbe& probe, int sm_count) {
  check_samples(probe.samples, probe.sms, sm_count);
}

void check(const ClusterProbe& probe, int) {
  require(probe.cluster_blocks > 0 && probe.launches > 0, "a cluster probe needs positive counts");
}

void check(const DsmProbe& probe, int) {
  require(probe.cluster_blocks > 0 && probe.accesses > 0 && probe.block_threads > 0,
          "a probe of distributed shared memory needs positive counts");
  if (probe.kind == DsmKind::latency) return;
  require(probe.distance >= 0 && probe.distance < probe.cluster_blocks,
          "distance must lie between 0 and cluster_blocks - 1");
}

void check(const HostProbe& probe, int sm_count) {
  require(probe.bytes > 0 && probe.bytes % host_step_bytes == 0,
          "bytes of a host probe must be a multiple of 256");
  require(probe.repeats > 0, "a host probe needs repeats");
  if (probe.kind != HostKind::latency) return;
  check_sms({probe.sm}, sm_count);
  require(probe.accesses > 0 && probe.accesses <= probe.bytes / host_step_bytes,
          "accesses to host memory must not exceed its lines (a line is read once)");
}

}  // namespace

std::string_view probe_kind(const ProbeSpec& spec) { return kind_names.at(spec.index()); }

std::string describe_probe(const ProbeSpec& spec) {
  return std::visit([](const auto& probe) { return describe(probe).dump(); }, spec);
}

std::optional<LoadPath> common_path(const ChaseProbe& probe) {
  const auto differs = [&](const ChaseLane& lane) { return lane.path != probe.lanes.front().path; };
  if (probe.lanes.empty() || std::ranges::any_of(probe.lanes, differs)) return std::nullopt;
  return probe.lanes.front().path;
}

void validate_probe(const ProbeSpec& spec, int sm_count) {
  std::visit([sm_count](const auto& probe) { check(probe, sm_count); }, spec);
}

}  // namespace sonde
