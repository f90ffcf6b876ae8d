// The routes of loads: for each SM the cache arrays and TLBs along one path of the model, with the
// latencies that this SM sees. MemorySystem sends each load along the route of its SM and path.
#pragma once

#include "device/sim/memory/cache_array.hpp"
#include "device/sim/model/die.hpp"
#include "device/sim/model/limits.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <set>
#include <span>

namespace sonde::sim {

using ByPartition = std::array<CacheArray*, static_cast<std::size_t>(limits::partitions)>;

/// One cache on a route.
struct Level {
  const CacheModel* model = nullptr;
  CacheArray* array = nullptr;       // that this SM asks first
  ByPartition by_home{};             // by home of the line; all the same unless partitioned
  bool partitioned = false;          // one array for each L2 partition
  const LatencyRow* hit = nullptr;   // as the path declares it
  std::int64_t distance_cycles = 0;  // of this SM, added to `hit`
};

/// A stream of the sequential prefetcher.
struct Stream {
  std::uint64_t next = 0;
  std::uint64_t end = 0;
};

/// The caches and TLBs that the loads of one SM on one path pass.
struct Route {
  const PathModel* path = nullptr;
  std::uint64_t base = 0;  // address of offset 0
  std::vector<Level> levels;
  std::size_t virtual_levels = 0;  // number of levels that are asked before any translation
  std::vector<CacheArray*> tlbs;
  std::int64_t distance_cycles = 0;  // of this SM, from the last cache and from DRAM
  std::uint32_t partition = 0;       // L2 partition that serves this SM first
  bool copied = false;               // that partition may hold copies for this path
  bool shares_last = false;          // the last cache serves several SMs: an L2
  /// Distance of each slice, [partition][slice]; empty if there are no slices.
  std::span<const std::int32_t> slice_cycles;
  Stream stream;
  std::uint64_t next_code = 0;  // address behind the block that was executed last

  bool translated() const { return path->space == AddressSpace::global; }
  bool executes() const { return path->space == AddressSpace::code; }
};

/// All cache arrays of a die, made when first needed and emptied for each probe. Caches of code
/// alone are not emptied: on an H200 neither a launch nor a load of data empties them.
class Arrays {
 public:
  /// Keeps references to model and die.
  Arrays(const Model& model, const Die& die) : model_(model), die_(die) {}

  /// Empties all arrays that are opened from now on, but caches of code alone; `seed` is for random
  /// replacement.
  void begin_probe(std::uint64_t seed) {
    ++probe_;
    seed_ = seed;
  }

  /// Makes a route, without its base. Routes of one probe share arrays where the model says so.
  /// @param path must outlive the route
  /// @param shared_bytes carve-out in force
  Route open_route(const PathModel& path, int sm, std::uint64_t shared_bytes) {
    const DieSm& place = die_.sm(sm);
    Route route;
    route.path = &path;
    route.distance_cycles = place.slow_cycles;
    route.partition = static_cast<std::uint32_t>(place.partition);
    route.copied = model_.partitions.replicate && !path.at_home;
    for (std::size_t i = 0; i < path.caches.size(); ++i) {
      const Level& level =
          route.levels.emplace_back(open_level(sm, path.caches[i], path.hit[i], shared_bytes));
      route.virtual_levels += level.model->addressing == Addressing::virtual_address ? 1 : 0;
      route.distance_cycles = level.distance_cycles;
      route.shares_last =
          level.model->scope == Scope::device || level.model->scope == Scope::partition;
    }
    for (std::size_t i : path.tlbs) {
      const CacheModel& tlb = model_.pages.tlb(i);
      route.tlbs.push_back(ready(tlb, instance_of(place, sm, tlb.scope), tlb.geometries.front()));
    }
    if (route.shares_last) {
      const std::span<const std::int32_t> of_sides(die_.slice_offset_cycles);
      const std::size_t slices = of_sides.size() / 2;
      route.slice_cycles = of_sides.subspan(static_cast<std::size_t>(place.side) * slices, slices);
    }
    return route;
  }

 private:
  bool holds_code_alone(const CacheModel& cache) const {
    std::set<AddressSpace> spaces;
    for (const std::optional<PathModel>& path : model_.paths) {
      for (std::size_t i = 0; path && i < path->caches.size(); ++i) {
        if (&model_.caches[path->caches[i]] == &cache) spaces.insert(path->space);
      }
    }
    return spaces == std::set{AddressSpace::code};
  }

  struct Instance {
    std::unique_ptr<CacheArray> array;
    const Geometry* geometry = nullptr;
    std::uint64_t probe = 0;  // the last probe that used it
  };

  /// The array of that number, made or emptied if needed.
  CacheArray* ready(const CacheModel& model, int number, const Geometry& geometry) {
    Instance& instance = instances_[{&model, number}];
    if (instance.geometry != &geometry) {
      const Slices* slices = model_.slices ? &*model_.slices : nullptr;
      const SetIndex& index = indexes_.try_emplace(&geometry, geometry, slices).first->second;
      instance.array = std::make_unique<CacheArray>(model, geometry, index);
      instance.geometry = &geometry;
      instance.probe = 0;
    }
    if (instance.probe == 0 || (instance.probe != probe_ && !holds_code_alone(model))) {
      instance.array->clear(derive_seed(seed_, model.name + " victims " + std::to_string(number)));
      instance.probe = probe_;
    }
    return instance.array.get();
  }
  Level open_level(int sm, std::size_t cache, const LatencyRow& hit, std::uint64_t shared_bytes) {
    const CacheModel& model = model_.caches[cache];
    const Geometry& geometry = geometry_of(sm, cache, shared_bytes);
    const int number = instance_of(die_.sm(sm), sm, model.scope);
    const bool split = model.scope == Scope::partition && model_.partitions.count > 1;
    CacheArray* near = ready(model, number, geometry);
    ByPartition by_home;
    by_home.fill(near);
    for (int home = 0; split && home < model_.partitions.count; ++home) {
      by_home[static_cast<std::size_t>(home)] = ready(model, home, geometry);
    }
    return {.model = &model,
            .array = near,
            .by_home = by_home,
            .partitioned = split,
            .hit = &hit,
            .distance_cycles =
                std::int64_t{die_.cache_offset_cycles[cache][static_cast<std::size_t>(sm)]} +
                die_.sm(sm).slow_cycles};
  }
  /// The geometry for this SM, which may have lost ways by a fault.
  const Geometry& geometry_of(int sm, std::size_t cache, std::uint64_t shared_bytes) {
    const Geometry& geometry = model_.caches[cache].geometry_for(shared_bytes);
    const auto lost = std::ranges::find(die_.lost_ways, sm, &LostWay::sm);
    const auto& plain = model_.paths[static_cast<std::size_t>(LoadPath::all_levels)];
    if (lost == die_.lost_ways.end() || !plain || plain->caches.front() != cache) return geometry;
    const auto [place, is_new] = faulty_geometries_.try_emplace({sm, &geometry}, geometry);
    if (is_new) {
      std::vector<std::uint32_t>& ways = place->second.ways_per_set;
      for (std::uint32_t set = 0; set < ways.size(); ++set) {
        if (!lost->set || *lost->set == set) --ways[set];
      }
    }
    return place->second;
  }

  const Model& model_;
  const Die& die_;
  std::map<std::pair<const CacheModel*, int>, Instance> instances_;  // by cache or TLB, and number
  std::map<const Geometry*, SetIndex> indexes_;
  std::map<std::pair<int, const Geometry*>, Geometry> faulty_geometries_;  // by SM
  std::uint64_t probe_ = 0;
  std::uint64_t seed_ = 0;
};

}  // namespace sonde::sim
