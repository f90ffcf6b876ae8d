// The routes of loads: for each SM the cache arrays and TLBs along one path of the model, with the
// latencies that this SM sees. MemorySystem sends each load down the route of its SM and path.
#pragma once

#include "device/sim/memory/cache_array.hpp"
#include "device/sim/model/die.hpp"
#include "device/sim/model/limits.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <span>

namespace sonde::sim {

/// A latency and a distance that may lie below the middle: at least one cycle.
inline std::uint32_t add_cycles(std::uint32_t latency_cycles, std::int64_t more_cycles) {
  return static_cast<std::uint32_t>(std::max<std::int64_t>(1, latency_cycles + more_cycles));
}

/// Who answers a load, as one SM sees it.
struct Source {
  std::vector<std::uint32_t> latency_cycles;  // by translation outcome
  double jitter_cycles = 0;
};

using ByPartition = std::array<CacheArray*, static_cast<std::size_t>(limits::partitions)>;

/// One cache on a route.
struct Level {
  CacheArray* array = nullptr;         // that this SM asks first
  ByPartition by_home{};               // by home of the line; the same one unless partitioned
  bool partitioned = false;            // an array for each partition of the L2
  const Prefetch* prefetch = nullptr;  // if it has one
  Source hit;
};

/// A stream of the sequential prefetcher.
struct Stream {
  std::uint64_t next = 0;
  std::uint64_t end = 0;
};

/// What the loads of one SM through one path go through.
struct Route {
  std::uint64_t base = 0;      // of the addresses of the path's space
  const Tile* tile = nullptr;  // of a texture of rows
  bool translated = true;      // addresses of global memory
  bool executes = false;       // code: an access is all of a block from there on
  bool copied = false;         // the partition of the SM may hold copies for this path
  std::vector<Level> levels;
  std::size_t level_count = 0;     // of levels; asked many times for each load
  std::size_t virtual_levels = 0;  // the first ones, which are asked before any translation
  std::vector<CacheArray*> tlbs;
  Source far_hit;  // in another partition of the L2
  Source dram;
  Source dram_far;  // home in another partition
  std::uint32_t partition = 0;
  bool shares_last = false;  // the last cache belongs to several SMs: an L2
  bool sliced = false;       // lines of the last cache lie at distances of their own, by slice
  std::span<const std::int32_t> slice_cycles;
  Stream stream;

  const Level& last() const { return levels[level_count - 1]; }
};

/// All arrays of a die. They are made when first needed and emptied for each probe, but for those
/// of code alone: no launch and no load of data empties them, as was seen on an H200.
class Arrays {
 public:
  /// Keeps references to both.
  Arrays(const Model& model, const Die& die);

  /// All arrays that are opened from now on are empty, but for those of code alone; `seed` for
  /// random replacement.
  void begin_probe(std::uint64_t seed);

  /// The route without its base. Routes of one probe meet in whatever arrays the model says.
  /// @param path must outlive the route
  /// @param shared_bytes carve-out in force
  Route open_route(const PathModel& path, int sm, std::uint64_t shared_bytes);

 private:
  struct Instance {
    std::unique_ptr<CacheArray> array;
    const Geometry* geometry = nullptr;
    std::uint64_t probe = 0;  // the last one that used it
  };

  /// @param keeps what earlier probes left in it
  CacheArray* ready(std::vector<Instance>& instances, int number, const CacheModel& model,
                    const Geometry& geometry, bool keeps = false);
  CacheArray* ready_cache(std::size_t cache, int number, const Geometry& geometry);
  Level open_level(int sm, std::size_t cache, const LatencyRow& hit, std::uint64_t shared_bytes);
  /// That of this SM, which may have lost ways.
  const Geometry& geometry_of(int sm, std::size_t cache, std::uint64_t shared_bytes);

  const Model& model_;
  const Die& die_;
  std::vector<std::vector<Instance>> caches_;  // by place in Model::caches, then number
  std::vector<bool> of_code_alone_;            // by place in Model::caches
  std::vector<std::vector<Instance>> tlbs_;    // as PageModel::tlb counts, then number
  std::map<const Geometry*, SetIndex> indexes_;
  std::map<std::pair<int, const Geometry*>, Geometry> faulty_geometries_;  // by SM
  std::uint64_t probe_ = 0;
  std::uint64_t seed_ = 0;
};

}  // namespace sonde::sim
