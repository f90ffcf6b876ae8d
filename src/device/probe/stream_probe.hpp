// The probe of the bandwidth of global memory and the L2. Part of the seam: probe.hpp lists it
// among all others.
#pragma once

#include "device/probe/load_path.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sonde {

/// `add`: adds 1 to every word of 4 bytes without reading the old value; the L2 adds.
enum class StreamKind { read, write, copy, add };

/// How the blocks of a stream share its work. `apart`: they divide each pass, so that no two of
/// them access the same line at the same time. `same`: each block makes whole passes, in the same
/// order.
enum class StreamOrder { apart, same };

/// Hints of loads and stores about the data (PTX ISA, cache operators and eviction priorities).
/// `no_allocate`: loads leave no line in the L1. `evict_first`: the data are accessed once, so that
/// caches drop them first. `write_through`: stores go through the L2.
enum class StreamHint { none, no_allocate, evict_first, write_through };

/// What moves the data. `threads`: loads and stores of all threads. `bulk`: a copy engine of the
/// SM, through shared memory; one thread of a block requests tiles, bulk_stages of them at a time.
enum class StreamEngine { threads, bulk };
inline constexpr int bulk_stages = 4;
/// Threads of a bulk block: their elements make up a tile, and one of them requests it.
inline constexpr int bulk_threads = 32;

/// Some SMs, and the chunks of the footprint that the warps on them take.
struct StreamGroup {
  std::vector<int> sms;
  std::vector<std::uint64_t> chunk_offsets_bytes;  // multiples of stream_chunk_bytes
};
inline constexpr std::uint64_t stream_chunk_bytes = 4096;
inline constexpr std::size_t most_stream_groups = 2;

/// Independent accesses to global memory. `blocks` blocks of `block_threads` threads pass `passes`
/// times over `footprint_bytes` (copy: from one half to the other). Each thread has `ilp`
/// independent elements of `element_bytes` in flight, and a block takes tiles of as many elements
/// as its threads have in flight. Trace.repeat_ns has `repeats` values, each the wall time of one
/// launch of stream_bytes(). With chosen SMs there is one lane for each: elapsed_cycles from the
/// start of its block to its end in the last repeat.
///
/// With timed_tiles at most so many tiles, spread over all tiles, are timed: a warp of the block
/// reads its clock before it issues its `ilp` loads and after the last of them has arrived. One
/// lane for each SM that had such tiles, with their windows in the last repeat.
struct StreamProbe {
  StreamKind kind = StreamKind::read;
  StreamOrder order = StreamOrder::apart;
  LoadPath path = LoadPath::all_levels;
  StreamHint hint = StreamHint::none;
  StreamEngine engine = StreamEngine::threads;
  int blocks = 0;
  int block_threads = 0;
  int ilp = 1;
  int element_bytes = 16;  // 4, 8 or 16
  std::uint64_t footprint_bytes = 0;
  Place place = 0;
  int passes = 1;
  int repeats = 1;
  int timed_tiles = 0;
  std::vector<StreamGroup> groups = {};  // each SM is in one of them; empty: none
  std::vector<int> sms;  // empty: all; else blocks elsewhere end at once (one block per SM)
  /// As ChaseProbe::peer_uuid. A copy then reads one half of the peer's buffer and writes the
  /// other, so that the link carries data both ways.
  std::optional<std::string> peer_uuid = {};
};

std::string_view to_text(StreamKind kind);
std::string_view to_text(StreamHint hint);

/// Bytes of one tile of a stream.
std::uint64_t stream_tile_bytes(const StreamProbe& probe);

/// Chunks that each warp of a stream with groups takes.
std::uint64_t stream_warp_chunks(const StreamProbe& probe);

/// Bytes that the blocks of one repeat access: a copy counts the bytes that it reads and writes; in
/// the order `same` each block counts.
double stream_bytes(const StreamProbe& probe);

nlohmann::json describe(const StreamProbe& probe);

/// @throws Error naming the field
void check(const StreamProbe& probe, int sm_count);

}  // namespace sonde
