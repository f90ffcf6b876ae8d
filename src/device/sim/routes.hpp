// The ways that loads take: for each SM the cache arrays and TLBs along one path of the model, with
// the latencies that this SM sees. Used by memory_system.cpp.
#pragma once

#include "device/sim/cache_array.hpp"
#include "device/sim/die.hpp"

#include <array>
#include <map>
#include <memory>

namespace sonde::sim {

/// Who answers a load, as one SM sees it.
struct Source {
  std::vector<std::uint32_t> latency_cycles;  // by translation outcome
  double jitter_cycles = 0;
};

/// One cache on the way.
struct Stop {
  CacheArray* array = nullptr;        // that this SM asks first
  std::array<CacheArray*, 2> half{};  // by home of the line; one and the same unless there are two
  bool halved = false;
  const Prefetch* prefetch = nullptr;  // if it has one
  Source hit;
};

/// A stream of the sequential prefetcher.
struct Stream {
  std::uint64_t next = 0;
  std::uint64_t end = 0;
};

/// The way from one SM.
struct Route {
  std::vector<Stop> stops;
  std::size_t stop_count = 0;     // of stops; asked many times for each load
  std::size_t virtual_stops = 0;  // the first ones, which are asked before any translation
  std::vector<CacheArray*> tlbs;
  Source far_hit;  // with two halves of the L2
  Source dram;
  Source dram_far;  // with two halves of the L2
  std::uint32_t partition = 0;
  bool sliced = false;  // lines of the last cache lie at distances of their own
  Stream stream;
  bool is_large = false;   // the last cache is more than the host's nearest caches hold
  bool asked_last = true;  // the last load came to the last cache

  const Stop& last() const { return stops[stop_count - 1]; }
};

/// All arrays of a die. They are made when first needed and emptied for each probe.
class Arrays {
 public:
  /// Keeps references to both.
  Arrays(const Model& model, const Die& die);

  /// All arrays that are opened from now on are empty; `seed` for policies that draw.
  void begin_probe(std::uint64_t seed);

  /// @param shared_bytes carve-out in force
  Route open_route(const PathModel& path, int sm, std::uint64_t shared_bytes);

 private:
  struct Instance {
    std::unique_ptr<CacheArray> array;
    const Geometry* geometry = nullptr;
    std::uint64_t probe = 0;  // the last one that used it
  };

  CacheArray* ready(std::vector<Instance>& instances, int number, const CacheModel& model,
                    const Geometry& geometry);
  Stop open_stop(int sm, std::size_t cache, const LatencyRow& hit, std::uint64_t shared_bytes);

  const Model& model_;
  const Die& die_;
  std::vector<std::vector<Instance>> caches_;  // by place in Model::caches, then number
  std::vector<std::vector<Instance>> tlbs_;    // as PageModel::tlb counts, then number
  std::map<const Geometry*, SetIndex> indexes_;
  std::uint64_t probe_ = 0;
  std::uint64_t seed_ = 0;
};

}  // namespace sonde::sim
