// A simulated GPU as its JSON file declares it: plain data. Tests compare findings with it; jobs
// and analysis may not include this header.
#pragma once

#include "base/error.hpp"
#include "device/probe/probe.hpp"
#include "device/sim/model/units.hpp"
#include "trace/inventory.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

namespace sonde::sim {

/// Which SMs share one instance of a cache, a TLB or a clock.
enum class Scope { sm, tpc, gpc, partition, device };
inline constexpr std::initializer_list<const char*> scope_names = {"sm", "tpc", "gpc", "partition",
                                                                   "device"};

// Policies and index functions are declared here a second time, besides analysis/structure: the
// inference is tested against the simulator, so the two share no code.

/// An index function, from an address (virtual or physical, in bytes) to a set or a slice.
struct DeclaredIndex {
  enum class Kind {
    bit_field,   // bits low_bit .. low_bit + bits - 1
    xor_masks,   // bit i is the parity of address & masks[i]
    modulo,      // (address / granularity_bytes) mod the number of sets
    table,       // table[(address / granularity_bytes) mod the length of the table]
    xor_modulo,  // the result of xor_masks, mod the number of sets
    slices,      // the slice of the address, then `within` chooses one of its sets
  };
  Kind kind = Kind::bit_field;
  int low_bit = 0;
  int bits = 0;
  std::vector<std::uint64_t> masks;
  std::uint64_t granularity_bytes = 1;
  std::vector<std::uint32_t> table;
  std::vector<DeclaredIndex> within;  // slices: one function, for the sets of a slice
};

enum class DeclaredPolicy {
  lru,
  fifo,
  tree_plru,
  nru,
  clock,
  srrip,
  brrip,
  /// LRU, but the lines of the last two hits cannot leave. A line becomes the youngest when two
  /// later hits end this guard (seen in the L1 of the H200).
  guarded_lru,
  set_duelling,  // SRRIP against BRRIP (Jaleel 2010, DRRIP)
  random,
  weighted_ways,
};

struct Replacement {
  DeclaredPolicy policy = DeclaredPolicy::lru;
  std::vector<double> way_weights;  // weighted_ways: chance of each way to be the victim
};

/// Sets of one cache array; sets may differ in size.
struct Geometry {
  std::uint64_t shared_bytes = 0;           // its carve-out, if there are several
  std::vector<std::uint32_t> ways_per_set;  // one number for each set
  DeclaredIndex index;
  Replacement replacement;
  /// Lines of data, if fewer than the tags. When they are full, the line filled longest ago leaves,
  /// whatever its set.
  std::uint64_t data_lines = 0;

  std::uint64_t lines() const {
    return std::accumulate(ways_per_set.begin(), ways_per_set.end(), std::uint64_t{0});
  }
  /// Lines that the cache holds at most.
  std::uint64_t capacity_lines() const { return data_lines > 0 ? data_lines : lines(); }
  std::uint32_t most_ways() const { return std::ranges::max(ways_per_set); }
};

enum class Addressing { virtual_address, physical_address };

/// What a store does to a cache that holds its word (hit), or does not (miss). The store always
/// goes on to the next cache of the path. `allocate_stored` fetches nothing: a sector becomes valid
/// once each of its words was stored.
enum class StoreHit { update, invalidate, ignore };
enum class StoreMiss { allocate, allocate_stored, no_allocate };
struct WritePolicy {
  StoreHit hit = StoreHit::ignore;
  StoreMiss miss = StoreMiss::no_allocate;
};

/// Sequential prefetch from DRAM: the first touch of a page starts a stream that runs
/// `ahead_bytes` ahead for as long as the next accesses follow in steps of at most
/// `stride_limit_bytes`.
struct Prefetch : Section {
  using Section::Section;
  std::uint64_t ahead_bytes = bytes("bytes", limits::memory_bytes);
  std::uint64_t stride_limit_bytes = bytes("stride_limit_bytes", limits::memory_bytes);
};

/// A cache, or a TLB level: its lines are entries and its sectors are sub-entries.
struct CacheModel {
  std::string name;
  Scope scope = Scope::sm;
  Addressing addressing = Addressing::physical_address;
  std::uint64_t line_bytes = 0;
  std::uint64_t sector_bytes = 0;
  std::uint64_t fetch_bytes = 0;     // aligned block that a miss brings
  std::vector<Geometry> geometries;  // one, or one for each carve-out
  WritePolicy write_policy;
  std::optional<Prefetch> prefetch;
  double jitter_cycles = 0;        // standard deviation
  double sm_spread_cycles = 0;     // each SM lies 0 .. spread above the declared latency
  std::vector<double> tpc_cycles;  // added, by the number of a TPC in its GPC; or empty

  std::uint64_t size_bytes(const Geometry& geometry) const {
    return geometry.capacity_lines() * line_bytes;
  }
  /// @throws Error if there is none for that carve-out
  const Geometry& geometry_for(std::uint64_t shared_bytes) const {
    for (const Geometry& geometry : geometries) {
      if (geometries.size() == 1 || geometry.shared_bytes == shared_bytes) return geometry;
    }
    throw Error("cache " + name + " has no geometry for a carve-out of " +
                std::to_string(shared_bytes) + " bytes");
  }
};

/// One or two partitions of the L2. With two, the home of a line is the parity of its physical
/// address under home_mask.
struct Partitions : Section {
  Partitions() = default;
  explicit Partitions(Fields& fields)
      : Section(fields), count(2), home_mask(fields.mask("home_mask")) {}
  int count = 1;
  std::uint64_t home_mask = 0;
  bool replicate = flag("replicate");  // the partition of an SM keeps copies of far lines
  /// Rate out of a partition; 0: no limit.
  double crossing_bytes_per_cycle =
      number("crossing_bytes_per_cycle", {0, limits::bytes_per_cycle}, 0);
  /// Cycles between a hit at home and a hit of a copy, which lie at equal distances below and above
  /// the declared latency.
  double copy_cycles = number("copy_cycles", any_cycles, 0);
};

/// How SMs that make reductions on one line delay other SMs.
struct ReductionModel : Section {
  using Section::Section;
  double served_sms = number("served_sms", {0, limits::sms});  // SMs served without a queue
  /// Wait in the queue of a slice, for each SM beyond served_sms.
  double wait_cycles = number("wait_cycles", any_cycles);
  /// Wait of any load, for each SM of the same GPC that makes reductions.
  double port_wait_cycles = number("port_wait_cycles", any_cycles);
};

/// Another order of the slices, for lines whose address has odd parity under a mask.
struct SecondOrder : Section {
  using Section::Section;
  std::uint64_t mask = Section::mask("mask");  // 0: none
  /// The slice that is taken instead of each slice of the index.
  std::vector<std::uint32_t> slices = counts("slices", {0, limits::slices});
};

/// Slices on two sides of the chip. GPCs of odd number lie on side 1.
struct SliceSides : Section {
  using Section::Section;
  /// Side of each slice, 0 or 1; empty: there are no sides.
  std::vector<std::uint32_t> of_slice = counts("of_slice", {0, 1});
  /// Cycles between hits on the SM's own side and on the other side, which lie at equal distances
  /// below and above the declared latency.
  double far_cycles = number("far_cycles", any_cycles);
};

/// Slices of the L2. The distance of each lies -spread/2 .. spread/2 around the mean.
struct Slices : Section {
  explicit Slices(Fields& fields);
  /// Slices of one partition; the slices of partition 1 follow those of partition 0.
  int count = Section::count<int>("count", {1, limits::slices});
  DeclaredIndex index;
  SecondOrder second_order = object_or_default<SecondOrder>("second_order");
  SliceSides sides = object_or_default<SliceSides>("sides");
  double spread_cycles = number("spread_cycles", any_cycles);
  ReductionModel reductions = object_or_default<ReductionModel>("reductions");
};

enum class PageMapping { contiguous, random };

struct PageModel {
  std::uint64_t page_bytes = 0;
  std::uint64_t window_bytes = 0;  // page-table window: bytes with active page tables; 0: all
  PageMapping mapping = PageMapping::contiguous;
  std::uint64_t block_bytes = 0;      // random: physically contiguous blocks of this size
  std::vector<CacheModel> tlbs;       // innermost first; for paths that name no TLBs
  std::vector<CacheModel> path_tlbs;  // for paths that name them

  /// Counts through `tlbs`, then `path_tlbs`.
  const CacheModel& tlb(std::size_t place) const {
    return place < tlbs.size() ? tlbs[place] : path_tlbs[place - tlbs.size()];
  }
};

/// Latency by translation outcome: hit in TLB level 0, 1, ... of the path, then walk_cached,
/// walk_cold and window_switch; one number where nothing is translated. A virtually addressed cache
/// has the same number in every place.
using LatencyRow = std::vector<std::uint32_t>;

/// Constants and code have addresses of their own, which are not translated.
enum class AddressSpace { global, constant, code };

/// A part of a texture that is stored together: `rows` rows of `width_bytes`, in order.
struct Tile : Section {
  explicit Tile(Fields& fields);
  std::uint64_t width_bytes = bytes("width_bytes", limits::line_bytes);
  std::uint64_t rows = count("rows", {1, limits::rows});
};

/// One load path: the caches that a load asks in order, and the latency by what served it.
struct PathModel {
  AddressSpace space = AddressSpace::global;
  bool at_home = false;             // answered at a line's home, never by a copy
  bool fetches_ahead = false;       // code that follows is fetched while the block before runs
  std::optional<Tile> tile;         // texture_2d: rows are stored tile by tile
  std::vector<std::size_t> tlbs;    // numbers for PageModel::tlb
  std::vector<std::size_t> caches;  // indices in Model::caches
  std::vector<LatencyRow> hit;      // one for each cache
  LatencyRow far_hit;               // hit in the other partition
  LatencyRow dram;
  LatencyRow dram_far;  // miss whose home is the other partition
};
/// By LoadPath; a GPU may lack some.
using PathModels = std::array<std::optional<PathModel>, load_path_count>;

enum class Numbering {
  tpc_major,    // the SMs of a TPC follow each other, the TPCs of a GPC too
  round_robin,  // TPCs are dealt over the GPCs that still have one
};

/// In which order the scheduler fills thread block clusters with the SMs of a GPC.
enum class ClusterOrder {
  by_tpc,  // TPC after TPC; each launch begins with another TPC
  any,     // another order in each launch, so clusters of two do not show TPCs
};

struct ChipModel : Section {
  ChipModel() = default;
  explicit ChipModel(Fields& fields);
  int gpcs = count<int>("gpcs", {1, limits::groups});
  int tpcs_per_gpc = count<int>("tpcs_per_gpc", {1, limits::groups});  // on the full chip
  int sms_per_tpc = count<int>("sms_per_tpc", {1, limits::groups});
  /// The TPCs that are off are drawn for each die.
  int enabled_tpcs = count<int>("enabled_tpcs", {1, limits::sms}, gpcs* tpcs_per_gpc);
  int min_tpcs_per_gpc = count<int>("min_tpcs_per_gpc", {1, limits::groups}, 1);
  Numbering numbering = one_of<Numbering>("numbering", {"tpc_major", "round_robin"});
  ClusterOrder cluster_order =
      one_of<ClusterOrder>("cluster_order", {"by_tpc", "any"}, ClusterOrder::by_tpc);
  /// So many TPCs, the last in number, share no cluster with another TPC.
  int lone_tpcs = count<int>("lone_tpcs", {0, static_cast<double>(enabled_tpcs)}, 0);
};

struct ClockModel : Section {
  using Section::Section;
  std::uint32_t empty_window_cycles = count("empty_window_cycles", some_cycles);
  std::uint32_t sink_window_cycles = count("sink_window_cycles", some_cycles);
  std::uint32_t granularity_cycles = count("granularity_cycles", some_cycles, {1u});
  Scope scope = one_of<Scope>("scope", scope_names);
  std::uint32_t globaltimer_step_ns = count("globaltimer_step_ns", {1, limits::nanoseconds});
};

struct NoiseModel : Section {
  NoiseModel() = default;
  explicit NoiseModel(Fields& fields);
  double outlier_probability = number("outlier_probability", {0, 1});
  std::uint32_t outlier_min_cycles = count("outlier_min_cycles", any_cycles);
  std::uint32_t outlier_max_cycles = count("outlier_max_cycles", any_cycles);
  double clock_jitter_cycles = number("clock_jitter_cycles", any_cycles);  // windows without a load
};

struct Model {
  std::string name;    // as the user gave it
  std::string source;  // where the numbers come from
  DeviceInfo device;   // what the driver reports; UUID, serial and bus id are made for each die
  ChipModel chip;
  ClockModel clock;
  NoiseModel noise;
  std::vector<CacheModel> caches;
  Partitions partitions;
  std::optional<Slices> slices;
  PageModel pages;
  PathModels paths;
  UnitsModel units;
  double watchdog_s = 2;

  /// nullptr if there is none
  const CacheModel* find_cache(const std::string& cache_name) const {
    const auto found = std::ranges::find(caches, cache_name, &CacheModel::name);
    return found == caches.end() ? nullptr : &*found;
  }
};

}  // namespace sonde::sim
