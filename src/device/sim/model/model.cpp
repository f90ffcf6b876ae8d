// What follows from the numbers that a model declares: sizes, and places by name.
#include "device/sim/model/model.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <numeric>

namespace sonde::sim {

std::uint64_t Geometry::lines() const {
  return std::accumulate(ways_per_set.begin(), ways_per_set.end(), std::uint64_t{0});
}

std::uint32_t Geometry::most_ways() const {
  return *std::max_element(ways_per_set.begin(), ways_per_set.end());
}

const Geometry& CacheModel::geometry_for(std::uint64_t shared_bytes) const {
  for (const Geometry& geometry : geometries) {
    if (geometries.size() == 1 || geometry.shared_bytes == shared_bytes) return geometry;
  }
  throw Error("cache " + name + " has no geometry for a carve-out of " +
              std::to_string(shared_bytes) + " bytes");
}

const CacheModel* Model::find_cache(const std::string& cache_name) const {
  const auto found = std::find_if(caches.begin(), caches.end(), [&](const CacheModel& cache) {
    return cache.name == cache_name;
  });
  return found == caches.end() ? nullptr : &*found;
}

const CacheModel& PageModel::tlb(std::size_t place) const {
  return place < tlbs.size() ? tlbs[place] : path_tlbs[place - tlbs.size()];
}

}  // namespace sonde::sim
