// Names, checks and the JSON description of streams.
#include "device/probe/stream_probe.hpp"

#include "base/enum_text.hpp"
#include "base/error.hpp"
#include "base/gpu_facts.hpp"
#include "device/probe/sm_list.hpp"

#include <nlohmann/json.hpp>

#include <set>
#include <utility>

namespace sonde {
namespace {

constexpr EnumName<StreamKind> stream_kind_names[]{{StreamKind::read, "read"},
                                                   {StreamKind::write, "write"},
                                                   {StreamKind::copy, "copy"},
                                                   {StreamKind::add, "add"}};
constexpr EnumName<StreamOrder> order_names[]{{StreamOrder::apart, "apart"},
                                              {StreamOrder::same, "same"}};
constexpr EnumName<StreamHint> hint_names[]{{StreamHint::none, "none"},
                                            {StreamHint::no_allocate, "no_allocate"},
                                            {StreamHint::evict_first, "evict_first"},
                                            {StreamHint::write_through, "write_through"}};
constexpr EnumName<StreamEngine> engine_names[]{{StreamEngine::threads, "threads"},
                                                {StreamEngine::bulk, "bulk"}};

/// Whole warps of a block.
std::uint64_t count_block_warps(const StreamProbe& probe) {
  return static_cast<std::uint64_t>(probe.block_threads) / warp_threads;
}

std::uint64_t count_warps(const StreamProbe& probe) {
  return static_cast<std::uint64_t>(probe.blocks) * count_block_warps(probe);
}

void check_hint(const StreamProbe& probe) {
  const bool loads = probe.kind == StreamKind::read || probe.kind == StreamKind::copy;
  require(probe.hint != StreamHint::no_allocate || loads, "the hint no_allocate needs loads");
  require(probe.hint != StreamHint::write_through || probe.kind != StreamKind::read,
          "the hint write_through needs stores");
}

void check_adds(const StreamProbe& probe) {
  if (probe.kind != StreamKind::add) return;
  require(probe.element_bytes == 4 && probe.path == LoadPath::all_levels &&
              probe.hint == StreamHint::none && probe.engine == StreamEngine::threads,
          "a stream of additions is made by threads, of words of 4 B, without hint or path");
  require(!probe.peer_uuid, "no stream adds to the memory of a peer");
}

void check_bulk(const StreamProbe& probe) {
  if (probe.engine != StreamEngine::bulk) return;
  require(probe.kind == StreamKind::read || probe.kind == StreamKind::copy,
          "a bulk stream needs something to load");
  require(probe.block_threads == bulk_threads && probe.element_bytes == 16,
          "a bulk stream needs blocks of 32 threads and elements of 16 B");
  require(probe.order == StreamOrder::apart && probe.sms.empty() && !probe.peer_uuid &&
              probe.hint == StreamHint::none && probe.path == LoadPath::all_levels,
          "a bulk stream runs apart on all SMs, without hint, path or peer");
}

void check_timed(const StreamProbe& probe) {
  require(probe.timed_tiles >= 0, "timed_tiles of a stream must not be negative");
  if (probe.timed_tiles == 0) return;
  require(probe.kind == StreamKind::read && probe.engine == StreamEngine::threads &&
              probe.order == StreamOrder::apart && probe.groups.empty() && !probe.peer_uuid,
          "tiles are timed of reads by threads, apart and without groups");
}

void check_groups(const StreamProbe& probe, int sm_count) {
  if (probe.groups.empty()) return;
  const bool adds = probe.kind == StreamKind::add;  // additions have rules of their own
  require(
      probe.kind != StreamKind::copy && probe.engine == StreamEngine::threads &&
          (adds || (probe.path == LoadPath::past_l1 && probe.element_bytes == 16)) &&
          probe.hint == StreamHint::none && probe.order == StreamOrder::apart &&
          probe.sms.empty() && !probe.peer_uuid,
      "a stream with groups is of reads or writes past the L1, of 16 B, or of additions, apart, "
      "without hint");
  require(probe.groups.size() <= most_stream_groups, "a stream has at most two groups");
  require(
      probe.block_threads % static_cast<int>(warp_threads) == 0 && probe.blocks % sm_count == 0 &&
          stream_chunk_bytes % (stream_tile_bytes(probe) / count_block_warps(probe)) == 0,
      "a stream with groups needs whole warps, as many blocks on each SM, and an ilp of 1, 2, 4 "
      "or 8");
  std::set<int> grouped;
  for (const StreamGroup& group : probe.groups) {
    check_sms(group.sms, sm_count);
    grouped.insert(group.sms.begin(), group.sms.end());
    require(!group.sms.empty() && !group.chunk_offsets_bytes.empty(),
            "a group of a stream needs SMs and chunks");
    for (const std::uint64_t offset_bytes : group.chunk_offsets_bytes) {
      require(offset_bytes % stream_chunk_bytes == 0 &&
                  offset_bytes + stream_chunk_bytes <= probe.footprint_bytes,
              "chunks of a stream must lie in its footprint, at multiples of 4096 B");
    }
  }
  std::size_t listed = 0;
  for (const StreamGroup& group : probe.groups) listed += group.sms.size();
  require(listed == grouped.size() && std::cmp_equal(listed, sm_count),
          "each SM must be in one group of a stream");
  require(stream_warp_chunks(probe) > 0, "the passes of a stream are too few for its warps");
}

}  // namespace

std::string_view to_text(StreamKind kind) { return name_of(stream_kind_names, kind); }

std::string_view to_text(StreamHint hint) { return name_of(hint_names, hint); }

nlohmann::json describe(const StreamProbe& probe) {
  nlohmann::json result = {{"kind", to_text(probe.kind)},
                           {"order", name_of(order_names, probe.order)},
                           {"path", to_text(probe.path)},
                           {"hint", to_text(probe.hint)},
                           {"engine", name_of(engine_names, probe.engine)},
                           {"blocks", probe.blocks},
                           {"block_threads", probe.block_threads},
                           {"ilp", probe.ilp},
                           {"element_bytes", probe.element_bytes},
                           {"footprint_bytes", probe.footprint_bytes},
                           {"place", probe.place},
                           {"passes", probe.passes},
                           {"repeats", probe.repeats},
                           {"timed_tiles", probe.timed_tiles},
                           {"sms", probe.sms}};
  for (const StreamGroup& group : probe.groups) {
    result["groups"].push_back({{"sms", group.sms}, {"chunks", group.chunk_offsets_bytes.size()}});
  }
  if (probe.peer_uuid) result["peer"] = *probe.peer_uuid;
  return result;
}

void check(const StreamProbe& probe, int sm_count) {
  require(probe.blocks > 0 && probe.block_threads > 0 && probe.ilp > 0 && probe.passes > 0 &&
              probe.repeats > 0 && probe.footprint_bytes > 0,
          "a stream needs positive counts");
  require(probe.element_bytes == 4 || probe.element_bytes == 8 || probe.element_bytes == 16,
          "element_bytes of a stream must be 4, 8 or 16");
  check_sms(probe.sms, sm_count);
  check_hint(probe);
  check_adds(probe);
  check_bulk(probe);
  check_timed(probe);
  check_groups(probe, sm_count);
}

std::uint64_t stream_tile_bytes(const StreamProbe& probe) {
  return static_cast<std::uint64_t>(probe.block_threads) * static_cast<std::uint64_t>(probe.ilp) *
         static_cast<std::uint64_t>(probe.element_bytes);
}

std::uint64_t stream_warp_chunks(const StreamProbe& probe) {
  return probe.footprint_bytes / stream_chunk_bytes * static_cast<std::uint64_t>(probe.passes) /
         count_warps(probe);
}

double stream_bytes(const StreamProbe& probe) {
  if (!probe.groups.empty()) {
    return static_cast<double>(stream_warp_chunks(probe) * count_warps(probe) * stream_chunk_bytes);
  }
  // A copy reads one half of the footprint and writes the other, so each kind touches it once.
  const double pass_bytes = static_cast<double>(probe.footprint_bytes);
  const int whole_passes =
      probe.order == StreamOrder::same ? probe.passes * probe.blocks : probe.passes;
  return pass_bytes * whole_passes;
}

}  // namespace sonde
